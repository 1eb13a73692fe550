/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Code that is generated at run time, as by a JIT compiler, and named in /tmp/perf-PID.map. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target.h"

/* Counts down from its first argument, then calls the second. */
static const unsigned char code[] = {
#if defined(__x86_64__)
	0x55,             /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
	0x48, 0xff, 0xcf, /* dec %rdi */
	0x75, 0xfb,       /* jne to the dec */
	0xff, 0xd6,       /* call *%rsi */
	0x5d,             /* pop %rbp */
	0xc3,             /* ret */
#else
	0,
#endif
};

typedef void (*generated)(long turns, void (*then)(void));

static FRAME void rest(void)
{
	pause_us(1000);
	NO_TAIL_CALL();
}

static void write_name(const void *at)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	file = fopen(path, "w");
	if (!file)
		fail(path);
	fprintf(file, "%lx %zx JS:*count /srv/app.js:12:3\n", (unsigned long)at, sizeof(code));
	fclose(file);
}

static FRAME void *runner(void *arg)
{
	generated run;

	memcpy(&run, &arg, sizeof(run));
	for (;;) {
		run(5000000, rest);
		++*turns;
	}
	return NULL;
}

void mode_jit(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (sizeof(code) == 1) {
		errno = ENOSYS;
		fail("jit");
	}
	if (page == MAP_FAILED)
		fail("mmap");
	memcpy(page, code, sizeof(code));
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC))
		fail("mprotect");
	write_name(page);
	start_thread("runner", runner, page);
}
