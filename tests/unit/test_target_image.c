/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A small executable made by hand: intact, relocated, without sections, and damaged in every byte. */

#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/buildinfo.h"
#include "target/image.h"
#include "target/layout.h"
#include "target/module.h"

/* Code with the function table at its end, then data. An address is one of these plus the file offset. */
#define CODE_AT   0x400000ull
#define DATA_AT   0x600000ull
#define TEXT      0x200
#define VERSION   0x2c0
#define TABLE     0x300
#define TABLE_END 0x380
#define DATA      0x400
#define BUILDINFO 0x420
#define VARIABLE  0x480
#define MODULE    0x500
#define DYNAMIC   0x700
#define RELA      0x740
#define SECTIONS  0x800
#define NAMES     0x900
#define SIZE      0xa00

static void put64(uint8_t *file, size_t at, uint64_t value)
{
	memcpy(file + at, &value, sizeof(value));
}

static void put_headers(uint8_t *file, bool pie)
{
	Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
		.e_type = pie ? ET_DYN : ET_EXEC,
		.e_machine = EM_X86_64,
		.e_phoff = 64,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 3,
		.e_shoff = SECTIONS,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 1,
	};
	Elf64_Phdr programs[3] = {
		{PT_LOAD, PF_R | PF_X, 0, CODE_AT, CODE_AT, DATA, DATA, 0x1000},
		{PT_LOAD, PF_R | PF_W, DATA, DATA_AT + DATA, 0, SECTIONS - DATA, 0x1000, 0x1000},
		{PT_DYNAMIC, PF_R, DYNAMIC, DATA_AT + DYNAMIC, 0, 0x40, 0x40, 8},
	};

	memcpy(file, &header, sizeof(header));
	memcpy(file + 64, programs, sizeof(programs));
}

static void put_sections(uint8_t *file)
{
	static const char names[] = "\0.gopclntab\0.shstrtab";
	Elf64_Shdr sections[3] = {
		{.sh_type = SHT_NULL},
		{.sh_name = 12, .sh_type = SHT_STRTAB, .sh_offset = NAMES, .sh_size = sizeof(names)},
		{.sh_name = 1,
		 .sh_type = SHT_PROGBITS,
		 .sh_addr = CODE_AT + TABLE,
		 .sh_size = TABLE_END - TABLE},
	};

	memcpy(file + SECTIONS, sections, sizeof(sections));
	memcpy(file + NAMES, names, sizeof(names));
}

/* How binaries of different releases record their release. */
enum record { RECORD_INLINE, RECORD_POINTER, RECORD_VARIABLE };

static const struct era {
	unsigned minor, patch;
	const char *version;
	enum record record;
	uint8_t magic;
	uint32_t names; /* offset in the table's header of the offset of the names; 0 = none */
} eras[] = {
	{26, 8, "go1.26.8", RECORD_INLINE, 0xf1, 0x20},    {18, 10, "go1.18.10", RECORD_INLINE, 0xf0, 0x20},
	{17, 13, "go1.17.13", RECORD_POINTER, 0xfa, 0x18}, {13, 0, "go1.13", RECORD_POINTER, 0xfb, 0},
	{9, 7, "go1.9.7", RECORD_VARIABLE, 0xfb, 0},       {4, 3, "go1.4.3", RECORD_VARIABLE, 0xfb, 0},
};

#define ERAS (sizeof(eras) / sizeof(eras[0]))

struct maker {
	uint8_t *file;
	const struct era *era;
	bool pie;
	unsigned relocations;
};

/* A pointer in the data: in the file, or in a relocation with 0 in the file. */
static void put_pointer(struct maker *maker, size_t at, uint64_t value)
{
	Elf64_Rela rela = {DATA_AT + at, ELF64_R_INFO(0, R_X86_64_RELATIVE), (int64_t)value};

	if (!maker->pie)
		put64(maker->file, at, value);
	else
		memcpy(maker->file + RELA + maker->relocations++ * sizeof(rela), &rela, sizeof(rela));
}

static void put_string(struct maker *maker, size_t at)
{
	const char *version = maker->era->version;

	memcpy(maker->file + VERSION, version, strlen(version));
	put_pointer(maker, at, CODE_AT + VERSION);
	put64(maker->file, at + 8, strlen(version));
}

