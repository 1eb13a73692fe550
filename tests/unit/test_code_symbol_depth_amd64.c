/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Frames of amd64 code without call frame information: pieces of code, and the C library, whose descriptions
 * are hidden and then compared. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#include "code/isa/x86.h"
#include "code/symbol/depth_amd64.h"
#include "target/names/modules.h"

#define AT 0x1000u

#define SP(words)         UNWIND_RULE(UNWIND_SP, 0, words)
#define SAVED(words, rbp) UNWIND_RULE(UNWIND_SP, rbp, words)
#define BP(words, rbp)    UNWIND_RULE(UNWIND_BP, rbp, words)
#define OUTERMOST         UNWIND_RULE(UNWIND_END, 0, 0)

/* Rules of the code, and of each byte. */
static void scan(const uint8_t *code, size_t size, const struct depth_starts *starts, uint32_t *rules)
{
	struct budget budget = {.cpu_ns = 10000000000ull};
	struct ehframe_spans spans = {.n = 0};
	uint8_t *exact = malloc(size); /* for the sanitizer */

	assert_non_null(exact);
	memcpy(exact, code, size);
	memset(rules, 0, size * sizeof(*rules));
	budget_start(&budget);
	assert_int_equal(depth_amd64_add(&spans, exact, size, AT, starts, &budget), 0);
	for (size_t i = 0; i < spans.n; i++) {
		assert_true(spans.list[i].start < spans.list[i].end);
		assert_true(i == 0 || spans.list[i].start >= spans.list[i - 1].end);
		for (uint64_t at = spans.list[i].start; at < spans.list[i].end; at++)
			rules[at - AT] = spans.list[i].rule;
	}
	ehframe_spans_free(&spans);
	free(exact);
}

struct expected {
	size_t at;
	uint32_t rule;
};

static void expect(const uint8_t *code, size_t size, const struct expected *expected, size_t n)
{
	const struct depth_starts none = {.n = 0};
	uint32_t rules[256];

	assert_true(size <= sizeof(rules) / sizeof(rules[0]));
	scan(code, size, &none, rules);
	for (size_t i = 0; i < n; i++) {
		if (rules[expected[i].at] != expected[i].rule)
			fail_msg("at %#zx: rule %#x, expected %#x", expected[i].at, rules[expected[i].at],
				 expected[i].rule);
	}
}

#define EXPECT(code, ...)                                                                                    \
	do {                                                                                                 \
		static const struct expected expected[] = {__VA_ARGS__};                                     \
		expect(code, sizeof(code), expected, sizeof(expected) / sizeof(expected[0]));                \
	} while (0)

static void test_pushes(void **state)
{
	static const uint8_t code[] = {
		0x55,                         /* 0: push %rbp */
		0x53,                         /* 1: push %rbx */
		0x48, 0x83, 0xec, 0x18,       /* 2: sub $24, %rsp */
		0xe8, 0x07, 0x00, 0x00, 0x00, /* 6: call 12 */
		0x48, 0x83, 0xc4, 0x18,       /* b: add $24, %rsp */
		0x5b,                         /* f: pop %rbx */
		0x5d,                         /* 10: pop %rbp */
		0xc3,                         /* 11: ret */
		0x41, 0x54,                   /* 12: push %r12 */
		0x41, 0x5c,                   /* 14: pop %r12 */
		0xc3,                         /* 16: ret */
	};

	(void)state;
	EXPECT(code, {0, SP(1)}, {1, SAVED(2, 2)}, {2, SAVED(3, 2)}, {6, SAVED(6, 2)}, {0xa, SAVED(6, 2)},
	       {0xf, SAVED(3, 2)}, {0x10, SAVED(2, 2)}, {0x11, SP(1)}, {0x12, SP(1)}, {0x14, SP(2)},
	       {0x16, SP(1)});
}

static void test_frame_pointer(void **state)
{
	static const uint8_t code[] = {
		0x55,                         /* 0: push %rbp */
		0x48, 0x89, 0xe5,             /* 1: mov %rsp, %rbp */
		0x48, 0x29, 0xc4,             /* 4: sub %rax, %rsp */
		0x48, 0x89, 0xe7,             /* 7: mov %rsp, %rdi */
		0x48, 0x8d, 0x65, 0xf8,       /* a: lea -8(%rbp), %rsp */
		0x90,                         /* e: nop */
		0xc9,                         /* f: leave */
		0xc3,                         /* 10: ret */
		0x48, 0x89, 0x6c, 0x24, 0xf0, /* 11: mov %rbp, -16(%rsp) */
		0x48, 0x8d, 0x64, 0x24, 0xe8, /* 16: lea -24(%rsp), %rsp */
		0x31, 0xed,                   /* 1b: xor %ebp, %ebp */
		0x90,                         /* 1d: nop */
	};

	(void)state;
	EXPECT(code, {1, SAVED(2, 2)}, {4, SAVED(2, 2)}, {7, BP(2, 2)}, {0xa, BP(2, 2)}, {0xe, SAVED(3, 2)},
	       {0x10, SP(1)}, {0x11, SP(1)}, {0x16, SAVED(1, 3)}, {0x1b, SAVED(4, 3)}, {0x1d, SAVED(4, 3)});
}

