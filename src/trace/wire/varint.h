/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Unsigned LEB128, used in all formats: at most 10 bytes, the tenth at most 1. */
#ifndef GOTRACE_TRACE_WIRE_VARINT_H
#define GOTRACE_TRACE_WIRE_VARINT_H

#include <stddef.h>
#include <stdint.h>

enum { MAX_UV = 10 };

uint8_t *put_long_uv(uint8_t *p, uint64_t v); /* put_uv, for values of any size */

/* Writes v at p, which must have space for MAX_UV bytes, and returns the end. Most values take 1-2 bytes. */
static inline uint8_t *put_uv(uint8_t *p, uint64_t v)
{
	if (v < 1u << 7) {
		p[0] = (uint8_t)v;
		return p + 1;
	}
	if (v < 1u << 14) {
		p[0] = (uint8_t)(v | 0x80);
		p[1] = (uint8_t)(v >> 7);
		return p + 2;
	}
	return put_long_uv(p, v);
}

enum { UV_END = 0, UV_OVERFLOW = -1 };

/* Reads one number before end. Returns its length, UV_END if it is truncated, or UV_OVERFLOW. */
static inline int get_uv(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	uint64_t sum = 0;

	for (int i = 0; i < MAX_UV; i++) {
		if (p + i == end)
			return UV_END;
		sum |= (uint64_t)(p[i] & 0x7f) << (7 * i);
		if (p[i] < 0x80) {
			*v = sum;
			return i == MAX_UV - 1 && p[i] > 1 ? UV_OVERFLOW : i + 1;
		}
	}
	return UV_OVERFLOW;
}

#endif
