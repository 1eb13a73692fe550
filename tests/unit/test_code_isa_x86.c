/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Lengths and operands of instructions, and the analysis of functions made of them. */

#include "unit.h"

#include <errno.h>
#include <string.h>

#include "code/isa/code.h"
#include "code/isa/x86.h"

/* From disassembled runtimes of Go 1.22 and 1.26, glibc 2.36, and from Intel's manual. */
static const struct {
	uint8_t length;
	uint8_t bytes[15];
} known[] = {
	{4, {0x49, 0x3b, 0x66, 0x10}},                               /* cmp 0x10(%r14), %rsp */
	{6, {0x0f, 0x86, 0x00, 0x01, 0x00, 0x00}},                   /* jbe */
	{2, {0x76, 0x10}},                                           /* jbe */
	{1, {0x55}},                                                 /* push %rbp */
	{5, {0xe8, 0, 0, 0, 0}},                                     /* call */
	{7, {0x80, 0x3d, 1, 2, 3, 4, 0}},                            /* cmpb $0, (%rip) */
	{10, {0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}},                  /* movabs */
	{9, {0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff}}, /* mov %fs:-8, %rax */
	{4, {0x64, 0x48, 0x8b, 0x01}},                               /* mov %fs:(%rcx), %rax */
	{8, {0x48, 0x8b, 0x84, 0x24, 0, 1, 0, 0}},                   /* mov 0x100(%rsp), %rax */
	{5, {0x66, 0x0f, 0x1f, 0x04, 0x00}},                         /* nopw: the prefix belongs to it */
	{9, {0x66, 0x0f, 0x1f, 0x84, 0x00, 0, 0, 0, 0}},             /* nopw */
	{5, {0xf0, 0x48, 0x0f, 0xb1, 0x0a}},                         /* lock cmpxchg */
	{5, {0x66, 0xb8, 0x34, 0x12, 0x90}},                    /* mov $0x1234, %ax: four bytes, see below */
	{3, {0xf6, 0xc1, 0x01}},                                /* test $1, %cl */
	{2, {0xf6, 0xd1}},                                      /* not %cl: no immediate */
	{6, {0xf7, 0xc1, 1, 0, 0, 0}},                          /* test $1, %ecx */
	{3, {0xc5, 0xf8, 0x77}},                                /* vzeroupper */
	{4, {0xc5, 0xfe, 0x6f, 0x06}},                          /* vmovdqu */
	{6, {0xc4, 0xe3, 0x7d, 0x39, 0xc1, 0x01}},              /* vextracti128 */
	{6, {0x66, 0x0f, 0x3a, 0x0f, 0xc1, 0x08}},              /* palignr */
	{2, {0x0f, 0x05}},                                      /* syscall */
	{2, {0x0f, 0x0b}},                                      /* ud2 */
	{4, {0xf3, 0x0f, 0x1e, 0xfa}},                          /* endbr64 */
	{2, {0xf3, 0xc3}},                                      /* repz ret */
	{3, {0x3e, 0xff, 0xe0}},                                /* notrack jmp *%rax */
	{8, {0x66, 0x66, 0x48, 0xe8, 0, 0, 0, 0}},              /* data16 rex.W call __tls_get_addr */
	{8, {0x66, 0x48, 0x81, 0xc0, 1, 0, 0, 0}},              /* REX.W overrides 66: a 4-byte immediate */
	{6, {0x67, 0xe8, 0, 0, 0, 0}},                          /* addr32 call */
	{6, {0x67, 0xa1, 1, 2, 3, 4}},                          /* mov of a 32-bit address */
	{5, {0x67, 0x0f, 0xb9, 0x40, 0x08}},                    /* ud1 0x8(%eax): clang's traps */
	{6, {0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x06}},              /* vmovdqu64 (%rsi), %zmm0 */
	{7, {0x62, 0xf1, 0x7c, 0x48, 0x10, 0x46, 0x01}},        /* vmovups 0x40(%rsi), %zmm0 */
	{10, {0x62, 0xf1, 0x7d, 0x48, 0x6f, 0x05, 0, 0, 0, 0}}, /* rip-relative */
	{7, {0x62, 0xf3, 0x7d, 0x20, 0x3f, 0xc1, 0x04}},        /* vpcmpub $4 */
	{6, {0x62, 0xf2, 0x7e, 0x48, 0x28, 0xc0}},              /* vpmovm2b */
	{6, {0x62, 0xf1, 0x7c, 0x48, 0x78, 0xc0}},              /* vcvttps2udq */
	{6, {0x62, 0xf5, 0x7c, 0x48, 0x58, 0xc1}},              /* vaddph */
	{4, {0xc5, 0xfb, 0x90, 0x06}},                          /* kmovd */
	{5, {0xc5, 0xf9, 0x70, 0xc0, 0xee}},                    /* vpshufd */
	{2, {0x8f, 0xc0}},                                      /* pop %rax by 8f */
};

