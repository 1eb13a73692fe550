/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Walks over stacks that are made here word by word. */
#include "unit.h"

#include <string.h>

#include "code/symbol/native_walk.h"

#define CODE  0x400000ull
#define STACK 0x7f0000001000ull /* of a thread */
#define GO    0xc000001000ull   /* of a goroutine */
#define WORDS 64u

#if !UNWIND_IS_ARM64

/* Each rule applies to 16 bytes of code: AT(i) is a return address there. */
#define AT(i) (CODE + 16 * (i) + 5)
#define STEP  LEAF /* needs nothing but the stack */
enum { LEAF, PUSHED, FRAMED, CHAIN, START, SIGNAL, REALIGNED, VFORK, RULES };

static const struct unwind_row rows[RULES] = {
	{16 * LEAF, UNWIND_RULE(UNWIND_SP, 0, 1)},
	{16 * PUSHED, UNWIND_RULE(UNWIND_SP, 2, 3)}, /* CFA = rsp + 24, rbp at CFA - 16 */
	{16 * FRAMED, UNWIND_RULE(UNWIND_BP, 2, 2)},
	{16 * CHAIN, UNWIND_CHAIN},
	{16 * START, UNWIND_END},
	{16 * SIGNAL, UNWIND_SIGNAL},
	{16 * REALIGNED, UNWIND_RULE(UNWIND_BP_DEREF, UNWIND_RBP_AT_RBP, -1)},
	{16 * VFORK, UNWIND_RULE(UNWIND_SP_LINK, 0, 0)},
};

#else

/* Each rule applies to 16 bytes of code: AT(i) is a return address there. */
#define AT(i) (CODE + 16 * (i) + 5)
#define STEP  ALONE
enum { LEAF, PAIR, FRAME, FP_FRAME, ALONE, APART, CHAIN, START, SIGNAL, RULES };

static const struct unwind_row rows[RULES] = {
	{16 * LEAF, UNWIND_RULE(UNWIND_SP_LINK, 0, 1)},
	{16 * PAIR, UNWIND_RULE(UNWIND_SP_PAIR, 4, 4)},
	{16 * FRAME, UNWIND_RULE(UNWIND_SP_FRAME, 1, 6)},
	{16 * FP_FRAME, UNWIND_RULE(UNWIND_FP_FRAME, 0, 2)},
	{16 * ALONE, UNWIND_RULE(UNWIND_SP_ALONE, 2, 2)},
	{16 * APART, UNWIND_RULE(UNWIND_SP_APART, UNWIND_APART(3, 1), 4)},
	{16 * CHAIN, UNWIND_CHAIN},
	{16 * START, UNWIND_END},
	{16 * SIGNAL, UNWIND_SIGNAL},
};

#endif

static const struct unwind_page page = {0, RULES};
static const struct unwind_mapping mapping = {
	.start = CODE, .end = CODE + 16 * RULES, .base = CODE, .pages = 1};
static const struct unwind_tables tables = {rows, &page, &mapping, RULES, 1, 1};

struct memory {
	uint64_t stack[WORDS], go[WORDS];
};

static size_t read_piece(const uint64_t *words, uint64_t base, uint64_t address, void *to, size_t size)
{
	uint64_t at = address - base, left;

	if (at >= WORDS * 8)
		return 0;
	left = WORDS * 8 - at;
	size = left < size ? left : size;
	memcpy(to, (const char *)words + at, size);
	return size;
}

static size_t read_memory(void *ctx, uint64_t address, void *to, size_t size)
{
	const struct memory *memory = ctx;
	size_t n = read_piece(memory->stack, STACK, address, to, size);

	return n ? n : read_piece(memory->go, GO, address, to, size);
}

/* The address of a word. */
#define ON_STACK(i) (STACK + 8 * (i))
#define ON_GO(i)    (GO + 8 * (i))

static void expect(struct memory *memory, struct unwind_regs regs, uint16_t flags, const uint64_t *expected,
		   size_t n)
{
	uint64_t pcs[STACK_DEPTH];
	uint16_t got;

	assert_int_equal(native_walk(&tables, (struct unwind_space){.count = 1}, regs, read_memory, memory,
				     pcs, STACK_DEPTH, &got),
			 n);
	assert_memory_equal(pcs, expected, n * sizeof(*pcs));
	assert_int_equal(got, RAW_STACK_NATIVE | flags);
}

#define EXPECT(memory, regs, flags, ...)                                                                     \
	do {                                                                                                 \
		const uint64_t expected[] = {__VA_ARGS__};                                                   \
		expect(memory, regs, flags, expected, sizeof(expected) / sizeof(expected[0]));               \
	} while (0)

#if !UNWIND_IS_ARM64

