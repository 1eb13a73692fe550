/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: bytes that grow. Being out of memory is kept, so that callers ask once, at the end.
 */
#ifndef GOTRACE_EXPORT_PARQUET_BYTES_H
#define GOTRACE_EXPORT_PARQUET_BYTES_H

#include <stdbool.h>
#include <string.h>

#include "trace/wire/buffer.h"
#include "trace/wire/varint.h"

struct pq_bytes {
	struct buffer buf;
	bool oom;
};

/* Returns where n bytes may be written, which are added; NULL when out of memory. */
static inline uint8_t *pq_bytes_add(struct pq_bytes *out, size_t n)
{
	if (out->oom || buffer_reserve(&out->buf, n)) {
		out->oom = true;
		return NULL;
	}
	out->buf.len += n;
	return out->buf.bytes + out->buf.len - n;
}

static inline void pq_put(struct pq_bytes *out, const void *bytes, size_t n)
{
	uint8_t *to = n ? pq_bytes_add(out, n) : NULL;

	if (to)
		memcpy(to, bytes, n);
}

static inline void pq_put_byte(struct pq_bytes *out, uint8_t byte)
{
	pq_put(out, &byte, 1);
}

/* Puts the lowest n bytes of value, at most 8, little-endian. */
static inline void pq_put_number(struct pq_bytes *out, uint64_t value, unsigned n)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < n; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
	pq_put(out, bytes, n);
}

static inline void pq_put_varint(struct pq_bytes *out, uint64_t value)
{
	uint8_t bytes[MAX_UV];

	pq_put(out, bytes, (size_t)(put_uv(bytes, value) - bytes));
}

/* Small numbers of either sign become small numbers. */
static inline uint64_t pq_zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

#endif
