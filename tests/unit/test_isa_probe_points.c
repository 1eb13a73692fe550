/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Where calls of a function begin and end, in code as gcc 12 and clang 14 generate it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "isa/probe_points.h"

#define BASE 0x1000u

/* A file: its code from BASE on, and what .eh_frame has for each address. */
struct file {
	const uint8_t *code;
	size_t size;
	uint64_t frame, frame_end; /* where there is a frame; elsewhere the distance is 8 */
	struct code_range range;   /* another part of the code */
	struct code_range part;    /* the same, with a symbol */
	uint64_t table, first;     /* a pointer in memory */
	bool unknown;              /* no .eh_frame */
};

static const uint8_t *bytes(void *ctx, uint64_t address, size_t size)
{
	const struct file *file = ctx;

	if (address < BASE || size > file->size || address - BASE > file->size - size)
		return NULL;
	return file->code + (address - BASE);
}

static bool pointer(void *ctx, uint64_t address, uint64_t *to)
{
	const struct file *file = ctx;

	*to = file->first;
	return file->table && address == file->table;
}

static int64_t distance(void *ctx, uint64_t address)
{
	const struct file *file = ctx;

	if (file->unknown)
		return DISTANCE_UNKNOWN;
	return address >= file->frame && address < file->frame_end ? 32 : 8;
}

static bool in(const struct code_range *from, uint64_t address, struct code_range *range)
{
	*range = *from;
	return address >= from->start && address < from->end;
}

static bool part(void *ctx, uint64_t address, struct code_range *range)
{
	return in(&((struct file *)ctx)->part, address, range);
}

static bool range(void *ctx, uint64_t address, struct code_range *to)
{
	return in(&((struct file *)ctx)->range, address, to);
}

/* The function is the first `size` bytes. */
static int find(struct file *file, size_t size, struct probe_points *points, struct error *err)
{
	struct code_source code = {.ctx = file,
				   .bytes = bytes,
				   .pointer = pointer,
				   .distance = distance,
				   .part = part,
				   .range = range};

	return probe_points_find(&code, (struct code_range){BASE, BASE + size}, points, err);
}

#define FILE_OF(bytes) .code = (bytes), .size = sizeof(bytes)

static void assert_ends(const struct probe_points *points, unsigned n, const uint64_t *ends)
{
	assert_int_equal(points->n, n);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(points->ends[i].address, BASE + ends[i]);
}

static void plain(void **state)
{
	static const uint8_t code[] = {
		0xf3, 0x0f, 0x1e, 0xfa,       /* 00 endbr64: is run in a single step */
		0x89, 0xf8,                   /* 04 mov %edi, %eax */
		0x53,                         /* 06 push %rbx */
		0x85, 0xff,                   /* 07 test %edi, %edi */
		0x74, 0x02,                   /* 09 je 0d */
		0x5b,                         /* 0b pop %rbx */
		0xc3,                         /* 0c ret */
		0xe8, 0x00, 0x00, 0x00, 0x00, /* 0d call */
		0x5b,                         /* 12 pop %rbx */
		0xf3, 0xc3,                   /* 13 repz ret */
	};
	struct file file = {FILE_OF(code), .frame = BASE + 7, .frame_end = BASE + 12};
	struct probe_points points;
	struct error err;

	(void)state;
	assert_int_equal(find(&file, sizeof(code), &points, &err), 0);
	assert_int_equal(points.begin.address, BASE + 6);
	assert_int_equal(points.begin.distance, 8);
	assert_ends(&points, 2, (uint64_t[]){0x0c, 0x13});
	assert_int_equal(points.ends[0].distance, 8);
	assert_false(points.ends_there);
}

