/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A C program to be traced: `ctarget MODE [-seconds N]` does one kind of work
 * in threads of known names and functions, prints "ready", and ends after N
 * seconds. SIGUSR1: exit at once; SIGUSR2: run itself again (exec) in mode sleep.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "target.h"

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
	{"pingpong", mode_pingpong}, {"lock", mode_lock},     {"epoll", mode_epoll},
	{"pipe", mode_pipe},         {"pipe2", mode_pipe2},   {"fault", mode_fault},
	{"disk", mode_disk},         {"sleep", mode_sleep},   {"burn", mode_burn},
	{"threads", mode_threads},   {"forks", mode_forks},   {"parked", mode_parked},
	{"signal", mode_signal},     {"region", mode_region}, {"dlopen", mode_dlopen},
	{"stall", mode_stall},       {"full", mode_full},     {"jit", mode_jit},
};

_Atomic long *turns;

noreturn void fail(const char *what)
{
	fprintf(stderr, "ctarget: %s: %s\n", what, strerror(errno));
	exit(1);
}

pthread_t start_thread(const char *name, void *(*routine)(void *), void *arg)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, routine, arg);
	if (errno)
		fail("pthread_create");
	pthread_setname_np(thread, name); /* a thread that has ended already needs none */
	return thread;
}

void pause_us(long us)
{
	struct timespec time = {us / 1000000, us % 1000000 * 1000};

	nanosleep(&time, NULL);
}

void spin_us(long us)
{
	struct timespec from, now;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - from.tv_sec) * 1000000 + (now.tv_nsec - from.tv_nsec) / 1000 < us);
}

int scratch_file(long size)
{
	char path[] = "ctarget-XXXXXX";
	static char block[1 << 16];
	int fd = mkstemp(path);

	if (fd < 0)
		fail("mkstemp");
	unlink(path);
	memset(block, 'x', sizeof(block));
	for (long done = 0; done < size; done += (long)sizeof(block))
		if (write(fd, block, sizeof(block)) != (ssize_t)sizeof(block))
			fail("write");
	if (fsync(fd))
		fail("fsync");
	return fd;
}

/* Maps the file of $TURNS, which a meter reads; without it, anonymous memory. */
static void share_turns(void)
{
	const char *path = getenv("TURNS");
	int fd = path ? open(path, O_RDWR) : -1;
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;

	if (path && fd < 0)
		fail(path);
	turns = mmap(NULL, sizeof(*turns), PROT_READ | PROT_WRITE, flags, fd, 0);
	if (turns == MAP_FAILED)
		fail("mmap");
}

static void on_exit_signal(int signal)
{
	(void)signal;
	_exit(0);
}

static void on_exec_signal(int signal)
{
	(void)signal;
	execl("/proc/self/exe", "ctarget", "sleep", "-seconds", "20", (char *)NULL);
	_exit(1);
}

int main(int argc, char **argv)
{
	int seconds = argc == 4 && !strcmp(argv[2], "-seconds") ? atoi(argv[3]) : 60;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGUSR1, on_exit_signal);
	signal(SIGUSR2, on_exec_signal);
	signal(SIGALRM, on_exit_signal);
	alarm((unsigned)seconds);
	share_turns();
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (argc < 2 || strcmp(argv[1], modes[i].name))
			continue;
		modes[i].run();
		pause_us(100000);
		puts("ready");
		fflush(stdout);
		for (;;)
			pause();
	}
	fprintf(stderr, "usage: ctarget MODE [-seconds N]\n");
	return 2;
}
