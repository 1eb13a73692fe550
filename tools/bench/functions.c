/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Calls a small function in a loop. Prints the CPU time of a call, in ns, ten times a second. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static volatile int sink;

__attribute__((noinline, noclone, noipa)) void other(int x)
{
	sink += x;
}

/* Has a frame, and a symbol at its return, for bpftrace. */
void callee(int x);
__asm__(".text\n"
	".globl callee, callee_return\n"
	".type callee, @function\n"
	".type callee_return, @function\n"
	"callee: .cfi_startproc\n"
	"push %rbx\n"
	".cfi_def_cfa_offset 16\n"
	"call other\n"
	"pop %rbx\n"
	".cfi_def_cfa_offset 8\n"
	"callee_return: ret\n"
	".cfi_endproc\n"
	".size callee, . - callee\n"
	".size callee_return, . - callee_return\n");

static double now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

int main(void)
{
	alarm(300);
	for (;;) {
		double end = now(CLOCK_MONOTONIC) + 1e8, from = now(CLOCK_THREAD_CPUTIME_ID);
		long calls = 0;

		while (now(CLOCK_MONOTONIC) < end) {
			for (int i = 0; i < 500; i++, calls++)
				callee(1);
		}
		printf("%.0f\n", (now(CLOCK_THREAD_CPUTIME_ID) - from) / (double)calls);
		fflush(stdout);
	}
}
