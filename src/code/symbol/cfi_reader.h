/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reads numbers and addresses of call frame information, never past its end. */
#ifndef GOTRACE_CODE_SYMBOL_CFI_READER_H
#define GOTRACE_CODE_SYMBOL_CFI_READER_H

#include <string.h>

#include "code/symbol/cfi.h"

static inline const uint8_t *cfi_take(struct cfi_reader *reader, size_t size)
{
	const uint8_t *at = reader->at;

	if (reader->bad || size > (size_t)(reader->end - at)) {
		reader->bad = true;
		return NULL;
	}
	reader->at += size;
	return at;
}

static inline uint64_t cfi_unsigned(struct cfi_reader *reader, size_t size)
{
	const uint8_t *bytes = cfi_take(reader, size);
	uint64_t value = 0;

	if (bytes)
		memcpy(&value, bytes, size);
	return value;
}

static inline int64_t cfi_signed(struct cfi_reader *reader, size_t size)
{
	unsigned unused = 64 - 8 * (unsigned)size;

	return (int64_t)(cfi_unsigned(reader, size) << unused) >> unused;
}

/* LEB128. Bits above the 64th are discarded. */
static inline uint64_t cfi_leb(struct cfi_reader *reader, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;

	for (;;) {
		const uint8_t *byte = cfi_take(reader, 1);

		if (!byte)
			return 0;
		if (shift < 64)
			value |= (uint64_t)(*byte & 0x7f) << shift;
		shift += 7;
		if (*byte & 0x80)
			continue;
		if (is_signed && *byte & 0x40 && shift < 64)
			value |= UINT64_MAX << shift;
		return value;
	}
}

static inline uint64_t cfi_uleb(struct cfi_reader *reader)
{
	return cfi_leb(reader, false);
}

static inline int64_t cfi_sleb(struct cfi_reader *reader)
{
	return (int64_t)cfi_leb(reader, true);
}

/* A value in the format of the low half of a DW_EH_PE_*. */
uint64_t cfi_formatted(struct cfi_reader *reader, uint8_t encoding);
/* An address, absolute or PC-relative. Linkers produce no other kinds in executables. */
uint64_t cfi_pointer(const struct cfi_section *section, struct cfi_reader *reader, uint8_t encoding);

#endif
