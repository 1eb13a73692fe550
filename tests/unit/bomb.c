/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "bomb.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { MAX_NAMES = 1 << 16, DW_AT_ranges = 0x55, DW_AT_stmt_list = 0x10, DW_AT_low_pc = 0x11 };
enum { FORM_ADDR = 0x01, FORM_SEC_OFFSET = 0x17, FORM_FLAG_PRESENT = 0x19 };

struct file {
	int fd;
	Elf64_Ehdr header;
	Elf64_Shdr *sections;
	char names[MAX_NAMES];
};

struct bytes {
	uint8_t *at;
	size_t n;
};

/* --- the file --- */

static bool open_file(struct file *file, const char *path)
{
	size_t size;

	file->fd = open(path, O_RDWR | O_CLOEXEC);
	if (file->fd < 0 || pread(file->fd, &file->header, sizeof(file->header), 0) != sizeof(file->header))
		return false;
	size = file->header.e_shnum * sizeof(*file->sections);
	file->sections = malloc(size);
	return file->sections &&
	       pread(file->fd, file->sections, size, (off_t)file->header.e_shoff) == (ssize_t)size &&
	       pread(file->fd, file->names, sizeof(file->names) - 1,
		     (off_t)file->sections[file->header.e_shstrndx].sh_offset) > 0;
}

static Elf64_Shdr *section_of(struct file *file, const char *name)
{
	for (unsigned i = 0; i < file->header.e_shnum; i++) {
		if (!strcmp(file->names + file->sections[i].sh_name, name))
			return &file->sections[i];
	}
	fprintf(stderr, "bomb: the file has no section %s\n", name);
	exit(1);
}

static void append(struct file *file, Elf64_Shdr *section, const void *bytes, size_t size)
{
	off_t end = lseek(file->fd, 0, SEEK_END);

	section->sh_offset = (uint64_t)end;
	section->sh_size = size;
	if (pwrite(file->fd, bytes, size, end) != (ssize_t)size)
		exit(1);
}

static void replace(struct file *file, const char *name, struct bytes bytes)
{
	append(file, section_of(file, name), bytes.at, bytes.n);
	free(bytes.at);
}

/* Replaces a section with a compressed one that repeats `piece` `times` times. Frees piece.at. */
static void replace_packed(struct file *file, const char *name, struct bytes piece, unsigned times)
{
	Elf64_Shdr *section = section_of(file, name);
	const Elf64_Chdr head = {
		.ch_type = ELFCOMPRESS_ZLIB, .ch_size = (uint64_t)piece.n * times, .ch_addralign = 8};
	size_t space = sizeof(head) + compressBound(piece.n * times);
	uint8_t *packed = malloc(space);
	z_stream stream = {.next_out = packed + sizeof(head), .avail_out = (uInt)(space - sizeof(head))};

	memcpy(packed, &head, sizeof(head));
	deflateInit(&stream, 1);
	for (unsigned i = 0; i < times; i++) {
		stream.next_in = piece.at;
		stream.avail_in = (uInt)piece.n;
		deflate(&stream, i + 1 == times ? Z_FINISH : Z_NO_FLUSH);
	}
	append(file, section, packed, sizeof(head) + stream.total_out);
	section->sh_flags = (section->sh_flags & ~(uint64_t)SHF_ALLOC) | SHF_COMPRESSED;
	deflateEnd(&stream);
	free(packed);
	free(piece.at);
}

static void close_file(struct file *file)
{
	size_t size = file->header.e_shnum * sizeof(*file->sections);

	if (pwrite(file->fd, file->sections, size, (off_t)file->header.e_shoff) != (ssize_t)size)
		exit(1);
	free(file->sections);
	close(file->fd);
}

/* --- contents --- */

static struct bytes make(size_t space)
{
	struct bytes bytes = {.at = calloc(1, space)};

	if (!bytes.at)
		exit(1);
	return bytes;
}

static void put(struct bytes *bytes, uint64_t value, size_t size)
{
	memcpy(bytes->at + bytes->n, &value, size);
	bytes->n += size;
}

static struct bytes zeros(size_t n)
{
	struct bytes bytes = make(n);