static size_t length_of(size_t i)
{
	return known[i].bytes[0] == 0x66 && known[i].bytes[1] == 0xb8 ? 4 : known[i].length;
}

static void lengths(void **state)
{
	struct x86_insn insn;

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		assert_true(x86_decode(known[i].bytes, sizeof(known[i].bytes), &insn));
		assert_int_equal(insn.length, length_of(i));
		/* Exactly this many bytes are enough. */
		assert_true(x86_decode(known[i].bytes, insn.length, &insn));
		assert_false(x86_decode(known[i].bytes, insn.length - 1u, &insn));
	}
}

static void refusals(void **state)
{
	static const uint8_t unknown[][15] = {
		{0x06},                         /* push %es: not in 64-bit mode */
		{0x62, 0xf4, 0x7c, 0x18, 0xff}, /* EVEX of map 4: APX */
		{0x62, 0xf9, 0x7c, 0x48, 0x6f}, /* EVEX with a bit set that must be 0 */
		{0x62, 0xf1, 0x78, 0x48, 0x6f}, /* EVEX with a bit clear that must be 1 */
		{0x8f, 0xe8, 0x78, 0xc0, 0x00}, /* XOP */
		{0xc4, 0x00, 0x00, 0x00},       /* VEX without a map */
		{0xea},                         /* far jump */
		{0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66},
	};
	struct x86_insn insn;

	(void)state;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		assert_false(x86_decode(unknown[i], sizeof(unknown[i]), &insn));
}

static void operands(void **state)
{
	static const uint8_t load[] = {0x4c, 0x8b, 0x35, 0xf8, 0xff, 0xff, 0xff};
	static const uint8_t jump[] = {0x7f, 0x80};
	struct x86_insn insn;

	(void)state;
	assert_true(x86_decode(load, sizeof(load), &insn));
	assert_true(insn.rip_relative);
	assert_int_equal(insn.reg, 14);
	assert_int_equal(insn.disp, -8);
	assert_true(x86_decode(jump, sizeof(jump), &insn));
	assert_true(insn.relative && x86_is_jcc(&insn));
	assert_int_equal(insn.imm, -128);
}

/* A function as the compiler generates it. `check` is at 0x2000, the callee at 0x5000. */
static const uint8_t function[] = {
	0x49, 0x3b, 0x66, 0x10,                   /* 00 cmp 0x10(%r14), %rsp */
	0x76, 0x40,                               /* 04 jbe */
	0x55,                                     /* 06 push %rbp */
	0x48, 0x89, 0xe5,                         /* 07 mov %rsp, %rbp */
	0x48, 0x83, 0xec, 0x18,                   /* 0a sub $0x18, %rsp */
	0x80, 0x3d, 0xeb, 0x0f, 0x00, 0x00, 0x00, /* 0e cmpb $0, 0x2000 */
	0x90,                                     /* 15 nop: alignment of the jump */
	0x75, 0x05,                               /* 16 jne */
	0xbb, 0x04, 0x00, 0x00, 0x00,             /* 18 mov $4, %ebx */
	0xb9, 0x01, 0x00, 0x00, 0x00,             /* 1d mov $1, %ecx */
	0xe8, 0xd9, 0x3f, 0x00, 0x00,             /* 22 call 0x5000 */
	0xe8, 0xd4, 0x3f, 0x00, 0x00,             /* 27 call 0x5000 */
	0x48, 0x8b, 0x0d, 0xcd, 0x0f, 0x00, 0x00, /* 2c mov 0x2000, %rcx */
	0x48, 0x85, 0xc9,                         /* 33 test %rcx, %rcx */
	0x74, 0x00,                               /* 36 je */
	0xc3,                                     /* 38 ret */
};

