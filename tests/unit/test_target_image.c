/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A small executable made by hand, whole, relocated, without sections, and damaged in every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/buildinfo.h"
#include "target/image.h"
#include "target/layout.h"
#include "target/module.h"

/* Code with the function table at its end, then data; addresses are these plus the offset in the file. */
#define CODE_AT   0x400000ull
#define DATA_AT   0x600000ull
#define TEXT      0x200
#define TABLE     0x300
#define TABLE_END 0x380
#define DATA      0x400
#define BUILDINFO 0x420
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

static void put_buildinfo(uint8_t *file)
{
	memcpy(file + BUILDINFO, "\xff Go bu", 7);
	memcpy(file + BUILDINFO + 7, "ildinf:\x08\x02", 9);
	memcpy(file + BUILDINFO + 32, "\x08go1.26.8", 9);
}

/* A pointer in moduledata: in the file, or in a relocation with the file's word left 0. */
static void put_pointer(uint8_t *file, bool pie, unsigned i, size_t at, uint64_t value)
{
	Elf64_Rela rela = {DATA_AT + at, ELF64_R_INFO(0, R_X86_64_RELATIVE), (int64_t)value};

	if (pie)
		memcpy(file + RELA + i * sizeof(rela), &rela, sizeof(rela));
	else
		put64(file, at, value);
}

static void put_module(uint8_t *file, bool pie)
{
	const struct runtime_offsets *offsets = release_find(26);
	static const uint8_t magic[] = {0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8};

	memcpy(file + TABLE, magic, sizeof(magic));
	put64(file, TABLE + 0x20, 0x50);
	put_pointer(file, pie, 0, MODULE, CODE_AT + TABLE);
	put_pointer(file, pie, 1, MODULE + 8, CODE_AT + TABLE + 0x50);
	put_pointer(file, pie, 2, MODULE + offsets->module_text, CODE_AT + TEXT);
	put_pointer(file, pie, 3, MODULE + offsets->module_etext, CODE_AT + TEXT + 0x80);
	put_pointer(file, pie, 4, MODULE + offsets->module_gofunc, CODE_AT + TEXT + 0x90);
	put_pointer(file, pie, 5, MODULE + offsets->module_pclntable, CODE_AT + TABLE + 0x60);
	put64(file, MODULE + offsets->module_pclntable + 8, TABLE_END - TABLE - 0x60);
	if (pie) {
		put64(file, DYNAMIC, DT_RELA);
		put64(file, DYNAMIC + 8, DATA_AT + RELA);
		put64(file, DYNAMIC + 16, DT_RELASZ);
		put64(file, DYNAMIC + 24, 6 * sizeof(Elf64_Rela));
	}
}

static uint8_t *make(bool pie)
{
	uint8_t *file = calloc(1, SIZE);

	assert_non_null(file);
	put_headers(file, pie);
	put_sections(file);
	put_buildinfo(file);
	put_module(file, pie);
	return file;
}

static void check_whole(const uint8_t *file, bool pie)
{
	struct go_version version;
	struct module module;
	struct image image;
	struct error err;
	uint64_t value;

	assert_int_equal(image_parse(&image, file, SIZE, &err), 0);
	assert_int_equal(image.pie, pie);
	assert_int_equal(buildinfo_version(&image, &version, &err), 0);
	assert_int_equal(version.minor, 26);
	assert_int_equal(version.patch, 8);
	assert_string_equal(version.text, "go1.26.8");
	assert_int_equal(module_find(&image, release_find(26), &module, &err), 0);
	assert_int_equal(module.address, DATA_AT + MODULE);
	assert_int_equal(module.pclntab, CODE_AT + TABLE);
	assert_int_equal(module.pclntab_size, TABLE_END - TABLE);
	assert_int_equal(module.text, CODE_AT + TEXT);
	assert_true(image_pointer(&image, DATA_AT + MODULE, &value));
	assert_int_equal(value, CODE_AT + TABLE);
}

static void whole(void **state)
{
	(void)state;
	for (int pie = 0; pie < 2; pie++) {
		uint8_t *file = make(pie);

		check_whole(file, pie);
		/* No section headers: everything is found by its bytes. */
		memset(file + offsetof(Elf64_Ehdr, e_shoff), 0, 8);
		check_whole(file, pie);
		free(file);
	}
}

static void bounds(void **state)
{
	uint8_t *file = make(false);
	struct image image;
	uint64_t offset;
	size_t room;

	(void)state;
	assert_int_equal(image_parse(&image, file, SIZE, NULL), 0);
	assert_non_null(image_bytes(&image, CODE_AT, DATA));
	assert_null(image_bytes(&image, CODE_AT, DATA + 1));
	assert_null(image_bytes(&image, CODE_AT + 8, SIZE_MAX));
	assert_null(image_bytes(&image, CODE_AT - 1, 1));
	assert_null(image_rest(&image, UINT64_MAX, &room));
	assert_int_equal(room, 0);
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
	uint8_t *file = make(false);
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
	free(file);
}

static void parse_all(const uint8_t *file, size_t size)
{
	struct go_version version;
	struct module module;
	struct image image;
	uint64_t value;

	if (image_parse(&image, file, size, NULL))
		return;
	buildinfo_version(&image, &version, NULL);
	image_pointer(&image, DATA_AT + MODULE, &value);
	module_find(&image, release_find(26), &module, NULL);
}

/* Each byte set to odd values, and the file cut at each byte: the sanitizers watch. */
static void damaged(void **state)
{
	static const uint8_t odd[] = {0x00, 0x7f, 0x80, 0xff};

	(void)state;
	for (int pie = 0; pie < 2; pie++) {
		uint8_t *file = make(pie);

		for (size_t at = 0; at < SIZE; at++) {
			uint8_t kept = file[at], *cut = malloc(at + 1);

			for (size_t i = 0; i < sizeof(odd); i++) {
				file[at] = odd[i];
				parse_all(file, SIZE);
			}
			file[at] = kept;
			memcpy(cut, file, at);
			parse_all(cut, at);
			free(cut);
		}
		check_whole(file, pie);
		free(file);
	}
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole),   cmocka_unit_test(bounds),   cmocka_unit_test(other_files),
		cmocka_unit_test(damaged), cmocka_unit_test(versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
