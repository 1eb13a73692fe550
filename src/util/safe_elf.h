/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Opens ELF files for libelf and libdw. These libraries trust the sizes in a file. So headers are counted,
 * and decompressed sizes are determined, before the libraries allocate memory for them.
 */
#ifndef GOTRACE_UTIL_SAFE_ELF_H
#define GOTRACE_UTIL_SAFE_ELF_H

#include <gelf.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Opens a 64-bit little-endian ELF file with at most 65,279 sections, which no linker exceeds for a program,
 * and without compressed strings, which libelf would decompress by itself. The file is read, not mapped:
 * otherwise truncating it would kill gotrace with SIGBUS. Returns NULL if it is not such a file. fd remains
 * open and owned by the caller.
 */
Elf *safe_elf_file(int fd);
/* The same for bytes in memory, which remain owned by the caller and are not changed. */
Elf *safe_elf_memory(const void *bytes, size_t size);

/* Name of a section; NULL if it has none. names: from elf_getshdrstrndx. */
const char *safe_elf_name(Elf *elf, size_t names, const GElf_Shdr *header);

/* Decompressed size of all sections that libdw reads as debug information. */
uint64_t safe_elf_debug_size(Elf *elf);

#endif