static const struct code code = {.bytes = function, .size = sizeof(function), .address = 0x1000};

static void prologue(void **state)
{
	static const uint8_t none[] = {0x48, 0x31, 0xc0, 0x55};
	size_t offset, size;

	(void)state;
	assert_int_equal(code_prologue(&code, &offset), 0);
	assert_int_equal(offset, 6);
	assert_int_equal(code_frame(&code, &size), 0);
	assert_int_equal(size, 0x18);
	assert_int_equal(code_prologue(&(struct code){.bytes = none, .size = sizeof(none)}, &offset),
			 -ENOENT);
	/* The jump is right before the push. */
	assert_int_equal(code_stack_jump(&code, &offset), 0);
	assert_int_equal(offset, 4);
	assert_int_equal(code_stack_jump(&(struct code){.bytes = function + 6, .size = 20}, &offset),
			 -ENOENT);
	assert_int_equal(code_stack_jump(&(struct code){.bytes = none, .size = sizeof(none)}, &offset),
			 -ENOENT);
}

static void calls(void **state)
{
	struct call_site sites[4];

	(void)state;
	assert_int_equal(code_calls(&code, 0x5000, sites, 4), 2);
	assert_int_equal(sites[0].offset, 0x22);
	assert_int_equal(sites[0].args[1], 4);
	assert_int_equal(sites[0].args[2], 1);
	/* A call may change all registers. */
	assert_int_equal(sites[1].offset, 0x27);
	assert_int_equal(sites[1].args[1], CONSTANT_UNKNOWN);
	assert_int_equal(code_calls(&code, 0x5001, sites, 4), 0);
}

static void checks(void **state)
{
	size_t offsets[4];
	uint64_t flag;

	(void)state;
	assert_int_equal(code_flag(&code, &flag), 0);
	assert_int_equal(flag, 0x2000);
	assert_int_equal(code_flag_checks(&code, flag, offsets, 4), 2);
	assert_int_equal(offsets[0], 0x16);
	assert_int_equal(offsets[1], 0x36);
	assert_int_equal(code_flag_checks(&code, flag + 1, offsets, 4), 0);
}