	bytes.n = n;
	return bytes;
}

static void zeros_of(struct file *file, const char *name)
{
	replace_packed(file, name, zeros(1 << 20), 1024);
}

static void make_frames(struct file *file, unsigned cies)
{
	enum { CIE = 256 << 10, FDES = 100000 };
	struct bytes bytes = make((size_t)cies * CIE + FDES * 24 + 4);

	for (unsigned i = 0; i < cies; i++) {
		size_t begin = bytes.n, size = CIE / cies;

		put(&bytes, size - 4, 4);
		put(&bytes, 0, 4);
		put(&bytes, 1, 1);
		memset(bytes.at + bytes.n, 'x', size - (bytes.n - begin)); /* an unterminated augmentation */
		bytes.n = begin + size;
	}
	for (unsigned i = 0; i < FDES; i++) {
		put(&bytes, 20, 4);
		put(&bytes, bytes.n - (size_t)(i % cies) * (CIE / cies), 4);
		put(&bytes, 0, 8);
		put(&bytes, 0, 8);
	}
	put(&bytes, 0, 4);
	replace(file, ".eh_frame", bytes);
}

static void put_attribute(struct bytes *bytes, uint64_t name, uint64_t form)
{
	put(bytes, name, 1);
	put(bytes, form, 1);
}

/* Appends a unit with a single entry, of abbreviation `code` (DWARF 5, 7.5.1.1). */
static void put_unit(struct bytes *info, uint8_t code, const uint64_t *values, const uint8_t *sizes,
		     unsigned n)
{
	size_t begin = info->n;
	uint32_t size;

	put(info, 0, 4);
	put(info, 5, 2);
	put(info, 1, 1); /* DW_UT_compile */
	put(info, 8, 1);
	put(info, 0, 4);
	put(info, code, 1);
	for (unsigned i = 0; i < n; i++)
		put(info, values[i], sizes[i]);
	size = (uint32_t)(info->n - begin - sizeof(size));
	memcpy(info->at + begin, &size, sizeof(size));
}

static void put_unit_table(struct file *file)
{
	struct bytes table = make(64);

	put(&table, 1, 1);    /* code */
	put(&table, 0x11, 1); /* DW_TAG_compile_unit */
	put(&table, 0, 1);
	put_attribute(&table, DW_AT_low_pc, FORM_ADDR);
	put_attribute(&table, DW_AT_ranges, FORM_SEC_OFFSET);
	put_attribute(&table, DW_AT_stmt_list, FORM_SEC_OFFSET);
	put(&table, 0, 3);
	replace(file, ".debug_abbrev", table);
}

static void put_units(struct file *file, unsigned n)
{
	const uint64_t values[] = {0, 0, 0};
	const uint8_t sizes[] = {8, 4, 4};
	struct bytes info = make(n * 64);

	for (unsigned i = 0; i < n; i++)
		put_unit(&info, 1, values, sizes, 3);
	put_unit_table(file);
	replace(file, ".debug_info", info);
}

/* Returns a list of n identical ranges, each of which spans the whole program. */
static struct bytes ranges(unsigned n)
{
	struct bytes list = make(n * 17 + 1);

	for (unsigned i = 0; i < n; i++) {
		put(&list, 6, 1); /* DW_RLE_start_end */
		put(&list, 0x100, 8);
		put(&list, 0x800000, 8);
	}
	put(&list, 0, 1);
	return list;
}