/* A loop that is entered in the middle; code behind the return of another function; the next function, behind
 * a call that does not return and padding. */
static void test_jumps(void **state)
{
	static const uint8_t code[] = {
		0x48, 0x83, 0xec, 0x08,       /* 0: sub $8, %rsp */
		0x75, 0x0f,                   /* 4: jne 15 */
		0x48, 0x83, 0xc4, 0x08,       /* 6: add $8, %rsp */
		0xc3,                         /* a: ret */
		0x53,                         /* b: push %rbx */
		0xeb, 0x01,                   /* c: jmp f */
		0x90,                         /* e: nop */
		0xff, 0xcf,                   /* f: dec %edi */
		0x75, 0xfb,                   /* 11: jne e */
		0x5b,                         /* 13: pop %rbx */
		0xc3,                         /* 14: ret */
		0xe8, 0xf1, 0xff, 0xff, 0xff, /* 15: call b */
		0x90,                         /* 1a: nop */
		0x53,                         /* 1b: push %rbx */
		0x5b,                         /* 1c: pop %rbx */
		0xc3,                         /* 1d: ret */
	};

	(void)state;
	EXPECT(code, {4, SP(2)}, {0xa, SP(1)}, {0xb, SP(1)}, {0xc, SP(2)}, {0xe, SP(2)}, {0x11, SP(2)},
	       {0x14, SP(1)}, {0x15, SP(2)}, {0x1a, 0}, {0x1b, SP(1)}, {0x1c, SP(2)}, {0x1d, SP(1)});
}

/* Code that a table leads to has the frame of the jump, if it returns from that. */
static void test_switch(void **state)
{
	static const uint8_t code[] = {
		0x53,                         /* 0: push %rbx */
		0xff, 0xe0,                   /* 1: jmp *%rax */
		0x31, 0xc0,                   /* 3: xor %eax, %eax */
		0x5b,                         /* 5: pop %rbx */
		0xc3,                         /* 6: ret */
		0x31, 0xc9,                   /* 7: xor %ecx, %ecx */
		0x5b,                         /* 9: pop %rbx */
		0xc3,                         /* a: ret */
		0xb8, 0x01, 0x00, 0x00, 0x00, /* b: mov $1, %eax */
		0xc3,                         /* 10: ret */
	};

	(void)state;
	EXPECT(code, {1, SP(2)}, {3, SP(2)}, {6, SP(1)}, {7, SP(2)}, {0xa, SP(1)}, {0xb, SP(1)},
	       {0x10, SP(1)});
}

/* The child's side of clone() in musl: what the thread's function returns to has no caller. */
static void test_outermost(void **state)
{
	static const uint8_t code[] = {
		0x31, 0xed,       /* 0: xor %ebp, %ebp */
		0x5f,             /* 2: pop %rdi */
		0x41, 0xff, 0xd1, /* 3: call *%r9 */
		0xf4,             /* 6: hlt */
	};

	(void)state;
	EXPECT(code, {0, SP(1)}, {2, OUTERMOST}, {3, OUTERMOST}, {6, OUTERMOST});
}

/* Where the stack pointer is not known, nothing is said. */
static void test_unknown(void **state)
{
	static const uint8_t code[] = {
		0x48, 0x83, 0xe4, 0xf0, /* 0: and $-16, %rsp */
		0x90,                   /* 4: nop */
		0x48, 0x8b, 0x20,       /* 5: mov (%rax), %rsp */
		0x90,                   /* 8: nop */
		0x06,                   /* 9: not an instruction */
		0x90,                   /* a: nop */
	};

	(void)state;
	EXPECT(code, {0, SP(1)}, {4, 0}, {8, 0}, {9, 0}, {0xa, 0});
}

/* A function that only a symbol shows, behind a switch. */
static void test_starts(void **state)
{
	static const uint8_t code[] = {
		0x53,       /* 0: push %rbx */
		0xff, 0xe0, /* 1: jmp *%rax */
		0x5f,       /* 3: pop %rdi */
		0xff, 0xe7, /* 4: jmp *%rdi */
	};
	uint64_t list[] = {AT - 1, AT + 3, AT + sizeof(code), UINT64_MAX};
	const struct depth_starts starts = {list, sizeof(list) / sizeof(list[0])}, none = {.n = 0};
	uint32_t rules[sizeof(code)];

	(void)state;
	scan(code, sizeof(code), &none, rules);
	assert_int_equal(rules[3], SP(2));
	scan(code, sizeof(code), &starts, rules);
	assert_int_equal(rules[3], SP(1));
	assert_int_equal(rules[4], 0);
}

