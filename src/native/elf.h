/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What libelf tells of a file that a stranger has written: its functions' symbols, addresses, identity. */
#ifndef GOTRACE_NATIVE_ELF_H
#define GOTRACE_NATIVE_ELF_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A regular file, or bytes in memory. */
struct native_elf {
	Elf *elf;
	int fd;         /* -1: in memory */
	void *unpacked; /* owned; what elf reads if it was compressed */
};

/*
 * Takes over fd, also when it fails. Read, not mapped: a file that somebody
 * makes shorter would otherwise end us. -ENOEXEC if it is no ELF file for this machine.
 */
int native_elf_open(struct native_elf *file, int fd);
int native_elf_memory(struct native_elf *file, const void *bytes, size_t size); /* not owned */
/* The ELF file in .gnu_debugdata: symbols that were stripped off, compressed. -ENOENT if there is none. */
int native_elf_debugdata(const struct native_elf *outer, struct native_elf *file);
void native_elf_close(struct native_elf *file);

enum native_elf_kind {
	ELF_LIBRARY = 0, /* or what is not known */
	ELF_PROGRAM,
	ELF_STATIC, /* a program without a dynamic linker */
};

enum native_elf_kind native_elf_kind(const struct native_elf *file);

/* The section by its name, with contents in the file; NULL if there is none. */
Elf_Scn *native_elf_section(const struct native_elf *file, const char *name, GElf_Shdr *header);
/* What its sections of debug information take in memory. */
uint64_t native_elf_debug_size(const struct native_elf *file);
/* The address that the file was linked for, of the byte at an offset in it. */
bool native_elf_address(const struct native_elf *file, uint64_t offset, uint64_t *address);
/* The offset of an address in a segment of code. */
bool native_elf_offset(const struct native_elf *file, uint64_t address, uint64_t *offset);

/* Where the function begins that has an address, by .eh_frame_hdr and .eh_frame, which are never stripped
 * off. */
bool native_elf_function(const struct native_elf *file, uint64_t address, uint64_t *start);

struct native_symbol {
	uint64_t address, size;
	const char *name; /* in the file */
	uint8_t rank;     /* of several for one place the highest is shown */
};

struct native_symbols {
	struct native_symbol *list;
	size_t n, capacity;
};

/* Adds the functions of .symtab and .dynsym that have a size; names stay in the file, which must stay open.
 */
int native_symbols_add(struct native_symbols *symbols, const struct native_elf *file);
void native_symbols_sort(struct native_symbols *symbols); /* before they are looked for */
/* The innermost symbol whose extent covers the address; NULL if none does. */
const struct native_symbol *native_symbols_find(const struct native_symbols *symbols, uint64_t address);
void native_symbols_free(struct native_symbols *symbols);

#endif
