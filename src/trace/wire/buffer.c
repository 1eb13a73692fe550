/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/wire/buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 1024 };

int buffer_grow(struct buffer *buf, size_t more)
{
	size_t capacity = buf->capacity ? buf->capacity : FIRST_CAPACITY;
	uint8_t *bytes;

	if (more > SIZE_MAX / 4 - buf->len)
		return -ENOMEM;
	while (capacity < buf->len + more)
		capacity *= 2;
	bytes = realloc(buf->bytes, capacity);
	if (!bytes)
		return -ENOMEM;
	buf->bytes = bytes;
	buf->capacity = capacity;
	return 0;
}

int buffer_append(struct buffer *buf, const void *bytes, size_t n)
{
	if (buffer_reserve(buf, n))
		return -ENOMEM;
	if (n)
		memcpy(buf->bytes + buf->len, bytes, n);
	buf->len += n;
	return 0;
}

void buffer_free(struct buffer *buf)
{
	free(buf->bytes);
	*buf = (struct buffer){0};
}
