/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * `meter FILE PID` prints a line "time turns cpu" every 10 ms until the process PID ends: the wall clock
 * (us), what the process has counted in the first word of FILE, which it shares, and its CPU time so far
 * (ns). It runs before everything else that wants a CPU, so that a busy machine does not make it late.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { EVERY_MS = 10 };

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "meter: %s: %s\n", what, strerror(errno));
	exit(1);
}

static const _Atomic long *shared(const char *path)
{
	int fd = open(path, O_RDONLY);
	void *memory = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(long), PROT_READ, MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED)
		fail(path);
	return memory;
}

static void go_first(void)
{
	const struct sched_param param = {.sched_priority = 1};

	if (sched_setscheduler(0, SCHED_FIFO, &param) && setpriority(PRIO_PROCESS, 0, -20))
		fail("no way to go before others");
}

static long long in_ns(struct timespec time)
{
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int argc, char **argv)
{
	const _Atomic long *turns;
	struct timespec next, now, used;
	clockid_t cpu;

	if (argc != 3)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	turns = shared(argv[1]);
	errno = clock_getcpuclockid(atoi(argv[2]), &cpu);
	if (errno)
		fail(argv[2]);
	go_first();
	setlinebuf(stdout);
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		clock_gettime(CLOCK_REALTIME, &now);
		if (clock_gettime(cpu, &used))
			return 0; /* it has ended */
		printf("%lld %ld %lld\n", in_ns(now) / 1000, atomic_load(turns), in_ns(used));
		next.tv_nsec += EVERY_MS * 1000000L;
		if (next.tv_nsec >= 1000000000L) {
			next.tv_nsec -= 1000000000L;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
}