/* The stack is extended before the first instruction that is cheap to probe. */
static void space(void **state)
{
	static const uint8_t code[] = {
		0x48, 0x83, 0xec, 0x18,       /* 00 sub $0x18, %rsp */
		0xe8, 0x00, 0x00, 0x00, 0x00, /* 04 call */
		0x48, 0x83, 0xc4, 0x18,       /* 09 add $0x18, %rsp */
		0xc3,                         /* 0d ret */
	};
	struct file file = {FILE_OF(code), .frame = BASE + 4, .frame_end = BASE + 0xd};
	struct probe_points points;

	(void)state;
	assert_int_equal(find(&file, sizeof(code), &points, NULL), 0);
	assert_int_equal(points.begin.address, BASE + 4);
	assert_int_equal(points.begin.distance, 0x20);
	assert_ends(&points, 1, (uint64_t[]){0x0d});
}

static void one_instruction(void **state)
{
	static const uint8_t code[] = {0xc3};
	static const uint8_t thunk[] = {0xe9, 0x00, 0x01, 0x00, 0x00};
	struct file file = {FILE_OF(code)}, other = {FILE_OF(thunk)};
	struct probe_points points;

	(void)state;
	assert_int_equal(find(&file, sizeof(code), &points, NULL), 0);
	assert_int_equal(points.begin.address, BASE);
	assert_true(points.ends_there);
	assert_int_equal(points.n, 0);
	assert_int_equal(find(&other, sizeof(thunk), &points, NULL), 0);
	assert_true(points.ends_there);
	assert_int_equal(points.n, 0);
}

/* The kernel does not probe instructions with a lock prefix. */
static void locked(void **state)
{
	static const uint8_t code[] = {
		0xf0, 0xff, 0x07, /* 00 lock incl (%rdi) */
		0x89, 0xf8,       /* 03 mov %edi, %eax */
		0xc3,             /* 05 ret */
	};
	struct file file = {FILE_OF(code)};
	struct probe_points points;
	struct error err;

	(void)state;
	/* incl is not on the list of instructions that leave the stack pointer alone */
	assert_int_equal(find(&file, sizeof(code), &points, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "first instruction"));
}

/* A five-byte nop, which the kernel replaces by a call: at the entry only. */
static void nop_of_five(void **state)
{
	static const uint8_t entry[] = {
		0x0f, 0x1f, 0x44, 0x00, 0x00, /* 00 nopl 0(%rax,%rax) */
		0x89, 0x7c, 0x24, 0xfc,       /* 05 mov %edi, -4(%rsp) */
		0x8b, 0x44, 0x24, 0xfc,       /* 09 mov -4(%rsp), %eax */
		0xc3,                         /* 0d ret */
	};
	static const uint8_t inside[] = {
		0x3e, 0x89, 0x7c, 0x24, 0xfc, /* 00 mov %edi, %ds:-4(%rsp), which the kernel does not probe */
		0x0f, 0x1f, 0x44, 0x00, 0x00, /* 05 nopl 0(%rax,%rax) */
		0x66, 0x0f, 0x1f, 0x40, 0x00, /* 0a nopw 0(%rax) */
		0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00, /* 0f nopl 0(%rax), of seven bytes */
		0x8b, 0x44, 0x24, 0xfc,                   /* 16 mov -4(%rsp), %eax */
		0xc3,                                     /* 1a ret */
	};
	static const uint8_t only[] = {
		0x3e, 0x89, 0x7c, 0x24, 0xfc, /* 00 mov %edi, %ds:-4(%rsp) */
		0x0f, 0x1f, 0x44, 0x00, 0x00, /* 05 nopl 0(%rax,%rax) */
		0xc3,                         /* 0a ret */
	};
	struct file first = {FILE_OF(entry)}, later = {FILE_OF(inside)}, none = {FILE_OF(only)};
	struct probe_points points;
	struct error err;

	(void)state;
	assert_int_equal(find(&first, sizeof(entry), &points, &err), 0);
	assert_int_equal(points.begin.address, BASE);
	assert_int_equal(find(&later, sizeof(inside), &points, &err), 0);
	assert_int_equal(points.begin.address, BASE + 0xf);
	find(&none, sizeof(only), &points, &err);
	assert_int_not_equal(points.begin.address, BASE + 5);
}

