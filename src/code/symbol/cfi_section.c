/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/symbol/cfi_section.h"

#include <errno.h>
#include <stdlib.h>

#include "code/symbol/cfi_program.h"
#include "code/symbol/cfi_reader.h"
#include "util/array.h"

#define MAX_FDES (2u << 20) /* 96 MB; Chromium has half as many */
/*
 * A CIE that was evicted from the cache is parsed again when it is needed. This limits the bytes parsed in
 * total: a multiple of the section's size, plus a constant.
 */
#define CIE_BYTES_A_BYTE 8u
#define CIE_BYTES_MORE   (64u << 10)

/* A CIE or FDE: its id, and the bytes after it. */
struct cfi_entry {
	size_t offset;
	uint64_t id;
	const uint8_t *id_at;
	bool wide; /* 64-bit DWARF */
	struct cfi_reader rest;
};

/* Returns false at the end of the section, or at its terminator. */
static bool cfi_section_next_entry(const struct cfi_section *section, struct cfi_reader *reader,
				   struct cfi_entry *entry)
{
	uint64_t size;

	entry->offset = (size_t)(reader->at - section->bytes->data);
	entry->wide = false;
	if (reader->at == reader->end)
		return false;
	size = cfi_unsigned(reader, 4);
	if (size == UINT32_MAX) {
		entry->wide = true;
		size = cfi_unsigned(reader, 8);
	}
	entry->rest.bad = false;
	entry->rest.at = size ? cfi_take(reader, size) : NULL;
	if (!entry->rest.at)
		return false;
	entry->rest.end = reader->at;
	entry->id_at = entry->rest.at;
	entry->id = cfi_unsigned(&entry->rest, entry->wide && section->is_debug ? 8 : 4);
	return true;
}

static bool is_cie(const struct cfi_section *section, const struct cfi_entry *entry)
{
	if (!section->is_debug)
		return entry->id == 0;
	return entry->id == (entry->wide ? UINT64_MAX : UINT32_MAX);
}

/* Offset of the CIE of an FDE. */
static size_t cie_offset(const struct cfi_section *section, const struct cfi_entry *entry)
{
	uint64_t from = (uint64_t)(entry->id_at - section->bytes->data);

	if (section->is_debug)
		return entry->id;
	return entry->id <= from ? from - entry->id : SIZE_MAX;
}

/* Reads the augmentation data that the letters announce. */
static bool read_augmentation(const struct cfi_section *section, struct cfi_cie *cie,
			      struct cfi_reader *reader, const char *letters)
{
	struct cfi_reader data = {0};
	uint64_t size;

	if (!*letters)
		return true;
	if (*letters != 'z')
		return false; /* gcc 2's "eh", or unknown */
	size = cfi_uleb(reader);
	data.at = cfi_take(reader, size);
	if (!data.at)
		return false;
	data.end = reader->at;
	cie->has_sizes = true;
	while (*++letters) {
		if (*letters == 'L')
			cfi_take(&data, 1);
		else if (*letters == 'R')
			cie->encoding = (uint8_t)cfi_unsigned(&data, 1);
		else if (*letters == 'P')
			cfi_pointer(section, &data, (uint8_t)cfi_unsigned(&data, 1) & 0x7f);
		else if (*letters == 'S')
			cie->is_signal = true;
		else if (*letters == 'B' || *letters == 'G')
			continue; /* pointer authentication key; tagged stack: arm64 */
		else
			break; /* unknown letter: the rest is skipped by size */
	}
	return !data.bad;
}

static bool parse_cie(const struct cfi_section *section, struct cfi_entry *entry, struct cfi_cie *cie)
{
	struct cfi_reader *reader = &entry->rest;
	uint64_t version = cfi_unsigned(reader, 1);
	const char *letters = (const char *)reader->at;

	*cie = (struct cfi_cie){.offset = entry->offset};
	while (cfi_unsigned(reader, 1))
		;
	if (version == 4 && (cfi_unsigned(reader, 1) != 8 || cfi_unsigned(reader, 1) != 0))
		return false; /* address size and segment selector size of .debug_frame */
	if (version != 1 && version != 3 && version != 4)
		return false;
	cie->code_align = cfi_uleb(reader);
	cie->data_align = cfi_sleb(reader);
	cie->return_register = version == 1 ? cfi_unsigned(reader, 1) : cfi_uleb(reader);
	if (reader->bad || cie->return_register != section->registers->ra ||
	    !read_augmentation(section, cie, reader, letters))
		return false;
	cie->program = *reader;
	return !reader->bad;
}

