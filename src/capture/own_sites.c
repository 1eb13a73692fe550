/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A uprobe fires on an instruction, so these functions begin with one that the
 * kernel emulates, whatever the compiler would have made of them.
 */
#include "capture/own_sites.h"

#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__aarch64__)

/* gcc has no naked functions for it. Kernels emulate ret (arch/arm64/kernel/probes/decode-insn.c). */
__asm__(".text\n"
	".globl own_marker, own_calibration\n"
	".type own_marker, %function\n"
	".type own_calibration, %function\n"
	".balign 4\n"
	"own_marker: ret\n"
	".size own_marker, . - own_marker\n"
	"own_calibration: ret\n"
	".size own_calibration, . - own_calibration\n");

#else

__attribute__((naked, noinline, no_sanitize("undefined", "address"))) void own_marker(uint64_t number)
{
	(void)number;
	__asm__("push %rbp\n\tpop %rbp\n\tret");
}

__attribute__((naked, noinline, no_sanitize("undefined", "address"))) void own_calibration(const void *memory)
{
	(void)memory;
	__asm__("push %rbp\n\tpop %rbp\n\tret");
}

#endif

enum { ROUNDS = 60, CALLS = 50 };

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* The quickest round: on a busy machine others run in between. */
static uint64_t quickest_ns(void (*call)(const void *), const void *arg)
{
	uint64_t best = UINT64_MAX;

	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t begin = now_ns(), took;

		for (unsigned i = 0; i < CALLS; i++)
			call(arg);
		took = (now_ns() - begin) / CALLS;
		best = took < best ? took : best;
	}
	return best;
}

uint64_t own_calibration_ns(void)
{
	uint64_t memory[256] = {0};

	return quickest_ns(own_calibration, memory);
}

static void call_kernel(const void *unused)
{
	(void)unused;
	syscall(SYS_getppid);
}

uint64_t own_call_ns(void)
{
	return quickest_ns(call_kernel, NULL);
}