static void put_version(struct maker *maker)
{
	uint8_t *record = maker->file + BUILDINFO;

	if (maker->era->record == RECORD_VARIABLE) {
		put_string(maker, VARIABLE);
		return;
	}
	memcpy(record, "\xff Go bu", 7);
	memcpy(record + 7, "ildinf:\x08", 8);
	if (maker->era->record == RECORD_INLINE) {
		record[15] = 2;
		record[32] = (uint8_t)strlen(maker->era->version);
		memcpy(record + 33, maker->era->version, strlen(maker->era->version));
	} else {
		put_string(maker, VARIABLE);
		put_pointer(maker, BUILDINFO + 16, DATA_AT + VARIABLE);
	}
}

/* Up to 1.15, without moduledata, only the table's first row shows where Go's code is. */
static void put_table(const struct maker *maker)
{
	uint8_t *table = maker->file + TABLE;

	memcpy(table, (const uint8_t[]){maker->era->magic, 0xff, 0xff, 0xff, 0, 0, 1, 8}, 8);
	if (maker->era->names) {
		put64(table, maker->era->names, 0x50);
		return;
	}
	put64(table, 0x08, 1);
	put64(table, 0x10, CODE_AT + TEXT);
	put64(table, 0x18, 0x30);
	put64(table, 0x20, CODE_AT + TEXT + 0x80);
}

static void put_module(struct maker *maker)
{
	const struct runtime_offsets *offsets = &release_find(maker->era->minor)->layout.runtime;
	uint32_t before = maker->era->names ? 0x60 : 0;

	if (offsets->module_text == LAYOUT_ABSENT)
		return;
	put_pointer(maker, MODULE, CODE_AT + TABLE);
	if (maker->era->names)
		put_pointer(maker, MODULE + 8, CODE_AT + TABLE + 0x50);
	put_pointer(maker, MODULE + offsets->module_text, CODE_AT + TEXT);
	put_pointer(maker, MODULE + offsets->module_etext, CODE_AT + TEXT + 0x80);
	if (offsets->module_gofunc != LAYOUT_ABSENT)
		put_pointer(maker, MODULE + offsets->module_gofunc, CODE_AT + TEXT + 0x90);
	if (before)
		put_pointer(maker, MODULE + offsets->module_pclntable, CODE_AT + TABLE + before);
	put64(maker->file, MODULE + offsets->module_pclntable + 8, TABLE_END - TABLE - before);
	put64(maker->file, MODULE + offsets->module_pclntable + 16, TABLE_END - TABLE - before);
}

static uint8_t *make(const struct era *era, bool pie)
{
	struct maker maker = {.file = calloc(1, SIZE), .era = era, .pie = pie};

	assert_non_null(maker.file);
	put_headers(maker.file, pie);
	put_sections(maker.file);
	put_version(&maker);
	put_table(&maker);
	put_module(&maker);
	assert_true(RELA + maker.relocations * sizeof(Elf64_Rela) <= SECTIONS);
	if (pie) {
		put64(maker.file, DYNAMIC, DT_RELA);
		put64(maker.file, DYNAMIC + 8, DATA_AT + RELA);
		put64(maker.file, DYNAMIC + 16, DT_RELASZ);
		put64(maker.file, DYNAMIC + 24, maker.relocations * sizeof(Elf64_Rela));
	}
	return maker.file;
}

/* Parses a copy of the file, because relocation changes it. Release it with free(). */
static uint8_t *open_image(const uint8_t *file, size_t size, struct image *image)
{
	uint8_t *copy = malloc(size ? size : 1);

	assert_non_null(copy);
	memcpy(copy, file, size);
	if (image_parse(image, copy, size, NULL) == 0) {
		image_relocate(image, copy, false);
		image_relocate(image, copy, true);
		return copy;
	}
	free(copy);
	return NULL;
}

