/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * storm MODE [FILE]: a program that is hard on its tracer.
 *   work           works and sleeps
 *   touch FILE     maps the file as code, with a new modification time each time
 *   copies FILE    copies libc to FILE, maps the copy as code, calls a function in it, repeatedly
 *   dlopen FILE    loads copies of the library FILE, calls a function in each, and unloads them
 *   mappings FILE  maps the file as code 60,000 times, then works
 *   forks          forks as fast as it can, with 150 children alive that live for 20 ms
 *   execs          has four children that execute this program again after each millisecond of work
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int sink;

static __attribute__((noinline)) void work(void)
{
	for (int i = 0; i < 100000; i++)
		sink += i;
	usleep(1000);
}

static void copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY), out;
	struct stat st;

	unlink(to);
	out = open(to, O_RDWR | O_CREAT | O_EXCL, 0755);
	if (in < 0 || out < 0 || fstat(in, &st))
		exit(1);
	while (sendfile(out, in, NULL, (size_t)st.st_size) > 0)
		;
	close(in);
	close(out);
}

static void touch(const char *path)
{
	int fd = open(path, O_RDWR);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		exit(1);
	for (;;) {
		void *code;

		futimens(fd, NULL);
		code = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		if (code == MAP_FAILED)
			exit(1);
		work();
		munmap(code, (size_t)st.st_size);
	}
}

typedef int (*sleeper)(clockid_t, int, const struct timespec *, struct timespec *);

static void copies(const char *path)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	uintptr_t at;
	Dl_info libc;

	at = (uintptr_t)dlsym(RTLD_DEFAULT, "clock_nanosleep");
	if (!at || !dladdr((void *)at, &libc))
		exit(1);
	at -= (uintptr_t)libc.dli_fbase;
	for (;;) {
		struct stat st;
		sleeper sleep_there;
		char *code;
		int fd;

		copy(libc.dli_fname, path);
		fd = open(path, O_RDONLY);
		if (fd < 0 || fstat(fd, &st))
			exit(1);
		/* Maps the whole file unchanged: addresses in the text are offsets in the file. */
		code = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		close(fd);
		if (code == MAP_FAILED)
			exit(1);
		sleep_there = (sleeper)(uintptr_t)(code + at);
		for (int i = 0; i < 5; i++)
			sleep_there(CLOCK_MONOTONIC, 0, &pause, NULL);
		munmap(code, (size_t)st.st_size);
	}
}

static void load(const char *library)
{
	char path[4096];

	for (unsigned i = 0;; i++) {
		void (*call)(void);
		void *handle;

		snprintf(path, sizeof(path), "%s.%u", library, i % 50);
		copy(library, path);
		handle = dlopen(path, RTLD_NOW);
		if (!handle)
			exit(1);
		*(void **)&call = dlsym(handle, "storm_call");
		if (!call)
			exit(1);
		call();
		dlclose(handle);
	}
}

static void mappings(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		exit(1);
	/* Alternating offsets keep the kernel from merging the mappings. */
	for (int i = 0; i < 60000; i++) {
		if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, i % 2 * 4096) == MAP_FAILED)
			break;
	}
}

static void forks(void)
{
	for (int alive = 0;; alive++) {
		if (alive == 150 && waitpid(-1, NULL, 0) > 0)
			alive--;
		if (fork() == 0) {
			usleep(20000);
			_exit(0);
		}
	}
}

static void exec_again(void)
{
	work();
	execl("/proc/self/exe", "storm", "exec", (char *)NULL);
	_exit(1);
}

static void execs(void)
{
	for (int i = 0; i < 4; i++) {
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			exec_again();
		}
	}
	wait(NULL); /* forever: they do not end */
	exit(1);
}

/* The function that mode dlopen calls in the library, which is also made from this file. */
void storm_call(void)
{
	work();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "work";

	if (!strcmp(mode, "mappings") && argc > 2)
		mappings(argv[2]);
	if (!strcmp(mode, "exec"))
		exec_again();
	puts("ready");
	fflush(stdout);
	if (!strcmp(mode, "touch") && argc > 2)
		touch(argv[2]);
	if (!strcmp(mode, "copies") && argc > 2)
		copies(argv[2]);
	if (!strcmp(mode, "dlopen") && argc > 2)
		load(argv[2]);
	if (!strcmp(mode, "forks"))
		forks();
	if (!strcmp(mode, "execs"))
		execs();
	for (;;)
		work();
}
