/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/symbol/byte_span.h"

#include <string.h>

/* Names of generic instances can be long, but no real string comes near this limit. */
#define MAX_STRING (64u << 10)

bool span_u32(const struct byte_span *span, size_t offset, uint32_t *value)
{
	const uint8_t *b;

	if (span->size < sizeof(*value) || offset > span->size - sizeof(*value))
		return false;
	b = span->data + offset;
	*value = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
	return true;
}

bool span_u64(const struct byte_span *span, size_t offset, uint64_t *value)
{
	uint32_t low, high;

	if (!span_u32(span, offset, &low) || !span_u32(span, offset + sizeof(low), &high))
		return false;
	*value = (uint64_t)high << 32 | low;
	return true;
}

const char *span_string(const struct byte_span *span, size_t offset)
{
	size_t available;

	if (offset >= span->size)
		return NULL;
	available = span->size - offset;
	if (available > MAX_STRING)
		available = MAX_STRING;
	if (!memchr(span->data + offset, '\0', available))
		return NULL;
	return (const char *)span->data + offset;
}
