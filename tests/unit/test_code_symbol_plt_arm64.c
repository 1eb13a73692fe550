/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Unwind rules for arm64's procedure linkage tables: entries that linkers write, unknown ones, and tables in
 * a file. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "target/names/modules.h"
#include "code/symbol/plt_arm64.h"

#define LEAF   UNWIND_RULE(UNWIND_SP_LINK, 0, 0)
#define PUSHED UNWIND_RULE(UNWIND_SP_ALONE, 1, 2) /* x30 at CFA - 8 */
#define OTHERS UNWIND_RULE(UNWIND_SP_LINK, 0, 2)

enum {
	BTI = 0xd503245f,
	NOP = 0xd503201f,
	AUTH = 0xd503219f,
	STP = 0xa9bf7bf0,
	ADRP = 0xf00000f0,
	LDR = 0xf947fe11,
	ADD = 0x913fe210,
	BR = 0xd61f0220,
	TLS_STP = 0xa9bf0fe2,
	TLS_ADRP2 = 0xf00000e2,
	TLS_ADRP3 = 0xf00000e3,
	TLS_LDR = 0xf947f042,
	TLS_ADD = 0x913fa063,
	TLS_BR = 0xd61f0040,
};

#define FIRST STP, ADRP, LDR, ADD, BR, NOP, NOP, NOP
#define ENTRY ADRP, LDR, ADD, BR
#define TLS   TLS_STP, TLS_ADRP2, TLS_ADRP3, TLS_LDR, TLS_ADD, TLS_BR, NOP, NOP

static void expect(const uint32_t *code, size_t size, const struct ehframe_span *expected, size_t n)
{
	struct ehframe_spans spans = {.n = 0};
	uint8_t *exact = malloc(size + !size); /* for the sanitizer */

	assert_non_null(exact);
	memcpy(exact, code, size);
	assert_int_equal(plt_arm64_add(&spans, exact, size, 0x1000), 0);
	assert_int_equal(spans.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(spans.list[i].start, expected[i].start);
		assert_int_equal(spans.list[i].end, expected[i].end);
		assert_int_equal(spans.list[i].rule, expected[i].rule);
	}
	ehframe_spans_free(&spans);
	free(exact);
}

#define EXPECT(code, ...)                                                                                    \
	do {                                                                                                 \
		static const struct ehframe_span expected[] = {__VA_ARGS__};                                 \
		expect(code, sizeof(code), expected, sizeof(expected) / sizeof(expected[0]));                \
	} while (0)

#define EXPECT_NONE(code, size) expect(code, size, NULL, 0)

/* Entries that ld and gold of binutils 2.40 write, without options and with -z force-bti, -z pac-plt and
 * both. */
static void test_variants(void **state)
{
	static const uint32_t plain[] = {FIRST, ENTRY, ENTRY, TLS};
	static const uint32_t bti[] = {BTI,       STP,       ADRP,    LDR,     ADD,    BR,  NOP, NOP,
				       BTI,       ADRP,      LDR,     ADD,     BR,     NOP, BTI, TLS_STP,
				       TLS_ADRP2, TLS_ADRP3, TLS_LDR, TLS_ADD, TLS_BR, NOP};
	static const uint32_t pac[] = {FIRST, ADRP, LDR, ADD, AUTH, BR, NOP, BTI, ADRP, LDR, ADD, AUTH, BR};
	static const uint32_t of_static[] = {ENTRY, ENTRY};
	static const uint32_t of_mold[] = {ADRP, LDR, BR, NOP, NOP, ADRP, LDR, BR};

	(void)state;
	EXPECT(plain, {0x1000, 0x1004, LEAF}, {0x1004, 0x1014, PUSHED}, {0x1014, 0x1044, LEAF},
	       {0x1044, 0x1058, OTHERS});
	EXPECT(bti, {0x1000, 0x1008, LEAF}, {0x1008, 0x1018, PUSHED}, {0x1018, 0x1040, LEAF},
	       {0x1040, 0x1054, OTHERS});
	EXPECT(pac, {0x1000, 0x1004, LEAF}, {0x1004, 0x1014, PUSHED}, {0x1014, 0x1050, LEAF});
	EXPECT(of_static, {0x1000, 0x1020, LEAF});
	EXPECT(of_mold, {0x1000, 0x1020, LEAF});
}

