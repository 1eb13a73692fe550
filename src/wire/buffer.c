/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "wire/buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Arrays of many items grow by less: memory is dearer than moving it (mremap). */
enum { FIRST_CAPACITY = 1024, FIRST_ITEMS = 16, MANY_ITEMS = 1 << 16 };

int buffer_reserve(struct buffer *buf, size_t more)
{
	size_t capacity = buf->capacity ? buf->capacity : FIRST_CAPACITY;
	uint8_t *bytes;

	if (more <= buf->capacity - buf->len)
		return 0;
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

int array_grow(void **array, size_t *n, size_t want, size_t item_size)
{
	size_t count = *n ? *n : FIRST_ITEMS;
	void *bigger;

	if (want <= *n)
		return 0;
	if (want > SIZE_MAX / 4 / item_size)
		return -ENOMEM;
	while (count < want)
		count += count < MANY_ITEMS ? count : count / 4;
	bigger = realloc(*array, count * item_size);
	if (!bigger)
		return -ENOMEM;
	memset((char *)bigger + *n * item_size, 0, (count - *n) * item_size);
	*array = bigger;
	*n = count;
	return 0;
}
