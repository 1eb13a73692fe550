/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a list of goroutines shows of one beside what a trace needs. Pure. */
#ifndef GOTRACE_TARGET_DETAILS_H
#define GOTRACE_TARGET_DETAILS_H

#include <stddef.h>
#include <stdint.h>

#include "rawlog/rawlog.h"
#include "target/target.h"

/* How many bytes of a g are looked at. */
size_t details_size(const struct target *target);
/* bytes has details_size of them. Sets all but details->labels. Returns g.labels, 0 if the release has none.
 */
uint64_t details_read(const struct target *target, const uint8_t *bytes, struct log_g_details *details);

#endif