/* A table may hold anything. After an unknown instruction nothing is known about the stack up to the next
 * branch. */
static void test_others(void **state)
{
	static const uint32_t change[] = {
		0xd10043ff, /* sub sp, sp, #16 */
		0xf947fe1e, /* ldr x30, [x16, #4088] */
		0xf947fe3f, /* ldr xzr, [x17, #4088] */
		0x913fe21f, /* add sp, x16, #4088 */
		0x917fe210, /* add x16, x16, #4088, lsl #12 */
		0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
		0xa9bf7bf1, /* stp x17, x30, [sp, #-16]! */
		0x90000011, /* adrp x17: in no table */
		0xd63f0220, /* blr x17 */
		0xd65f03c0, /* ret */
		0x14000001, /* b */
		0,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(change) / sizeof(change[0]); i++) {
		uint32_t code[] = {ENTRY, ADRP, change[i], LDR, ADD, BR, ENTRY};

		EXPECT(code, {0x1000, 0x1010, LEAF}, {0x1024, 0x1034, LEAF});
	}
}

static void test_edges(void **state)
{
	static const uint32_t twice[] = {STP, STP, ADRP, LDR, ADD, BR};
	static const uint32_t both[] = {TLS_STP, STP, ADRP, LDR, ADD, BR, ENTRY};
	static const uint32_t bare[] = {STP, BR, BR};
	static const uint32_t entry[] = {ENTRY};
	static const uint32_t padded[] = {ENTRY, NOP, NOP};

	(void)state;
	EXPECT_NONE(twice, sizeof(twice));
	EXPECT(both, {0x1018, 0x1028, LEAF});
	EXPECT(bare, {0x1000, 0x1004, LEAF}, {0x1004, 0x1008, PUSHED}, {0x1008, 0x100c, LEAF});
	EXPECT(padded, {0x1000, 0x1010, LEAF});
	for (size_t size = 0; size < sizeof(entry); size++) /* without its branch, or with half of it */
		EXPECT_NONE(entry, size);
}

/* Code at two addresses, one after the other. Adjacent spans are joined. */
static void test_several(void **state)
{
	static const uint32_t entry[] = {ENTRY};
	struct ehframe_spans spans = {.n = 0};

	(void)state;
	for (unsigned i = 0; i < 40; i++)
		assert_int_equal(plt_arm64_add(&spans, (const uint8_t *)entry, sizeof(entry),
					       0x1000 + (i / 2) * 0x100 + (i % 2) * 0x10),
				 0);
	assert_int_equal(spans.n, 20);
	assert_int_equal(spans.list[19].start, 0x2300);
	assert_int_equal(spans.list[19].end, 0x2320);
	ehframe_spans_free(&spans);
}

/* --- in a file --- */

#define CODE_AT 0x10200u /* link-time address; the file offset differs */

/* .eh_frame: a CIE (of x30 and sp), a description of a function of 16 bytes, the end. */
struct frames {
	struct {
		uint32_t size, id;
		uint8_t version, letters[3], code_align, data_align, ra, skip, encoding, cfa[3];
	} cie;
	struct {
		uint32_t size, back, start, bytes;
		uint8_t skip, program[3];
	} fde;
	uint32_t end;
};

struct program {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	Elf64_Shdr sections[6];
	char names[48];
	struct frames frames;
	uint32_t code[32]; /* a function, .plt, .iplt */
};

#define AT(member) (CODE_AT - offsetof(struct program, code) + offsetof(struct program, member))