static void through_frames(void **state)
{
	struct memory memory = {.stack = {AT(PUSHED),                 /* the leaf's return address */
					  7, ON_STACK(8), AT(FRAMED), /* of PUSHED: rbp, return address */
					  [8] = ON_STACK(20), AT(LEAF), AT(START)}};
	struct unwind_regs regs = {.ip = AT(LEAF), .sp = ON_STACK(0), .bp = 3};

	(void)state;
	EXPECT(&memory, regs, 0, AT(LEAF), AT(PUSHED), AT(FRAMED), AT(LEAF), AT(START));
	/* a return address of 0 also ends the walk */
	memory.stack[10] = 0;
	EXPECT(&memory, regs, 0, AT(LEAF), AT(PUSHED), AT(FRAMED), AT(LEAF));
	/* not code */
	memory.stack[10] = CODE + 0x1000;
	EXPECT(&memory, regs, RAW_STACK_BROKEN, AT(LEAF), AT(PUSHED), AT(FRAMED), AT(LEAF));
	/* rbp leads down, or nowhere */
	memory.stack[2] = ON_STACK(0);
	EXPECT(&memory, regs, RAW_STACK_BROKEN, AT(LEAF), AT(PUSHED), AT(FRAMED));
	memory.stack[2] = 0x123450;
	EXPECT(&memory, regs, RAW_STACK_BROKEN, AT(LEAF), AT(PUSHED), AT(FRAMED));
}

static void through_a_signal(void **state)
{
	struct memory memory = {.stack = {AT(SIGNAL), [1 + UNWIND_UCONTEXT_RBP / 8] = 9,
					  [1 + UNWIND_UCONTEXT_RSP / 8] = ON_STACK(40),
					  AT(LEAF) - 1, [40] = AT(START)}};
	struct unwind_regs regs = {.ip = AT(LEAF), .sp = ON_STACK(0)};

	(void)state;
	EXPECT(&memory, regs, 0, AT(LEAF), AT(SIGNAL), AT(LEAF), AT(START));
}

static void through_a_realigned_stack(void **state)
{
	struct memory memory = {.stack = {[4] = ON_STACK(21), ON_STACK(50), [20] = AT(START), ON_STACK(50)}};
	struct unwind_regs regs = {.ip = AT(REALIGNED), .sp = ON_STACK(0), .bp = ON_STACK(5)};

	(void)state;
	EXPECT(&memory, regs, 0, AT(REALIGNED), AT(START));
}

static void out_of_vfork(void **state)
{
	struct memory memory = {.stack = {AT(START)}};
	struct unwind_regs regs = {.ip = AT(VFORK), .sp = ON_STACK(0), .link = AT(LEAF)};

	(void)state;
	EXPECT(&memory, regs, 0, AT(VFORK), AT(LEAF), AT(START));
	regs.link = 0;
	EXPECT(&memory, regs, RAW_STACK_BROKEN, AT(VFORK));
	/* only a leaf uses rdi */
	regs = (struct unwind_regs){.ip = AT(LEAF), .sp = ON_STACK(0), .link = AT(LEAF)};
	memory.stack[0] = AT(VFORK);
	EXPECT(&memory, regs, RAW_STACK_BROKEN, AT(LEAF), AT(VFORK));
}

/* C on a thread's stack, called by Go, called by C: down to the goroutine's stack, and up again. */
static void through_go(void **state)
{
	struct memory memory = {.stack = {AT(CHAIN), [10] = ON_STACK(11), 77, AT(LEAF), AT(START)},
				.go = {[4] = ON_GO(8), AT(CHAIN), [8] = ON_STACK(10), AT(CHAIN)}};
	struct unwind_regs regs = {.ip = AT(LEAF), .sp = ON_STACK(0), .bp = ON_GO(4)};

	(void)state;
	/* 10 and 11: crosscall2's two slots */
	EXPECT(&memory, regs, 0, AT(LEAF), AT(CHAIN), AT(CHAIN), AT(CHAIN), AT(LEAF), AT(START));
	/* a chain that goes down a little, or in a circle */
	memory.go[8] = ON_GO(4);
	EXPECT(&memory, regs, RAW_STACK_BROKEN, AT(LEAF), AT(CHAIN), AT(CHAIN), AT(CHAIN));
	/* it ends with 0 */
	memory.go[8] = 0;
	EXPECT(&memory, regs, 0, AT(LEAF), AT(CHAIN), AT(CHAIN), AT(CHAIN));
}

#else