static void tail_calls(void **state)
{
	static const uint8_t code[] = {
		0x53,                               /* 00 push %rbx */
		0x85, 0xff,                         /* 01 test %edi, %edi */
		0x5b,                               /* 03 pop %rbx */
		0x0f, 0x84, 0x00, 0x10, 0x00, 0x00, /* 04 je, to outside */
		0x75, 0x02,                         /* 0a jne 0e */
		0xff, 0xe0,                         /* 0c jmp *%rax */
		0xff, 0x60, 0x18,                   /* 0e jmp *0x18(%rax) */
		0xff, 0x25, 0x00, 0x00, 0x00, 0x00, /* 11 jmp *0(%rip) */
		0xe9, 0x00, 0x10, 0x00, 0x00,       /* 17 jmp, to outside */
	};
	struct file file = {FILE_OF(code), .frame = BASE + 1, .frame_end = BASE + 4};
	struct probe_points points;
	struct error err;

	(void)state;
	assert_int_equal(find(&file, sizeof(code), &points, &err), 0);
	/* Jumps to fixed addresses come after the others. */
	assert_ends(&points, 5, (uint64_t[]){0x0c, 0x0e, 0x11, 0x04, 0x17});
	assert_int_equal(points.ends[3].condition, 1 + 4);
	assert_int_equal(points.ends[4].condition, 0);
	/* Without .eh_frame their targets are unknown. */
	file.unknown = true;
	assert_int_equal(find(&file, sizeof(code), &points, &err), -ENOTSUP);
}

static const uint8_t with_part[] = {
	0x53,                               /* 00 push %rbx */
	0x0f, 0x84, 0x05, 0x00, 0x00, 0x00, /* 01 je 0c */
	0x5b,                               /* 07 pop %rbx */
	0xc3,                               /* 08 ret */
	0xcc, 0xcc, 0xcc,                   /* 09 padding */
	0x90,                               /* 0c nop */
	0x5b,                               /* 0d pop %rbx */
	0xc3,                               /* 0e ret */
	0xcc,
};

static void parts(void **state)
{
	struct file file = {FILE_OF(with_part), .frame = BASE + 1, .frame_end = BASE + 8};
	struct probe_points points;
	struct error err;

	(void)state;
	assert_int_equal(find(&file, 9, &points, &err), -ENOTSUP);
	file.range = (struct code_range){BASE + 0x0c, BASE + 0x0f};
	assert_int_equal(find(&file, 9, &points, &err), 0);
	assert_ends(&points, 2, (uint64_t[]){0x08, 0x0e});
	/* One with a symbol is recognized even without a frame. */
	file.frame_end = BASE + 1;
	file.part = file.range;
	assert_int_equal(find(&file, 9, &points, &err), 0);
	assert_ends(&points, 2, (uint64_t[]){0x08, 0x0e});
	file.part.end = 0;
	assert_int_equal(find(&file, 9, &points, &err), 0);
	assert_ends(&points, 2, (uint64_t[]){0x08, 0x01});
}

/* Jumps right behind the end are for unreachable code. */
static void nowhere(void **state)
{
	static const uint8_t code[] = {
		0x53,             /* 00 push %rbx */
		0x74, 0x02,       /* 01 je 05 */
		0x5b,             /* 03 pop %rbx */
		0xc3,             /* 04 ret */
		0xcc, 0xcc, 0xcc, /* 05 padding */
	};
	struct file file = {FILE_OF(code), .frame = BASE + 1, .frame_end = BASE + 4};
	struct probe_points points;

	(void)state;
	assert_int_equal(find(&file, 5, &points, NULL), 0);
	assert_ends(&points, 1, (uint64_t[]){0x04});
}

/* lea table(%rip), %rdx; movslq (%rdx, %rdi, 4), %rax; add %rdx, %rax; jmp *%rax */
static const uint8_t pic_switch[] = {
	0x48, 0x8d, 0x15, 0x00, 0x10, 0x00, 0x00, /* 00 */
	0x48, 0x63, 0x04, 0xba,                   /* 07 */
	0x48, 0x01, 0xd0,                         /* 0b */
	0x3e, 0xff, 0xe0,                         /* 0e notrack */
	0xc3,                                     /* 11 ret */
};

