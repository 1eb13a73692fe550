/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/safe_elf.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/*
 * Limit on sections and segments; libelf uses 200 bytes per section. From this number on, counts are stored
 * elsewhere in the file.
 */
#define MAX_HEADERS SHN_LORESERVE

static bool is_good_header(const Elf64_Ehdr *header)
{
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       header->e_ident[EI_DATA] == ELFDATA2LSB && header->e_shnum < MAX_HEADERS &&
	       (header->e_shnum || !header->e_shoff) && header->e_phnum < MAX_HEADERS;
}

static bool has_packed_strings(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_STRTAB &&
		    header.sh_flags & SHF_COMPRESSED)
			return true;
	}
	return false;
}

static Elf *safe_elf_check(Elf *elf)
{
	if (elf && elf_kind(elf) == ELF_K_ELF && !has_packed_strings(elf))
		return elf;
	elf_end(elf);
	return NULL;
}

Elf *safe_elf_file(int fd)
{
	Elf64_Ehdr header;

	elf_version(EV_CURRENT);
	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) || !is_good_header(&header))
		return NULL;
	return safe_elf_check(elf_begin(fd, ELF_C_READ, NULL));
}

Elf *safe_elf_memory(const void *bytes, size_t size)
{
	Elf64_Ehdr header;

	elf_version(EV_CURRENT);
	if (size < sizeof(header))
		return NULL;
	memcpy(&header, bytes, sizeof(header));
	/* libelf writes to the image only on request. */
	return is_good_header(&header) ? safe_elf_check(elf_memory((char *)(uintptr_t)bytes, size)) : NULL;
}

const char *safe_elf_name(Elf *elf, size_t names, const GElf_Shdr *header)
{
	return elf_strptr(elf, names, header->sh_name);
}

/* Predecessor of SHF_COMPRESSED, .zdebug_ sections: "ZLIB", then the big-endian size. */
static uint64_t older_size(Elf_Scn *section)
{
	Elf_Data *data = elf_rawdata(section, NULL);
	uint64_t size;

	if (!data || !data->d_buf || data->d_size < 4 + sizeof(size))
		return 0;
	memcpy(&size, (const char *)data->d_buf + 4, sizeof(size));
	return data->d_size + be64toh(size);
}

static uint64_t safe_elf_section_size(Elf_Scn *section, const GElf_Shdr *header, const char *name)
{
	GElf_Chdr packed;

	if (header->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(section, &packed) ? header->sh_size + packed.ch_size : 0;
	return strstr(name, "zdebug_") ? older_size(section) : header->sh_size;
}

/* libdw also reads debug information in link-time optimisation sections: .gnu.debuglto_.debug_*. */
uint64_t safe_elf_debug_size(Elf *elf)
{
	Elf_Scn *section = NULL;
	uint64_t total = 0;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header) ? safe_elf_name(elf, names, &header) : NULL;
		uint64_t size;

		if (!name || header.sh_type == SHT_NOBITS || !strstr(name, "debug_"))
			continue;
		size = safe_elf_section_size(section, &header, name);
		total = total + size < total ? UINT64_MAX : total + size;
	}
	return total;
}