/* In a plugin (Go 1.26.8 and 1.22.12, runtime.park_m): through an address in a table, at 0x2000. */
static void test_checks_in_a_plugin(void **state)
{
	static const uint8_t byte[] = {
		0x4c, 0x8b, 0x3d, 0xf9, 0x0f, 0, 0,             /* mov 0xff9(%rip), %r15 */
		0x41, 0x80, 0xbf, 0x70, 0x06, 0, 0, 0,          /* cmpb $0, 0x670(%r15) */
		0x75, 0x06,                                     /* jne */
		0x4c, 0x8b, 0x3d, 0xe8, 0x0f, 0, 0,             /* mov 0xfe8(%rip), %r15 */
		0x41, 0x80, 0xbf, 0x71, 0x06, 0, 0, 0,          /* cmpb $0, 0x671(%r15) */
		0x75, 0x06,                                     /* jne */
		0x4c, 0x8b, 0x35, 0xd7, 0x0f, 0, 0,             /* mov 0xfd7(%rip), %r14: not the register */
		0x41, 0x80, 0xbe, 0x70, 0x06, 0, 0, 0, 0x75, 0, /* cmpb $0, 0x670(%r14); jne */
	};
	static const uint8_t word[] = {
		0x4c, 0x8b, 0x3d, 0xf9, 0x0f, 0, 0, /* mov 0xff9(%rip), %r15 */
		0x49, 0x8b, 0xb7, 0xb0, 0x02, 4, 0, /* mov 0x402b0(%r15), %rsi */
		0x48, 0x85, 0xf6, 0x75, 0x06,       /* test %rsi, %rsi; jne */
	};
	const struct code of_byte = {.bytes = byte, .size = sizeof(byte), .address = 0x1000};
	const struct code of_word = {.bytes = word, .size = sizeof(word), .address = 0x1000};
	size_t offsets[4];
	uint64_t flag;

	(void)state;
	assert_int_equal(code_flag(&of_byte, &flag), 0);
	assert_true(flag == FLAG_BY_TABLE(0x2000ull, 0x670));
	assert_int_equal(code_flag_checks(&of_byte, flag, offsets, 4), 1);
	assert_int_equal(offsets[0], 15);
	assert_int_equal(code_flag_checks(&of_byte, flag + 1, offsets, 4), 1); /* as for --alloc */
	assert_int_equal(offsets[0], 32);
	assert_int_equal(code_flag_checks(&of_byte, 0x2000, offsets, 4), 0);
	assert_int_equal(code_flag(&of_word, &flag), 0);
	assert_true(flag == FLAG_BY_TABLE(0x2000ull, 0x402b0));
	assert_int_equal(code_flag_checks(&of_word, flag, offsets, 4), 1);
	assert_int_equal(offsets[0], 17);
}

static void references(void **state)
{
	struct reference found[4];

	(void)state;
	assert_int_equal(code_references(&code, found, 4), 2);
	assert_int_equal(found[1].address, 0x2000);
	assert_int_equal(found[1].use, USE_LOAD);
	assert_int_equal(found[1].size, 8);
}

static void thread_local_offsets(void **state)
{
	static const uint8_t fixed[] = {0x64, 0x48, 0x89, 0x14, 0x25, 0xe8, 0xff, 0xff, 0xff};
	static const uint8_t pie[] = {0x48, 0xc7, 0xc1, 0xf8, 0xff, 0xff, 0xff, 0x64, 0x48, 0x89, 0x11};
	static const uint8_t got[] = {0x48, 0x8b, 0x0d, 0x00, 0x01, 0, 0, 0x64, 0x48, 0x8b, 0x01};
	int64_t offset;
	uint64_t slot;

	(void)state;
	assert_int_equal(code_tls(&(struct code){.bytes = fixed, .size = sizeof(fixed)}, &offset, &slot), 0);
	assert_int_equal(offset, -24);
	assert_int_equal(code_tls(&(struct code){.bytes = pie, .size = sizeof(pie)}, &offset, &slot), 0);
	assert_int_equal(offset, -8);
	assert_int_equal(code_tls(&(struct code){.bytes = got, .size = sizeof(got), .address = 0x1000},
				  &offset, &slot),
			 -ENOENT);
	assert_int_equal(slot, 0x1107);
}

/* The end of runtime.stackalloc in Go 1.26.8, from the check on, with the runtime's own events in between. */
static const uint8_t stackalloc[] = {
	0x74, 0x08,                               /* 00 je 0a */
	0x48, 0x89, 0x54, 0x24, 0x68,             /* 02 mov %rdx, 0x68(%rsp) */
	0x48, 0x31, 0xd2,                         /* 07 xor %rdx, %rdx */
	0x8b, 0x8c, 0x24, 0x88, 0x00, 0x00, 0x00, /* 0a mov 0x88(%rsp), %ecx */
	0x89, 0xc9,                               /* 11 mov %ecx, %ecx */
	0x48, 0x8d, 0x1c, 0x0a,                   /* 13 lea (%rdx,%rcx), %rbx */
	0x48, 0x89, 0xd0,                         /* 17 mov %rdx, %rax */
	0x48, 0x83, 0xc4, 0x78,                   /* 1a add $0x78, %rsp */
	0x5d,                                     /* 1e pop %rbp */
	0xc3,                                     /* 1f ret */
	0x48, 0x8d, 0x05, 0x00, 0x01, 0x00, 0x00, /* 20 lea 0x1127, %rax */
	0xbb, 0x01, 0x00, 0x00, 0x00,             /* 27 mov $1, %ebx */
	0xe8, 0xcf, 0x3f, 0x00, 0x00,             /* 2c call 0x5000 */
	0xe8, 0xca, 0x4f, 0x00, 0x00,             /* 31 call 0x6000 */
};

