/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: one reader per family of formats. */
#ifndef GOTRACE_TRACE_CONVERT_FROM_H
#define GOTRACE_TRACE_CONVERT_FROM_H

#include "trace/convert/builder.h"

/*
 * Read the file into the builder. Return 0; -EBADMSG with result->error_offset and either result->fault (the
 * file breaks its format) or the builder's error (the file is inconsistent) set; or another negative errno
 * with the builder's error set.
 */
int from_v1(struct builder *b, const uint8_t *bytes, size_t n, const struct functab *names);
int from_v2(struct builder *b, const uint8_t *bytes, size_t n);

#endif