static const char names[] = "\0.plt\0.iplt\0.eh_frame\0.shstrtab\0.plt.got";

static void set_section(struct program *image, unsigned i, const char *name, uint64_t address, uint64_t size)
{
	image->sections[i] = (Elf64_Shdr){
		.sh_name = (uint32_t)((const char *)memmem(names, sizeof(names), name, strlen(name) + 1) -
				      names),
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = address,
		.sh_offset = address - AT(header),
		.sh_size = size,
		.sh_addralign = 4,
	};
}

static void set_frames(struct frames *frames)
{
	*frames = (struct frames){
		.cie = {.size = sizeof(frames->cie) - 4,
			.version = 1,
			.letters = "zR",
			.code_align = 4,
			.data_align = 0x78, /* -8 */
			.ra = 30,
			.skip = 1,
			.encoding = 0x1b,      /* sdata4, relative */
			.cfa = {0x0c, 31, 0}}, /* sp + 0 */
		.fde = {.size = sizeof(frames->fde) - 4,
			.back = (uint32_t)(offsetof(struct frames, fde.back)),
			.bytes = 16,
			.program = {0x0e, 32, 0}}, /* a leaf with 32 bytes of stack */
	};
}

/* Sets the address of the function that the file describes. */
static void describe(struct program *image, uint64_t address)
{
	image->frames.fde.start = (uint32_t)(address - AT(frames.fde.start));
}

#define FUNCTION UNWIND_RULE(UNWIND_SP_LINK, 0, 4)

/* A program for arm64: a function of 16 bytes, .plt of 48, 16 bytes of nothing, .iplt of 32. */
static void make_image(struct program *image)
{
	static const uint32_t code[] = {NOP, NOP, NOP, NOP, FIRST, ENTRY, NOP, NOP, NOP, NOP, ENTRY, ENTRY};

	*image = (struct program){
		.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				       EV_CURRENT},
			   .e_type = ET_DYN,
			   .e_machine = EM_AARCH64,
			   .e_version = EV_CURRENT,
			   .e_phoff = offsetof(struct program, segments),
			   .e_shoff = offsetof(struct program, sections),
			   .e_ehsize = sizeof(Elf64_Ehdr),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 1,
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shnum = 5,
			   .e_shstrndx = 4},
		.segments = {{.p_type = PT_LOAD,
			      .p_flags = PF_R | PF_X,
			      .p_offset = 0,
			      .p_vaddr = AT(header),
			      .p_filesz = sizeof(*image),
			      .p_memsz = sizeof(*image)}},
	};
	memcpy(image->names, names, sizeof(names));
	memcpy(image->code, code, sizeof(code));
	set_frames(&image->frames);
	describe(image, AT(code));
	set_section(image, 1, ".iplt", AT(code[20]), 32); /* not sorted by address */
	set_section(image, 2, ".plt", AT(code[4]), 48);
	set_section(image, 3, ".eh_frame", AT(frames), sizeof(image->frames));
	set_section(image, 4, ".shstrtab", AT(names), sizeof(image->names));
	image->sections[4].sh_type = SHT_STRTAB;
}

/*
 * Compares the rules of the first n instructions of `code` with rules[]. The last rule continues after them.
 */
static void expect_rules(const struct program *image, const uint32_t *rules, size_t n)
{
	struct module_code code;
	size_t row = 0;

	assert_int_equal(module_read_image((const char *)image, sizeof(*image), EM_AARCH64, &code), 0);
	assert_int_equal(code.rows.functions, 1);
	assert_int_equal(code.rows.damaged, 0);
	for (size_t i = 0; i < n; i++) {
		uint64_t at = AT(code[i]) - code.base;

		while (row + 1 < code.rows.n && code.rows.rows[row + 1].start <= at)
			row++;
		assert_int_equal(code.rows.rows[row].rule, rules[i]);
	}
	module_free(&code);
}

#define FOUR(rule) rule, rule, rule, rule