static void check_module(const struct image *image, const struct era *era)
{
	struct module module;
	struct error err;
	uint64_t value;

	assert_int_equal(module_find(image, release_find(era->minor), &module, &err), 0);
	assert_int_equal(module.address, era->minor == 4 ? 0 : DATA_AT + MODULE);
	assert_int_equal(module.pclntab, CODE_AT + TABLE);
	/* Only the section shows where 1.4's table ends. */
	if (era->minor > 4 || image->nsections)
		assert_int_equal(module.pclntab_size, TABLE_END - TABLE);
	else
		assert_int_equal(module.pclntab_size, DATA - TABLE);
	assert_int_equal(module.text, CODE_AT + TEXT);
	assert_int_equal(module.etext, CODE_AT + TEXT + 0x80);
	assert_int_equal(module.gofunc, era->minor < 18 ? 0 : CODE_AT + TEXT + 0x90);
	if (module.address) {
		assert_true(image_pointer(image, DATA_AT + MODULE, &value));
		assert_int_equal(value, CODE_AT + TABLE);
	}
}

static void check_whole(const uint8_t *file, const struct era *era, bool pie)
{
	struct go_version version;
	struct image image;
	struct error err;
	uint8_t *copy = open_image(file, SIZE, &image);

	assert_non_null(copy);
	assert_int_equal(image.pie, pie);
	assert_int_equal(buildinfo_version(&image, &version, &err), 0);
	assert_int_equal(version.minor, era->minor);
	assert_int_equal(version.patch, era->patch);
	assert_string_equal(version.text, era->version);
	check_module(&image, era);
	free(copy);
}

static void whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * ERAS; i++) {
		uint8_t *file = make(&eras[i / 2], i & 1);

		check_whole(file, &eras[i / 2], i & 1);
		/* No section headers: everything is found by its contents. */
		memset(file + offsetof(Elf64_Ehdr, e_shoff), 0, 8);
		check_whole(file, &eras[i / 2], i & 1);
		free(file);
	}
}

/* A table that does not match the release is not accepted. */
static void other_release(void **state)
{
	(void)state;
	for (size_t i = 0; i < ERAS; i++) {
		uint8_t *file = make(&eras[i], false), *copy;
		struct module module;
		struct image image;
		struct error err;

		copy = open_image(file, SIZE, &image);
		for (size_t k = 0; k < ERAS; k++) {
			if (eras[k].magic != eras[i].magic)
				assert_int_equal(
					module_find(&image, release_find(eras[k].minor), &module, &err),
					-ENOTSUP);
		}
		free(copy);
		free(file);
	}
}

/* Up to 1.12 a program that names several releases does not reveal its own. */
static void several_releases(void **state)
{
	struct maker maker = {.file = make(&eras[4], false), .era = &eras[5]};
	struct go_version version;
	struct image image;
	struct error err;

	(void)state;
	assert_int_equal(image_parse(&image, maker.file, SIZE, &err), 0);
	put64(maker.file, VARIABLE + 16, CODE_AT + VERSION);
	put64(maker.file, VARIABLE + 24, 5); /* "go1.9" */
	assert_int_equal(buildinfo_version(&image, &version, &err), -ENOTSUP);
	assert_string_equal(err.text,
			    "may have been built by go1.9.7 or go1.9: it contains the names of several "
			    "releases and does not record its own");
	/* The same name twice counts once. A text that is not a release name is ignored. */
	put64(maker.file, VARIABLE + 24, 7);
	assert_int_equal(buildinfo_version(&image, &version, &err), 0);
	put64(maker.file, VARIABLE + 24, 8);
	maker.file[VERSION + 7] = '/';
	assert_int_equal(buildinfo_version(&image, &version, &err), 0);
	assert_string_equal(version.text, "go1.9.7");
	/* A release that writes a record, which is missing here. */
	memcpy(maker.file + VERSION, "go1.13.", 7);
	assert_int_equal(buildinfo_version(&image, &version, &err), -ENOEXEC);
	free(maker.file);
}

static void bounds(void **state)
{
	uint8_t *file = make(&eras[0], false);
	struct image image;
	uint64_t offset;
	size_t space;

	(void)state;
	assert_int_equal(image_parse(&image, file, SIZE, NULL), 0);
	assert_non_null(image_bytes(&image, CODE_AT, DATA));
	assert_null(image_bytes(&image, CODE_AT, DATA + 1));
	assert_null(image_bytes(&image, CODE_AT + 8, SIZE_MAX));
	assert_null(image_bytes(&image, CODE_AT - 1, 1));
	assert_null(image_rest(&image, UINT64_MAX, &space));
	assert_int_equal(space, 0);
	assert_true(image_code_offset(&image, CODE_AT + TEXT, &offset));
	assert_int_equal(offset, TEXT);
	assert_false(image_code_offset(&image, DATA_AT + DATA, &offset));
	assert_true(image_is_variable(&image, DATA_AT + DATA + 0xff8, 8));
	assert_false(image_is_variable(&image, DATA_AT + DATA + 0xff9, 8));
	assert_false(image_is_variable(&image, CODE_AT, 8));
	free(file);
}