static void through_frames(void **state)
{
	/* A leaf with a word of its own; sp is at 1 in PAIR, 5 in FRAME, 11 in FP_FRAME. */
	struct memory memory = {.stack = {[1] = ON_STACK(20),
					  AT(FRAME),
					  [5] = 1,
					  ON_STACK(22),
					  AT(FP_FRAME),
					  [22] = 77,
					  AT(ALONE),
					  AT(APART),
					  [27] = AT(START),
					  0,
					  88}};
	struct unwind_regs regs = {.ip = AT(LEAF), .sp = ON_STACK(0), .bp = 3, .link = AT(PAIR)};

	(void)state;
	EXPECT(&memory, regs, 0, AT(LEAF), AT(PAIR), AT(FRAME), AT(FP_FRAME), AT(ALONE), AT(APART),
	       AT(START));
	/* signed return addresses */
	memory.stack[2] |= 0x1234000000000000;
	EXPECT(&memory, regs, 0, AT(LEAF), AT(PAIR), AT(FRAME), AT(FP_FRAME), AT(ALONE), AT(APART),
	       AT(START));
	memory.stack[27] = 0;
	EXPECT(&memory, regs, 0, AT(LEAF), AT(PAIR), AT(FRAME), AT(FP_FRAME), AT(ALONE), AT(APART));
	/* x29 leads down, or nowhere */
	memory.stack[6] = ON_STACK(0);
	EXPECT(&memory, regs, RAW_STACK_BROKEN, AT(LEAF), AT(PAIR), AT(FRAME), AT(FP_FRAME));
	memory.stack[6] = 0x123450;
	EXPECT(&memory, regs, RAW_STACK_BROKEN, AT(LEAF), AT(PAIR), AT(FRAME), AT(FP_FRAME));
}

/* Only a leaf uses the link register. */
static void only_leaves(void **state)
{
	struct memory memory = {.stack = {[1] = 5, AT(LEAF)}};
	struct unwind_regs regs = {.ip = AT(PAIR), .sp = ON_STACK(1), .link = AT(START)};

	(void)state;
	EXPECT(&memory, regs, RAW_STACK_BROKEN, AT(PAIR), AT(LEAF));
	regs = (struct unwind_regs){.ip = AT(LEAF), .sp = ON_STACK(1)};
	EXPECT(&memory, regs, RAW_STACK_BROKEN, AT(LEAF));
}

/* The interrupted function may be a leaf. */
static void through_a_signal(void **state)
{
	struct memory memory = {.stack = {[1] = 9, AT(START), ON_STACK(40), AT(LEAF) - 1}};
	struct unwind_regs regs = {.ip = AT(SIGNAL), .sp = ON_STACK(1) - UNWIND_ARM64_X29};

	(void)state;
	EXPECT(&memory, regs, 0, AT(SIGNAL), AT(LEAF), AT(START));
}

/* By x29 alone: to another stack, and up again, with the stack pointer assumed to be at the pair. */
static void through_go(void **state)
{
	struct memory memory = {.stack = {[10] = ON_STACK(20), AT(PAIR), [20] = 7, AT(START)},
				.go = {[4] = ON_GO(8), AT(CHAIN), [8] = ON_STACK(10), AT(CHAIN)}};
	struct unwind_regs regs = {.ip = AT(LEAF), .sp = ON_STACK(0), .bp = ON_GO(4), .link = AT(CHAIN)};

	(void)state;
	EXPECT(&memory, regs, 0, AT(LEAF), AT(CHAIN), AT(CHAIN), AT(CHAIN), AT(PAIR), AT(START));
	memory.go[8] = ON_GO(4);
	EXPECT(&memory, regs, RAW_STACK_BROKEN, AT(LEAF), AT(CHAIN), AT(CHAIN), AT(CHAIN));
	memory.go[8] = 0;
	EXPECT(&memory, regs, 0, AT(LEAF), AT(CHAIN), AT(CHAIN), AT(CHAIN));
}

#endif

static void is_cut(void **state)
{
	struct memory memory;
	struct unwind_regs regs = {.ip = AT(STEP), .sp = ON_STACK(0)};
	uint64_t pcs[8];
	uint16_t flags;

	(void)state;
	for (size_t i = 0; i < WORDS; i++)
		memory.stack[i] = AT(STEP);
	assert_int_equal(native_walk(&tables, (struct unwind_space){.count = 1}, regs, read_memory, &memory,
				     pcs, 8, &flags),
			 8);
	assert_int_equal(flags, RAW_STACK_NATIVE | RAW_STACK_CUT);
	/* an unaligned address */
	regs.sp++;
	EXPECT(&memory, regs, RAW_STACK_BROKEN, AT(STEP));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(through_frames), cmocka_unit_test(through_a_signal),
#if UNWIND_IS_ARM64
	cmocka_unit_test(only_leaves),
#else
	cmocka_unit_test(through_a_realigned_stack),
	cmocka_unit_test(out_of_vfork),
#endif
	cmocka_unit_test(through_go),     cmocka_unit_test(is_cut),
};

UNIT_TESTS(tests, NULL, NULL);