/* jmp *table(, %rdi, 8) */
static const uint8_t table_switch[] = {
	0xff, 0x24, 0xfd, 0x00, 0x20, 0x00, 0x00, /* 00 */
	0xc3,                                     /* 07 ret */
};

static void switches(void **state)
{
	struct file file = {FILE_OF(pic_switch)}, table = {FILE_OF(table_switch), .table = 0x2000};
	struct probe_points points;
	struct error err;

	(void)state;
	assert_int_equal(find(&file, sizeof(pic_switch), &points, &err), 0);
	assert_ends(&points, 1, (uint64_t[]){0x11});
	table.first = BASE + 7;
	assert_int_equal(find(&table, sizeof(table_switch), &points, &err), 0);
	assert_ends(&points, 1, (uint64_t[]){0x07});
	/* A table of functions. */
	table.first = BASE + 0x700;
	assert_int_equal(find(&table, sizeof(table_switch), &points, &err), 0);
	assert_true(points.ends_there);
	assert_ends(&points, 1, (uint64_t[]){0x07});
	table.table = 0;
	assert_int_equal(find(&table, sizeof(table_switch), &points, &err), -ENOTSUP);
}

static void loops(void **state)
{
	static const uint8_t loop[] = {
		0xff, 0xcf, /* 00 dec %edi */
		0x75, 0xfc, /* 02 jne 00 */
		0xc3,       /* 04 ret */
	};
	static const uint8_t again[] = {
		0x53,       /* 00 push %rbx */
		0x85, 0xff, /* 01 test %edi, %edi */
		0x5b,       /* 03 pop %rbx */
		0x75, 0xfa, /* 04 jne 00: calls itself */
		0xc3,       /* 06 ret */
	};
	struct file file = {FILE_OF(loop)},
		    other = {FILE_OF(again), .frame = BASE + 1, .frame_end = BASE + 4};
	struct probe_points points;
	struct error err;

	(void)state;
	assert_int_equal(find(&file, sizeof(loop), &points, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "loop"));
	assert_int_equal(find(&other, sizeof(again), &points, &err), 0);
	assert_int_equal(points.begin.address, BASE);
	assert_ends(&points, 2, (uint64_t[]){0x06, 0x04});
	assert_int_equal(points.ends[1].condition, 1 + 5);
}

static void not_code(void **state)
{
	static const uint8_t middle[] = {
		0x74, 0x01,                   /* 00 je 03 */
		0xb8, 0xc3, 0x00, 0x00, 0x00, /* 02 mov $0xc3, %eax */
		0xc3,                         /* 07 ret */
	};
	static const uint8_t unknown[] = {0x55, 0x06, 0xc3};
	static const uint8_t cut[] = {0x55, 0xb8, 0x00};
	struct file file = {FILE_OF(middle)}, other = {FILE_OF(unknown)}, third = {FILE_OF(cut)};
	struct probe_points points;
	struct error err;

	(void)state;
	assert_int_equal(find(&file, sizeof(middle), &points, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "middle"));
	assert_int_equal(find(&other, sizeof(unknown), &points, &err), -ENOTSUP);
	assert_int_equal(find(&third, sizeof(cut), &points, &err), -ENOTSUP);
	assert_int_equal(find(&file, sizeof(middle) + 1, &points, &err), -ENOTSUP);
	assert_int_equal(find(&file, 0, &points, &err), -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),           cmocka_unit_test(space),
		cmocka_unit_test(one_instruction), cmocka_unit_test(locked),
		cmocka_unit_test(nop_of_five),     cmocka_unit_test(parts),
		cmocka_unit_test(tail_calls),      cmocka_unit_test(nowhere),
		cmocka_unit_test(loops),           cmocka_unit_test(switches),
		cmocka_unit_test(not_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
