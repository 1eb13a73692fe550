/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A growable byte buffer. Clearing it (len = 0) keeps the memory for reuse. */
#ifndef GOTRACE_TRACE_WIRE_BUFFER_H
#define GOTRACE_TRACE_WIRE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "util/array.h"

struct buffer {
	uint8_t *bytes;
	size_t len, capacity;
};

int buffer_grow(struct buffer *buf, size_t more); /* slow path of buffer_reserve */

/* Reserves space for `more` bytes after len. Returns 0 or -ENOMEM. */
static inline int buffer_reserve(struct buffer *buf, size_t more)
{
	return more <= buf->capacity - buf->len ? 0 : buffer_grow(buf, more);
}

int buffer_append(struct buffer *buf, const void *bytes, size_t n);
void buffer_free(struct buffer *buf);

#endif