static void other_files(void **state)
{
	uint8_t *file = make(&eras[0], false);
	struct image image;
	struct error err;

	(void)state;
	assert_int_equal(image_parse(&image, file, 10, &err), -ENOEXEC);
	file[0] = 'x';
	assert_int_equal(image_parse(&image, file, SIZE, &err), -ENOEXEC);
	file[0] = 0x7f;
	file[offsetof(Elf64_Ehdr, e_machine)] = EM_386;
	assert_int_equal(image_parse(&image, file, SIZE, &err), -ENOEXEC);
	file[offsetof(Elf64_Ehdr, e_machine)] = EM_X86_64;
	file[BUILDINFO] = 0;
	assert_int_equal(image_parse(&image, file, SIZE, &err), 0);
	assert_int_equal(buildinfo_version(&image, &(struct go_version){.minor = 0}, &err), -ENOEXEC);
	/* At the end of all addresses: rounded up, it would be 0, and a search would not end. */
	put64(file, sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, p_vaddr), UINT64_MAX - 7);
	put64(file, sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, p_filesz), 0);
	put64(file, sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, p_memsz), 0);
	assert_int_equal(image_parse(&image, file, SIZE, &err), -EBADMSG);
	free(file);
}

static void parse_all(const uint8_t *file, size_t size, unsigned minor)
{
	struct go_version version;
	struct module module;
	struct image image;
	uint8_t *copy = open_image(file, size, &image);

	if (!copy)
		return;
	buildinfo_version(&image, &version, NULL);
	if (module_find(&image, release_find(minor), &module, NULL) == 0) {
		assert_non_null(image_bytes(&image, module.pclntab, module.pclntab_size));
		assert_non_null(image_bytes(&image, module.text, module.etext - module.text));
	}
	free(copy);
}

static void damage(const struct era *era, bool pie)
{
	static const uint8_t odd[] = {0x00, 0x7f, 0x80, 0xff};
	uint8_t *file = make(era, pie);

	for (size_t at = 0; at < SIZE; at++) {
		uint8_t kept = file[at];

		for (size_t i = 0; i < sizeof(odd); i++) {
			file[at] = odd[i];
			parse_all(file, SIZE, era->minor);
		}
		file[at] = kept;
		parse_all(file, at, era->minor);
	}
	check_whole(file, era, pie);
	free(file);
}

/* Each byte set to odd values, and the file truncated at each byte: the sanitizers check. */
static void damaged(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * ERAS; i++)
		damage(&eras[i / 2], i & 1);
}

static void versions(void **state)
{
	static const struct {
		const char *text;
		bool good, development;
		unsigned minor, patch;
		const char *kept;
	} cases[] = {
		{"go1.22.12 X:rangefunc", true, false, 22, 12, "go1.22.12"},
		{"go1.19", true, false, 19, 0, "go1.19"},
		{"go1.27rc1", true, true, 27, 0, "go1.27rc1"},
		{"devel go1.27-0123456 Mon", true, true, 27, 0, "go1.27-0123456"},
		{"go1.24.6-vendor", true, false, 24, 6, "go1.24.6-vendor"},
		{"go1.", false, false, 0, 0, ""},
		{"go2.1", false, false, 0, 0, ""},
		{"", false, false, 0, 0, ""},
	};
	struct go_version version;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(go_version_parse(cases[i].text, strlen(cases[i].text), &version),
				 cases[i].good);
		if (!cases[i].good)
			continue;
		assert_int_equal(version.minor, cases[i].minor);
		assert_int_equal(version.patch, cases[i].patch);
		assert_int_equal(version.development, cases[i].development);
		assert_string_equal(version.text, cases[i].kept);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(whole),
	cmocka_unit_test(bounds),
	cmocka_unit_test(other_files),
	cmocka_unit_test(damaged),
	cmocka_unit_test(versions),
	cmocka_unit_test(other_release),
	cmocka_unit_test(several_releases),
};

UNIT_TESTS(tests, NULL, NULL);