static bool read_cie(struct cfi_section *section, size_t offset, struct cfi_cie *cie)
{
	struct cfi_reader reader = {.at = section->bytes->data + offset,
				    .end = section->bytes->data + section->bytes->size};
	struct cfi_entry entry;
	size_t size;

	if (!cfi_section_next_entry(section, &reader, &entry) || !is_cie(section, &entry))
		return false;
	size = (size_t)(entry.rest.end - entry.rest.at) + 1;
	if (size > section->cie_bytes_left)
		return false;
	section->cie_bytes_left -= size;
	return parse_cie(section, &entry, cie) && cfi_run_initial(section, cie);
}

/* Invalid CIEs are cached as well, because each FDE may refer to one. */
struct cfi_cie *cfi_cie_at(struct cfi_section *section, size_t offset)
{
	struct cfi_cie *cie = &section->cies[(offset / 4) % CFI_CIES], made;

	if (offset >= section->bytes->size)
		return NULL;
	if (cie->offset != offset) {
		if (!read_cie(section, offset, &made))
			made = (struct cfi_cie){.bad = true};
		*cie = made;
		cie->offset = offset;
	}
	return cie->bad ? NULL : cie;
}

bool cfi_may_go_on(const struct cfi_section *section)
{
	return !section->budget || budget_step(section->budget);
}

/* Parses an FDE and the code range it covers; false if it is damaged. */
static bool parse_fde(struct cfi_section *section, struct cfi_entry *entry, struct cfi_fde *fde)
{
	struct cfi_reader *reader = &entry->rest;
	struct cfi_cie *cie;
	uint64_t size;

	fde->cie = cie_offset(section, entry);
	cie = cfi_cie_at(section, fde->cie);
	if (!cie)
		return false;
	fde->start = cfi_pointer(section, reader, cie->encoding & 0x7f);
	size = cfi_formatted(reader, cie->encoding);
	if (cie->has_sizes)
		cfi_take(reader, cfi_uleb(reader));
	fde->program = *reader;
	return !reader->bad && !(cie->encoding & 0x80) &&
	       !__builtin_add_overflow(fde->start, size, &fde->end);
}

static int add_fde(struct cfi_section *section, const struct cfi_fde *fde)
{
	if (section->n >= MAX_FDES)
		return -EFBIG;
	if (array_grow(&section->fdes, &section->capacity, section->n + 1, sizeof(*section->fdes)))
		return -ENOMEM;
	section->fdes[section->n++] = *fde;
	return 0;
}

int cfi_list_fdes(struct cfi_section *section, uint64_t base, uint64_t end)
{
	struct cfi_reader reader = {.at = section->bytes->data, .bad = false};
	struct cfi_entry entry;
	struct cfi_fde fde;
	int rc = 0;

	for (size_t i = 0; i < CFI_CIES; i++)
		section->cies[i].offset = SIZE_MAX;
	if (!section->bytes->data)
		return 0;
	section->cie_bytes_left = section->bytes->size * CIE_BYTES_A_BYTE + CIE_BYTES_MORE;
	reader.end = reader.at + section->bytes->size;
	while (rc == 0 && cfi_section_next_entry(section, &reader, &entry)) {
		if (!cfi_may_go_on(section))
			return -ETIME;
		if (is_cie(section, &entry))
			continue;
		if (entry.rest.bad || !parse_fde(section, &entry, &fde))
			section->damaged++;
		/* Ignores FDEs of code that the linker discarded. They have addresses at or near 0. */
		else if (fde.start >= base && fde.start < fde.end && fde.end <= end)
			rc = add_fde(section, &fde);
	}
	section->damaged += reader.bad;
	return rc;
}

static int by_start(const void *a, const void *b)
{
	const struct cfi_fde *one = a, *two = b;

	if (one->start != two->start)
		return one->start < two->start ? -1 : 1;
	return one->end < two->end ? -1 : one->end > two->end;
}

void cfi_sort_fdes(struct cfi_section *section)
{
	bool sorted = true;

	for (size_t i = 1; i < section->n && sorted; i++)
		sorted = by_start(&section->fdes[i - 1], &section->fdes[i]) <= 0;
	if (!sorted)
		qsort(section->fdes, section->n, sizeof(*section->fdes), by_start);
}