static void test_budget(void **state)
{
	struct budget budget = {.spent = true};
	const struct depth_starts none = {.n = 0};
	static const uint8_t code[] = {0x53, 0x5b, 0xc3};
	struct ehframe_spans spans = {.n = 0};

	(void)state;
	assert_int_equal(depth_amd64_add(&spans, code, sizeof(code), AT, &none, &budget), 0);
	assert_int_equal(spans.n, 0);
	ehframe_spans_free(&spans);
}

/* --- the C library --- */

#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"

static uint8_t *file_bytes(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *bytes;
	struct stat st;

	if (fd < 0)
		return NULL;
	assert_int_equal(fstat(fd, &st), 0);
	*size = (size_t)st.st_size;
	bytes = malloc(*size);
	assert_non_null(bytes);
	assert_int_equal(read(fd, bytes, *size), *size);
	close(fd);
	return bytes;
}

/* Takes the headers of sections and of .eh_frame_hdr away. */
static void hide_descriptions(uint8_t *image)
{
	Elf64_Ehdr header;

	memcpy(&header, image, sizeof(header));
	for (unsigned i = 0; i < header.e_phnum; i++) {
		uint8_t *at = image + header.e_phoff + i * sizeof(Elf64_Phdr);
		Elf64_Phdr segment;

		memcpy(&segment, at, sizeof(segment));
		if (segment.p_type == PT_GNU_EH_FRAME)
			segment.p_type = PT_NULL;
		memcpy(at, &segment, sizeof(segment));
	}
	header.e_shoff = 0;
	header.e_shnum = header.e_shstrndx = 0;
	memcpy(image, &header, sizeof(header));
}

static uint32_t rule_at(const struct module_code *code, uint64_t address, size_t *row)
{
	const struct ehframe_rows *rows = &code->rows;

	while (*row + 1 < rows->n && rows->rows[*row + 1].start <= address - code->base)
		++*row;
	return rows->rows[*row].rule;
}

/* The frame pointer is not compared: where both are known, the descriptions prefer it. */
static bool same(uint32_t truth, uint32_t ours)
{
	return UNWIND_KIND(truth) == UNWIND_BP ||
	       (UNWIND_KIND(truth) == UNWIND_KIND(ours) && UNWIND_OFFSET(truth) == UNWIND_OFFSET(ours));
}

/* Of glibc 2.36, 95 % are the same and 1 % is wrong: code that is reached by tables of relative addresses. */
static void test_libc(void **state)
{
	size_t size, all = 0, right = 0, unknown = 0, row = 0, our_row = 0;
	uint8_t *image = file_bytes(LIBC, &size);
	struct module_code described, hidden;
	const struct module_segment *segment;

	(void)state;
	if (!image)
		skip(); /* another distribution, or another machine */
	assert_int_equal(module_read_image((const char *)image, size, EM_X86_64, &described), 0);
	hide_descriptions(image);
	assert_int_equal(module_read_image((const char *)image, size, EM_X86_64, &hidden), 0);
	assert_int_equal(hidden.rows.functions, 0);
	segment = &described.segments[0];
	for (uint64_t at = 0; at < segment->size;) {
		uint64_t address = segment->address + at;
		uint32_t truth = rule_at(&described, address, &row);
		uint32_t ours = rule_at(&hidden, address, &our_row);
		struct x86_insn insn;

		if (!x86_decode(image + segment->offset + at, segment->size - at, &insn))
			insn.length = 1;
		at += insn.length;
		if (UNWIND_KIND(truth) != UNWIND_SP && UNWIND_KIND(truth) != UNWIND_BP)
			continue;
		all++;
		if (UNWIND_KIND(ours) == UNWIND_CHAIN || UNWIND_KIND(ours) == UNWIND_NONE)
			unknown++;
		else
			right += same(truth, ours);
	}
	print_message("%zu instructions: %.1f %% right, %.1f %% not known\n", all,
		      100.0 * (double)right / (double)all, 100.0 * (double)unknown / (double)all);
	assert_true(right * 100 >= all * 90);
	assert_true((all - right - unknown) * 100 <= all * 4);
	module_free(&described);
	module_free(&hidden);
	free(image);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_pushes), cmocka_unit_test(test_frame_pointer), cmocka_unit_test(test_jumps),
	cmocka_unit_test(test_switch), cmocka_unit_test(test_outermost),     cmocka_unit_test(test_unknown),
	cmocka_unit_test(test_starts), cmocka_unit_test(test_budget),        cmocka_unit_test(test_libc),
};

UNIT_TESTS(tests, NULL, NULL);
