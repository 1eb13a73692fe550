/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/symbol/cfi_reader.h"

static uint64_t cfi_section_address_of(const struct cfi_section *section, const uint8_t *at)
{
	return section->bytes->address + (uint64_t)(at - section->bytes->data);
}

uint64_t cfi_formatted(struct cfi_reader *reader, uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case 0x00: /* absptr */
	case 0x04:
	case 0x0c:
		return cfi_unsigned(reader, 8);
	case 0x01:
		return cfi_uleb(reader);
	case 0x02:
		return cfi_unsigned(reader, 2);
	case 0x03:
		return cfi_unsigned(reader, 4);
	case 0x09:
		return (uint64_t)cfi_sleb(reader);
	case 0x0a:
		return (uint64_t)cfi_signed(reader, 2);
	case 0x0b:
		return (uint64_t)cfi_signed(reader, 4);
	default:
		reader->bad = true;
		return 0;
	}
}

uint64_t cfi_pointer(const struct cfi_section *section, struct cfi_reader *reader, uint8_t encoding)
{
	uint64_t from = cfi_section_address_of(section, reader->at), value = cfi_formatted(reader, encoding);

	switch (encoding & 0xf0) {
	case 0x00:
		return value;
	case 0x10: /* pcrel */
		return from + value;
	default:
		reader->bad = true;
		return 0;
	}
}
