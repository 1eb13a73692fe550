/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An executable's bytes as ELF: bounded reads by link-time address. Pure
 * functions over bytes that a stranger controls; nothing here opens or reads.
 * Sections may be absent or lie: they are hints, program headers decide.
 */
#ifndef GOTRACE_TARGET_IMAGE_H
#define GOTRACE_TARGET_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

#define MAX_SEGMENTS 32

struct segment { /* a PT_LOAD; file_size bytes of it are in the file, all within the image */
	uint64_t address, offset, file_size, memory_size;
	bool writable, executable;
};

struct section {
	uint64_t address, size;
};

struct image {
	const uint8_t *data; /* the file; not owned */
	size_t size;
	bool arm64;       /* code for it; else for x86-64 */
	bool pie;         /* loaded at an address of the kernel's choice */
	bool has_symbols; /* has a .symtab */
	unsigned n;
	struct segment segments[MAX_SEGMENTS];
	const uint8_t *rela; /* relocations of the dynamic linker, or NULL */
	size_t nrela;
	uint64_t section_table; /* file offset */
	unsigned nsections;
	uint64_t names; /* section names: file offset, size */
	uint64_t names_size;
};

/* Checks the headers. Refuses what is no executable for x86-64 or arm64 (-ENOEXEC) or is damaged (-EBADMSG).
 */
int image_parse(struct image *image, const uint8_t *data, size_t size, struct error *err);

/* `size` bytes at the address, or NULL if they are not all in the file and in one segment. */
const uint8_t *image_bytes(const struct image *image, uint64_t address, size_t size);
/* All bytes from the address to the end of its segment; NULL and *size = 0 if it is in none. */
const uint8_t *image_rest(const struct image *image, uint64_t address, size_t *size);
bool image_u32(const struct image *image, uint64_t address, uint32_t *value);
/* A pointer; as the program sees it, before the bias is added, once image_relocate has been called. */
bool image_pointer(const struct image *image, uint64_t address, uint64_t *value);
/*
 * Writes into the file's bytes (data: what image->data is) what the dynamic
 * linker would if the image were loaded at its link-time address. Only
 * R_X86_64_RELATIVE and R_AARCH64_RELATIVE, which is all that Go's own data need.
 */
void image_relocate(const struct image *image, uint8_t *data);

/* A section by name that lies in the loaded image. */
bool image_section(const struct image *image, const char *name, struct section *section);
/* Whether `size` bytes at the address are a variable: in a writable segment, or in the zeros behind one. */
bool image_is_variable(const struct image *image, uint64_t address, size_t size);
/* Where the code at the address is in the file; false if it is not in an executable segment. */
bool image_code_offset(const struct image *image, uint64_t address, uint64_t *offset);

#endif
