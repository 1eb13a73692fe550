/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Bounds-checked reads of untrusted bytes. */
#ifndef GOTRACE_CODE_SYMBOL_BYTE_SPAN_H
#define GOTRACE_CODE_SYMBOL_BYTE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_span {
	const uint8_t *data;
	size_t size;
};

/* Little-endian loads. Return false if the value does not lie in the span. */
bool span_u32(const struct byte_span *span, size_t offset, uint32_t *value);
bool span_u64(const struct byte_span *span, size_t offset, uint64_t *value);
/* The NUL-terminated string at offset, or NULL if it has no end in the span or exceeds 64 KiB. */
const char *span_string(const struct byte_span *span, size_t offset);

#endif
