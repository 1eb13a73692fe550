/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* An untrusted ELF file, read by libelf: function symbols, addresses, identity. */
#ifndef GOTRACE_CODE_ELF_ELF_H
#define GOTRACE_CODE_ELF_ELF_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A regular file, or bytes in memory. */
struct native_elf {
	Elf *elf;
	int fd;         /* -1: in memory */
	void *unpacked; /* owned; the decompressed bytes that elf reads, or NULL */
	size_t unpacked_size;
};

/*
 * Takes ownership of fd, even on failure. The file is read and not mapped, because truncating a mapped file
 * would kill gotrace by SIGBUS. Returns 0, or -ENOEXEC if it is not an ELF file for this machine.
 */
int native_elf_open(struct native_elf *file, int fd);
/* The same for bytes in memory, which are not owned. */
int native_elf_memory(struct native_elf *file, const void *bytes, size_t size);
/*
 * Opens the ELF file in .gnu_debugdata: compressed symbols that were stripped from the file. Returns 0,
 * -ENOENT if there is none, or another negative errno.
 */
int native_elf_debugdata(const struct native_elf *outer, struct native_elf *file);
void native_elf_close(struct native_elf *file);

enum native_elf_kind {
	ELF_LIBRARY = 0, /* or unknown */
	ELF_PROGRAM,
	ELF_STATIC, /* a program without a dynamic linker */
};

enum native_elf_kind native_elf_kind(const struct native_elf *file);

/* Finds a section by name that has contents in the file. Returns NULL if there is none. */
Elf_Scn *native_elf_section(const struct native_elf *file, const char *name, GElf_Shdr *header);
/* Estimates the bytes of memory for symbols, strings and other sections read, without debug information. */
uint64_t native_elf_size(const struct native_elf *file);
/* Converts an offset in the file to the address that it was linked for. */
bool native_elf_address(const struct native_elf *file, uint64_t offset, uint64_t *address);
/* Converts an address in a code segment to its offset in the file. */
bool native_elf_offset(const struct native_elf *file, uint64_t address, uint64_t *offset);

/* Finds the start of the function that contains an address, from .eh_frame_hdr and .eh_frame, which are never
 * stripped. */
bool native_elf_function(const struct native_elf *file, uint64_t address, uint64_t *start);

struct native_symbol {
	uint64_t address, size;
	const char *name; /* in the file */
	uint8_t rank;     /* of several symbols at one address, the one with the highest rank is shown */
};

struct native_symbols {
	struct native_symbol *list;
	size_t n, capacity;
};

/*
 * Adds the functions of .symtab and .dynsym that have a size. Their names point into the file, which must
 * stay open. Returns 0 or -ENOMEM.
 */
int native_symbols_add(struct native_symbols *symbols, const struct native_elf *file);
void native_symbols_sort(struct native_symbols *symbols); /* call it before native_symbols_find() */
/* Returns the innermost symbol that covers the address, NULL if none does. */
const struct native_symbol *native_symbols_find(const struct native_symbols *symbols, uint64_t address);
void native_symbols_free(struct native_symbols *symbols);

#endif