/* The rules of the tables, and none for code outside of them. */
static const uint32_t in_tables[32] = {FOUR(FUNCTION),
				       LEAF,
				       PUSHED,
				       PUSHED,
				       PUSHED,
				       PUSHED,
				       LEAF,
				       LEAF,
				       LEAF,
				       FOUR(LEAF),
				       FOUR(UNWIND_NONE),
				       FOUR(LEAF),
				       FOUR(LEAF),
				       FOUR(UNWIND_NONE)};

static void test_sections(void **state)
{
	struct program image;
	struct module_code code;

	(void)state;
	make_image(&image);
	expect_rules(&image, in_tables, 32);
	assert_int_equal(module_read_image((const char *)&image, sizeof(image), EM_X86_64, &code), -ENOEXEC);
	/* The section's file offset does not matter; the mapped bytes do. */
	image.sections[2].sh_offset = 0;
	expect_rules(&image, in_tables, 32);
}

/* If part of a table is described, that part has the described rule, and the rest the table's. */
static void test_described(void **state)
{
	uint32_t rules[32];
	struct program image;

	(void)state;
	make_image(&image);
	describe(&image, AT(code[22]));
	memcpy(rules, in_tables, sizeof(rules));
	for (unsigned i = 0; i < 4; i++) {
		rules[i] = UNWIND_NONE;
		rules[22 + i] = FUNCTION;
	}
	expect_rules(&image, rules, 32);
}

/* A table is ignored if it is not entirely in code, has no end, or overlaps another one. */
static void test_unknown(void **state)
{
	const struct {
		uint64_t address, size;
	} bad[] = {
		{AT(code[20]), sizeof(((struct program *)0)->code)},
		{AT(code[20]), UINT64_MAX},
		{AT(code[20]), 0},
		{UINT64_MAX - 3, 8},
		{0, 32},
		{AT(header) - 4, 32},
		{AT(code[15]), 40},
	};
	uint32_t rules[32];
	struct program image;

	(void)state;
	memcpy(rules, in_tables, sizeof(rules));
	for (unsigned i = 20; i < 28; i++)
		rules[i] = UNWIND_NONE;
	make_image(&image);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		image.sections[1].sh_addr = bad[i].address;
		image.sections[1].sh_size = bad[i].size;
		expect_rules(&image, rules, 32);
	}
	/* It extends beyond the code, though not beyond the file; or it is between two pieces of code. */
	make_image(&image);
	image.segments[0].p_filesz = image.segments[0].p_memsz = offsetof(struct program, code[24]);
	expect_rules(&image, rules, 24);
	image.segments[1] = image.segments[0];
	image.segments[0].p_filesz = image.segments[0].p_memsz = offsetof(struct program, code[18]);
	image.segments[1].p_offset = offsetof(struct program, code[30]);
	image.segments[1].p_vaddr += offsetof(struct program, code[30]);
	image.segments[1].p_filesz = image.segments[1].p_memsz = 8;
	image.header.e_phnum = 2;
	expect_rules(&image, rules, 32);
	/* A segment that is not executable is not code. */
	make_image(&image);
	image.segments[1] = image.segments[0];
	image.header.e_phnum = 2;
	image.segments[0].p_filesz = image.segments[0].p_memsz = offsetof(struct program, code[20]);
	image.segments[1].p_offset = offsetof(struct program, code[20]);
	image.segments[1].p_vaddr += offsetof(struct program, code[20]);
	image.segments[1].p_filesz = image.segments[1].p_memsz = 48;
	expect_rules(&image, in_tables, 28);
	image.segments[1].p_flags = PF_R;
	expect_rules(&image, rules, 20);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_variants), cmocka_unit_test(test_others),   cmocka_unit_test(test_edges),
	cmocka_unit_test(test_several),  cmocka_unit_test(test_sections), cmocka_unit_test(test_described),
	cmocka_unit_test(test_unknown),
};

UNIT_TESTS(tests, NULL, NULL);
