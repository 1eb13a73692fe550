/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Parses the fields of a g that a goroutine listing shows in addition to those a trace needs. Pure. */
#ifndef GOTRACE_TARGET_DETAILS_H
#define GOTRACE_TARGET_DETAILS_H

#include <stddef.h>
#include <stdint.h>

#include "rawlog/rawlog.h"
#include "target/target.h"

/* Number of bytes of a g that details_read() needs. */
size_t details_size(const struct target *target);
/*
 * Parses details_size() bytes of a g. Sets all but details->labels. Returns g.labels, or 0 if the release
 * does not have it.
 */
uint64_t details_read(const struct target *target, const uint8_t *bytes, struct log_g_details *details);

#endif
