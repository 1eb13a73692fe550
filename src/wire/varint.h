/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Unsigned LEB128, as all of wire v2 has it: at most 10 bytes, the tenth at most 1. */
#ifndef GOTRACE_VARINT_H
#define GOTRACE_VARINT_H

#include <stddef.h>
#include <stdint.h>

enum { MAX_UV = 10 };

/* Writes v at p, which has room for MAX_UV bytes; returns the end. Most values take one to three bytes. */
static inline uint8_t *put_uv(uint8_t *p, uint64_t v)
{
	if (v < 1u << 7) {
		p[0] = (uint8_t)v;
		return p + 1;
	}
	p[0] = (uint8_t)(v | 0x80);
	if (v < 1u << 14) {
		p[1] = (uint8_t)(v >> 7);
		return p + 2;
	}
	p[1] = (uint8_t)(v >> 7 | 0x80);
	if (v < 1u << 21) {
		p[2] = (uint8_t)(v >> 14);
		return p + 3;
	}
	p[2] = (uint8_t)(v >> 14 | 0x80);
	p += 3;
	for (v >>= 21; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p = (uint8_t)v;
	return p + 1;
}

enum { UV_END = 0, UV_OVERFLOW = -1 };

/* Reads one number at most at end; returns its length, UV_END if the bytes end in it, or UV_OVERFLOW. */
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
