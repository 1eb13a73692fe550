/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Bytes that grow and whose memory is used again. */
#ifndef GOTRACE_BUFFER_H
#define GOTRACE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

struct buffer {
	uint8_t *bytes;
	size_t len, capacity;
};

/* Makes room for `more` bytes after len. 0 or -ENOMEM. */
int buffer_reserve(struct buffer *buf, size_t more);
int buffer_append(struct buffer *buf, const void *bytes, size_t n);
void buffer_free(struct buffer *buf);

/*
 * Grows an array of *n zeroed items to at least `want`, doubling, the larger ones by a quarter. The new
 * items are zero. 0 or -ENOMEM; the array is unchanged then.
 */
int array_grow(void **array, size_t *n, size_t want, size_t item_size);

#endif
