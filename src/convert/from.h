/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the room: one reader a family of formats. */
#ifndef GOTRACE_FROM_H
#define GOTRACE_FROM_H

#include "convert/builder.h"

/*
 * Each reads the file into the builder. 0; -EBADMSG with either result->fault
 * set (the file is faulty) or the builder's error (it contradicts itself), and
 * result->error_offset; or another negative errno with the builder's error set.
 */
int from_v1(struct builder *b, const uint8_t *bytes, size_t n, const struct functab *names);
int from_v2(struct builder *b, const uint8_t *bytes, size_t n);

#endif
