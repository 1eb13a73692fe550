/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/elf/abbreviations.h"

#include <dwarf.h>

struct abbreviation_reader {
	const uint8_t *at, *end;
};

/* Reads a ULEB128. Returns false at the end of the bytes. */
static bool uleb(struct abbreviation_reader *reader, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; reader->at < reader->end; shift += 7) {
		uint8_t byte = *reader->at++;

		if (shift < 64)
			*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* Reads the attributes of an abbreviation: pairs of name and form, ended by zeros. */
static bool read_attributes(struct abbreviation_reader *reader)
{
	unsigned n = 0, empty = 0;

	for (;;) {
		uint64_t name, form, constant;

		if (!uleb(reader, &name) || !uleb(reader, &form))
			return false;
		if (!name && !form)
			return true;
		if (form == DW_FORM_implicit_const && !uleb(reader, &constant))
			return false;
		empty += form == DW_FORM_implicit_const || form == DW_FORM_flag_present;
		if (++n > ABBREVIATION_ATTRIBUTES || empty > ABBREVIATION_EMPTY)
			return false;
	}
}

bool abbreviations_count(const uint8_t *bytes, size_t size, uint64_t offset, struct budget *budget,
			 uint32_t *n)
{
	struct abbreviation_reader reader = {.end = bytes + size};

	*n = 0;
	if (offset >= size)
		return false;
	reader.at = bytes + offset;
	for (;;) {
		uint64_t code, tag;

		if (!uleb(&reader, &code))
			return false;
		if (!code)
			return true;
		/* After the tag, one byte says whether there are children. */
		if (!uleb(&reader, &tag) || reader.at++ == reader.end || !read_attributes(&reader) ||
		    ++*n > ABBREVIATIONS_MAX || !budget_step(budget))
			return false;
	}
}

bool abbreviations_first(const uint8_t *bytes, size_t size, uint64_t offset, const uint8_t *info,
			 size_t info_size, uint64_t entry)
{
	struct abbreviation_reader table = {.end = bytes + size}, unit = {.end = info + info_size};
	uint64_t first, code;

	if (offset >= size || entry >= info_size)
		return false;
	table.at = bytes + offset;
	unit.at = info + entry;
	return uleb(&table, &first) && uleb(&unit, &code) && first == code;
}
