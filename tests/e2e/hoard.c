/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Holds as much memory as a worker can, in every way that its code could try. Prints one line for each way: what
 * the kernel charges, in MiB, or the signal that ended the worker. Status 1 if a worker held more than it may.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/inspector.h"
#include "sandbox/sandbox.h"

#define MIB  (1ull << 20)
#define MOST (3000 * MIB) /* what each way tries to hold */
/* Address space for malloc's arenas, page tables of what may be reserved, and what a worker begins with. */
#define MORE (300 * MIB)

/* --- ways; each returns the bytes that are held outside of the worker's address space --- */

static uint64_t fill(int flags, int protection)
{
	for (uint64_t held = 0; held < MOST; held += MIB) {
		void *at = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);

		if (at == MAP_FAILED)
			break;
		memset(at, 1, MIB);
		if (protection >= 0 && mprotect(at, MIB, protection))
			break;
	}
	return 0;
}

static uint64_t private(void)
{
	return fill(MAP_PRIVATE, -1);
}

static uint64_t shared(void)
{
	return fill(MAP_SHARED, -1);
}

static uint64_t growing_down(void)
{
	return fill(MAP_PRIVATE | MAP_GROWSDOWN, -1);
}

static uint64_t read_only_once_filled(void)
{
	return fill(MAP_PRIVATE, PROT_READ);
}

static uint64_t hidden_once_filled(void)
{
	return fill(MAP_PRIVATE, PROT_NONE);
}

static uint64_t heap(void)
{
	for (uint64_t held = 0; held < MOST; held += MIB / 16) {
		void *at = malloc(MIB / 16);

		if (!at)
			break;
		memset(at, 1, MIB / 16);
	}
	return 0;
}

static uint64_t program_break(void)
{
	for (uint64_t held = 0; held < MOST; held += MIB) {
		void *at = sbrk((intptr_t)MIB);

		if (at == (void *)-1)
			break;
		memset(at, 1, MIB);
	}
	return 0;
}

static uint64_t memory_file(void)
{
	static char bytes[MIB];
	uint64_t held = 0;
	int fd = memfd_create("hoard", MFD_CLOEXEC);

	while (held < MOST && write(fd, bytes, sizeof(bytes)) == sizeof(bytes))
		held += sizeof(bytes);
	return held;
}

/* The kernel keeps a page of page tables for each 2 MiB that were read, although they hold nothing. */
static uint64_t page_tables(void)
{
	const uint64_t step = 2 * MIB, one = 1024 * MIB;

	for (uint64_t held = 0; held < MOST; held += one / step * 4096) {
		volatile char *at = mmap(NULL, one, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (at == MAP_FAILED)
			break;
		for (uint64_t next = 0; next < one; next += step)
			(void)at[next];
	}
	return 0;
}

static void *sleep_in_thread(void *ctx)
{
	for (;;)
		poll(NULL, 0, 1000);
	return ctx;
}

/* A stack in the kernel, and a task_struct. */
static uint64_t threads(void)
{
	enum { KERNEL_BYTES = 16384 + 8192 };
	uint64_t held = 0;
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 16384);
	while (held < MOST && pthread_create(&thread, &small, sleep_in_thread, NULL) == 0)
		held += KERNEL_BYTES;
	return held;
}

static const struct way {
	const char *name;
	uint64_t (*hold)(void);
} ways[] = {
	{"private mappings", private},
	{"the heap", heap},
	{"the program break", program_break},
	{"shared mappings", shared},
	{"memory files", memory_file},
	{"mappings that grow down", growing_down},
	{"mappings made read-only", read_only_once_filled},
	{"mappings made inaccessible", hidden_once_filled},
	{"page tables", page_tables},
	{"threads", threads},
};

/* --- a worker, and what it holds --- */

static volatile uint64_t *outside; /* shared with the worker; ~0 while it is at work */

static void hold(struct channel *channel, void *ctx)
{
	const struct way *way = ctx;

	(void)channel;
	*outside = way->hold();
	for (;;)
		poll(NULL, 0, 1000);
}

static uint64_t status_bytes(pid_t pid, const char *name)
{
	unsigned long long kib = 0;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, name, strlen(name)) == 0)
			sscanf(line + strlen(name), ": %llu", &kib);
	}
	if (file)
		fclose(file);
	return kib << 10;
}

static bool has_ended(pid_t pid, int *status)
{
	return waitpid(pid, status, WNOHANG) == pid;
}

/* Returns false if the worker held more than it may. */
static bool try(const struct way *way, bool may_start_threads)
{
	const struct sandbox_plan plan = {
		.what = "the worker",
		.work = hold,
		.ctx = (void *)(uintptr_t)way,
		.bytes = SANDBOX_BYTES,
		.addresses = may_start_threads ? 0 : inspector_plan.addresses,
		.threads = may_start_threads,
	};
	struct sandbox sandbox;
	struct error err;
	uint64_t held = 0;
	int status;

	*outside = ~0ull;
	if (sandbox_start(&sandbox, &plan, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
	while (*outside == ~0ull && !has_ended(sandbox.pid, &status))
		poll(NULL, 0, 10);
	printf("%-27s %s: ", way->name, may_start_threads ? "with threads" : "alone");
	if (*outside == ~0ull) {
		sandbox.pid = 0;
		printf("killed by signal %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	} else {
		held = *outside + status_bytes(sandbox.pid, "VmRSS") + status_bytes(sandbox.pid, "VmPTE");
		printf("%llu MiB\n", (unsigned long long)(held / MIB));
		kill(sandbox.pid, SIGKILL);
	}
	sandbox_end(&sandbox);
	return held <= SANDBOX_BYTES + MORE;
}

int main(void)
{
	bool good = true;

	outside = mmap(NULL, sizeof(*outside), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (outside == MAP_FAILED)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		good &= try(&ways[i], false);
		good &= try(&ways[i], true);
	}
	return good ? 0 : 1;
}