static void make_lines(struct file *file)
{
	static const uint8_t standard[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
	enum { ROWS = 30 << 20, HEADER = 6 + sizeof(standard) + 2 };
	struct bytes line = make(ROWS + 64);

	put(&line, ROWS + 6 + HEADER, 4);
	put(&line, 4, 2);
	put(&line, HEADER, 4);
	put(&line, 1, 1); /* least instruction, most operations */
	put(&line, 1, 1);
	put(&line, 1, 1); /* is_stmt */
	put(&line, 0, 1); /* line_base, line_range, opcode_base */
	put(&line, 14, 1);
	put(&line, 13, 1);
	memcpy(line.at + line.n, standard, sizeof(standard));
	line.n += sizeof(standard);
	put(&line, 0, 2); /* no directories, no files */
	memset(line.at + line.n, 13, ROWS);
	line.n += ROWS;
	replace_packed(file, ".debug_line", line, 1);
}

static void make_attributes(struct file *file)
{
	enum { ATTRIBUTES = 1 << 20, ENTRIES = 1 << 16 };
	struct bytes table = make(2 * ATTRIBUTES + 64), info = make(ENTRIES + 64);

	put(&table, 1, 1);
	put(&table, 0x11, 1);
	put(&table, 1, 1); /* has children */
	put_attribute(&table, DW_AT_low_pc, FORM_ADDR);
	put_attribute(&table, DW_AT_ranges, FORM_SEC_OFFSET);
	put(&table, 0, 2);
	put(&table, 2, 1);
	put(&table, 0x34, 1); /* DW_TAG_variable */
	put(&table, 0, 1);
	for (unsigned i = 0; i < ATTRIBUTES; i++)
		put_attribute(&table, 0x3f, FORM_FLAG_PRESENT);
	put(&table, 0, 3);
	put(&info, 4 + 4 + 1 + 12 + ENTRIES, 4);
	put(&info, 5, 2);
	put(&info, 1, 1);
	put(&info, 8, 1);
	put(&info, 0, 4);
	put(&info, 1, 1);
	put(&info, 0, 8);
	put(&info, 0, 4);
	memset(info.at + info.n, 2, ENTRIES);
	info.n += ENTRIES;
	replace(file, ".debug_info", info);
	replace_packed(file, ".debug_abbrev", table, 1);
	replace(file, ".debug_rnglists", ranges(1));
}

static void make_tables(struct file *file)
{
	enum { ABBREVIATIONS = 15000, UNITS = 20000 };
	const uint64_t values[] = {0, 0, 0};
	const uint8_t sizes[] = {8, 4, 4};
	struct bytes table = make(ABBREVIATIONS * 6 + 64), info = make(UNITS * 64);

	for (unsigned i = 0; i < ABBREVIATIONS; i++) {
		put(&table, (i & 0x7f) | 0x80, 1);
		put(&table, (i >> 7) + 1, 1); /* at least 128, so never 1 */
		put(&table, 0x34, 1);
		put(&table, 0, 3);
	}
	put(&table, 1, 1);
	put(&table, 0x11, 1);
	put(&table, 0, 1);
	put_attribute(&table, DW_AT_low_pc, FORM_ADDR);
	put_attribute(&table, DW_AT_ranges, FORM_SEC_OFFSET);
	put_attribute(&table, DW_AT_stmt_list, FORM_SEC_OFFSET);
	put(&table, 0, 3);
	for (unsigned i = 0; i < UNITS; i++)
		put_unit(&info, 1, values, sizes, 3);
	replace_packed(file, ".debug_abbrev", table, 1);
	replace_packed(file, ".debug_info", info, 1);
	replace(file, ".debug_rnglists", ranges(1));
}

int bomb_make(const char *kind, const char *path)
{
	struct file file;

	if (!open_file(&file, path)) {
		perror(path);
		return -1;
	}
	if (!strcmp(kind, "frame")) {
		zeros_of(&file, ".eh_frame");
	} else if (!strcmp(kind, "cie")) {
		make_frames(&file, 1);
	} else if (!strcmp(kind, "cies")) {
		make_frames(&file, 512);
	} else if (!strcmp(kind, "ranges")) {
		put_units(&file, 200);
		replace_packed(&file, ".debug_rnglists", ranges(250000), 1);
	} else if (!strcmp(kind, "debug")) {
		zeros_of(&file, ".debug_info");
	} else if (!strcmp(kind, "lines")) {
		put_units(&file, 1);
		replace(&file, ".debug_rnglists", ranges(1));
		make_lines(&file);
	} else if (!strcmp(kind, "attributes")) {
		make_attributes(&file);
	} else if (!strcmp(kind, "tables")) {
		make_tables(&file);
	} else if (!strcmp(kind, "strings")) {
		zeros_of(&file, ".strtab");
	} else {
		fprintf(stderr, "bomb: no kind %s\n", kind);
		return -1;
	}
	close_file(&file);
	return 0;
}
