/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Bounded reads of an ELF executable's bytes by link-time address. Pure functions over untrusted bytes;
 * nothing here opens or reads files. Sections may be absent or wrong: they are only hints, and program
 * headers take precedence.
 */
#ifndef GOTRACE_TARGET_IMAGE_H
#define GOTRACE_TARGET_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

#define MAX_SEGMENTS 32

struct segment { /* a PT_LOAD; its first file_size bytes are in the file */
	uint64_t address, offset, file_size, memory_size;
	bool writable, executable;
};

struct image_section {
	uint64_t address, size;
};

struct image {
	const uint8_t *data; /* the file; not owned */
	size_t size;
	bool arm64;           /* arm64 code, else x86-64 */
	bool pie;             /* position-independent: the kernel chooses the load address */
	bool has_interpreter; /* a program for the dynamic linker, not a library */
	bool has_symbols;     /* has .symtab */
	unsigned n;
	struct segment segments[MAX_SEGMENTS];
	const uint8_t *rela; /* dynamic relocations, or NULL */
	size_t nrela;
	uint64_t section_table; /* file offset */
	unsigned nsections;
	uint64_t names; /* section names: file offset and size */
	uint64_t names_size;
};

/*
 * Checks the headers. Returns 0, -ENOEXEC if it is not an executable for x86-64 or arm64, or -EBADMSG if it
 * is damaged.
 */
int image_parse(struct image *image, const uint8_t *data, size_t size, struct error *err);

/* Returns `size` bytes at the address, or NULL unless all are in the file and in one segment. */
const uint8_t *image_bytes(const struct image *image, uint64_t address, size_t size);
/* Returns all bytes from the address to its segment's end, or NULL and *size = 0 if it is in no segment. */
const uint8_t *image_rest(const struct image *image, uint64_t address, size_t *size);
/* Reads a pointer. After image_relocate it has the value that the program sees, without the bias. */
bool image_pointer(const struct image *image, uint64_t address, uint64_t *value);
/*
 * Applies relocations to the file's bytes as the dynamic linker would at the link-time address: to those of
 * the executable segments, or to those of the others. data: image->data, in which these segments must be
 * writable. Handles only R_X86_64_RELATIVE and R_AARCH64_RELATIVE, the only ones that Go's data needs.
 */
void image_relocate(const struct image *image, uint8_t *data, bool code);

/* Finds a section by name. It must lie in the loaded image. */
bool image_section(const struct image *image, const char *name, struct image_section *section);
/* Whether `size` bytes at the address are in a writable segment, including its zero-filled end. */
bool image_is_variable(const struct image *image, uint64_t address, size_t size);
/* Gets the file offset of code at the address. Returns false if no executable segment contains it. */
bool image_code_offset(const struct image *image, uint64_t address, uint64_t *offset);

#endif