static int slice_result(const uint8_t *bytes, size_t size, struct value_place *base,
			struct value_place *added)
{
	return code_slice_result(&(struct code){.bytes = bytes, .size = size, .address = 0x1000}, 0, base,
				 added);
}

static void slice_results(void **state)
{
	uint8_t other[sizeof(stackalloc)];
	struct value_place base, added;

	(void)state;
	assert_int_equal(slice_result(stackalloc, sizeof(stackalloc), &base, &added), 0);
	assert_int_equal(base.on_stack, 0);
	assert_int_equal(base.reg, 2);
	assert_int_equal(added.on_stack, 1);
	assert_int_equal(added.slot, 0x88);
	memcpy(other, stackalloc, sizeof(other));
	other[0] = 0x75; /* jne: falls through to the end, through code that is not followed */
	assert_int_equal(slice_result(other, sizeof(other), &base, &added), -ENOENT);
	other[0] = 0x74;
	other[0x16] = 0x0b; /* lea (%rbx,%rcx): not the sum of the returned value */
	assert_int_equal(slice_result(other, sizeof(other), &base, &added), -ENOENT);
	other[0x16] = 0x0a;
	other[0x19] = 0xd8; /* mov %rbx, %rax: a sum, not a place */
	assert_int_equal(slice_result(other, sizeof(other), &base, &added), -ENOENT);
	for (size_t size = 0; size < 0x20; size++)
		assert_int_equal(slice_result(stackalloc, size, &base, &added), -ENOENT);
	other[0] = 0xeb; /* no check */
	assert_int_equal(slice_result(other, sizeof(other), &base, &added), -ENOENT);
}

static void receivers(void **state)
{
	const struct code end = {.bytes = stackalloc, .size = sizeof(stackalloc), .address = 0x1000};
	uint64_t variable;

	(void)state;
	assert_int_equal(code_receiver(&end, 0x5000, &variable), 0);
	assert_int_equal(variable, 0x1127);
	/* Nothing is known after a call. */
	assert_int_equal(code_receiver(&end, 0x6000, &variable), -ENOENT);
	assert_int_equal(code_receiver(&end, 0x7000, &variable), -ENOENT);
}

/* Every function truncated at every byte: nothing is read past the end (the sanitizer checks). */
static void cut_off(void **state)
{
	(void)state;
	for (size_t size = 0; size < sizeof(function); size++) {
		struct code cut = {.bytes = function, .size = size, .address = 0x1000};
		struct call_site sites[4];
		size_t offsets[4];

		assert_true(code_calls(&cut, 0x5000, sites, 4) <= 2);
		assert_true(code_flag_checks(&cut, 0x2000, offsets, 4) <= 2);
	}
}

