/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* These functions are in assembly, to begin with an instruction that the kernel emulates under a uprobe. */
#include "capture/probe_set.h"

#include <stddef.h>
#include <stdlib.h>

#include "util/clock.h"

#if defined(__aarch64__)

/* gcc has no naked functions for arm64. Kernels emulate ret (arch/arm64/kernel/probes/decode-insn.c). */
__asm__(".text\n"
	".globl own_marker, own_renew, own_calibration\n"
	".type own_marker, %function\n"
	".type own_renew, %function\n"
	".type own_calibration, %function\n"
	".balign 4\n"
	"own_marker: ret\n"
	".size own_marker, . - own_marker\n"
	"own_renew: ret\n"
	".size own_renew, . - own_renew\n"
	"own_calibration: ret\n"
	".size own_calibration, . - own_calibration\n");

#else

__attribute__((naked, noinline, no_sanitize("undefined", "address"))) void own_marker(uint64_t number)
{
	(void)number;
	__asm__("push %rbp\n\tpop %rbp\n\tret");
}

__attribute__((naked, noinline, no_sanitize("undefined", "address"))) void own_renew(uint64_t ticks)
{
	(void)ticks;
	__asm__("push %rbp\n\tpop %rbp\n\tret");
}

__attribute__((naked, noinline, no_sanitize("undefined", "address"))) void own_calibration(const void *memory)
{
	(void)memory;
	__asm__("push %rbp\n\tpop %rbp\n\tret");
}

#endif

enum {
	ROUNDS = 150,
	OTHERS = 256 << 10, /* bytes of memory that a program touches between two hits */
	LINE = 64,
};

static int self_probes_by_value(const void *a, const void *b)
{
	const uint64_t *one = a, *two = b;

	return *one < *two ? -1 : *one > *two;
}

/*
 * The median of single calls. Other memory is touched between calls, as between the hits of a real program;
 * in a tight loop a call costs half as much.
 */
uint64_t own_calibration_ns(void)
{
	static volatile uint8_t others[OTHERS];
	uint64_t took[ROUNDS];

	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < OTHERS; i += LINE)
			others[i]++;
		took[round] = now_ns();
		own_calibration(NULL);
		took[round] = now_ns() - took[round];
	}
	qsort(took, ROUNDS, sizeof(took[0]), self_probes_by_value);
	return took[ROUNDS / 2];
}