/* Go 1.17 to 1.20 have no push: the probe point is the jump of the stack check. */
static void test_prologue_without_a_push(void **state)
{
	static const uint8_t checked[] = {0x49, 0x3b, 0x66, 0x10,          /* cmp 0x10(%r14), %rsp */
					  0x0f, 0x86, 0xa1, 0,    0,    0, /* jbe */
					  0x48, 0x83, 0xec, 0x58,          /* sub $0x58, %rsp */
					  0x48, 0x89, 0x6c, 0x24, 0x50,    /* mov %rbp, 0x50(%rsp) */
					  0x48, 0x8d, 0x6c, 0x24, 0x50};   /* lea 0x50(%rsp), %rbp */
	static const uint8_t big[] = {0x48, 0x83, 0xc4, 0x80,              /* add $-128, %rsp */
				      0x48, 0x89, 0x6c, 0x24, 0x78};       /* mov %rbp, 0x78(%rsp) */
	static const uint8_t frameless[] = {0x49, 0x3b, 0x66, 0x10, 0x76, 0x10, 0x31, 0xc0, 0xc3};
	struct code old = {.bytes = checked, .size = sizeof(checked)};
	size_t offset = 0, size = 0;

	(void)state;
	assert_int_equal(code_prologue(&old, &offset), 0);
	assert_int_equal(offset, 4);
	assert_int_equal(code_frame(&old, &size), 0);
	assert_int_equal(size, 0x50);
	old = (struct code){.bytes = big, .size = sizeof(big)};
	assert_int_equal(code_frame(&old, &size), 0);
	assert_int_equal(size, 0x78);
	assert_int_equal(code_prologue(&old, &offset), -ENOENT); /* no instruction that is emulated */
	old = (struct code){.bytes = frameless, .size = sizeof(frameless)};
	assert_int_equal(code_prologue(&old, &offset), -ENOENT);
	for (old = (struct code){.bytes = checked, .size = sizeof(checked)}; old.size > 18; old.size--)
		;
	assert_int_equal(code_prologue(&old, &offset), -ENOENT); /* truncated while the frame is made */
}

/* A call that is skipped by a jump, with its event. Nops in between make no difference. */
static void test_guards(void **state)
{
	static const uint8_t bytes[] = {
		0x84, 0xc9,                               /* test %cl, %cl */
		0x74, 0x16,                               /* je, at 2 */
		0x90,                                     /* nop */
		0xb8, 0x2c, 0,    0,    0,                /* mov $44, %eax */
		0x48, 0xc7, 0xc3, 0xff, 0xff, 0xff, 0xff, /* mov $-1, %rbx */
		0x31, 0xc9,                               /* xor %ecx, %ecx */
		0x0f, 0x1f, 0x00,                         /* nopl (%rax) */
		0xe8, 0xe5, 0xff, 0x00, 0x00,             /* call, at 22, to 0x11000 */
		0x74, 0x11,                               /* je, at 27 */
		0xb8, 0x2b, 0,    0,    0,                /* mov $43, %eax */
		0xe8, 0xd9, 0xff, 0x00, 0x00,             /* call, at 34: another event */
		0xb8, 0x2c, 0,    0,    0,                /* mov $44, %eax: after a call, not a jump */
		0xe8, 0xcf, 0xff, 0x00, 0x00,             /* call, at 44 */
	};
	struct code old = {.bytes = bytes, .size = sizeof(bytes), .address = 0x1000};
	size_t offsets[4] = {0};

	(void)state;
	assert_int_equal(code_guards(&old, 0x11000, 44, offsets, 4), 1);
	assert_int_equal(offsets[0], 2);
	assert_int_equal(code_guards(&old, 0x11000, 43, offsets, 4), 1);
	assert_int_equal(offsets[0], 27);
	assert_int_equal(code_guards(&old, 0x11000, 1, offsets, 4), 0);
	assert_int_equal(code_guards(&old, 0x5000, 44, offsets, 4), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(lengths),     cmocka_unit_test(refusals),
	cmocka_unit_test(operands),    cmocka_unit_test(prologue),
	cmocka_unit_test(calls),       cmocka_unit_test(checks),
	cmocka_unit_test(references),  cmocka_unit_test(thread_local_offsets),
	cmocka_unit_test(cut_off),     cmocka_unit_test(slice_results),
	cmocka_unit_test(receivers),   cmocka_unit_test(test_prologue_without_a_push),
	cmocka_unit_test(test_guards), cmocka_unit_test(test_checks_in_a_plugin),
};

UNIT_TESTS(tests, NULL, NULL);
