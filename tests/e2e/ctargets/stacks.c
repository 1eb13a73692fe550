/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Threads whose stacks are known. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target.h"

/* --- parked for good, each at a different depth and in a different call --- */

static void park_cond(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

	pthread_mutex_lock(&lock);
	for (;;)
		pthread_cond_wait(&never, &lock);
}

static void park_mutex(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
	pthread_mutex_lock(&lock); /* already its own: it waits for ever */
	NO_TAIL_CALL();
}

static void park_read(void)
{
	int ends[2];
	char byte;

	if (pipe(ends) || read(ends[0], &byte, 1) != 1)
		fail("read");
}

static void park_poll(void)
{
	poll(NULL, 0, -1);
	NO_TAIL_CALL();
}

static void park_sleep(void)
{
	for (;;)
		pause_us(3600L * 1000000);
}

static void park_sem(void)
{
	static sem_t never;

	sem_init(&never, 0, 0);
	sem_wait(&never);
	NO_TAIL_CALL();
}

/* In a libc function that calls back. */
static int park_compare(const void *a, const void *b)
{
	park_poll();
	return a > b;
}

static void park_sort(void)
{
	int list[2] = {2, 1};

	qsort(list, 2, sizeof(list[0]), park_compare);
	NO_TAIL_CALL();
}

static void (*const parks[])(void) = {park_cond,  park_mutex, park_read, park_poll,
				      park_sleep, park_sem,   park_sort};

enum { PARKS = sizeof(parks) / sizeof(parks[0]) };

static FRAME void deep_even(int depth, int park, char *stuff);

/* Frames whose sizes are known only at run time: here the CFA is relative to the frame pointer. */
static FRAME void deep_odd(int depth, int park, char *stuff)
{
	char space[(depth + 1) * 16];

	memset(space, depth, sizeof(space));
	deep_even(depth - 1, park, space);
	stuff[0] = space[sizeof(space) - 1];
}

static FRAME void deep_even(int depth, int park, char *stuff)
{
	char space[48];

	memset(space, park, sizeof(space));
	if (depth <= 0)
		parks[park]();
	else
		deep_odd(depth - 1, park, space);
	stuff[0] = space[7];
}

static FRAME void *parked(void *arg)
{
	char stuff[1];
	int park = (int)(long)arg;

	deep_even(2 + 5 * park, park, stuff);
	return arg;
}

void mode_parked(void)
{
	for (long park = 0; park < PARKS; park++)
		start_thread("parked", parked, (void *)park);
}

/* --- a handler that blocks --- */

static FRAME void handle_slowly(void)
{
	pause_us(2000);
	NO_TAIL_CALL();
}

static void on_signal(int signal)
{
	(void)signal;
	handle_slowly();
	NO_TAIL_CALL();
}

static FRAME void interrupted_work(void)
{
	spin_us(3000);
	NO_TAIL_CALL();
}

static FRAME void *interrupted(void *arg)
{
	for (;;)
		interrupted_work();
	return arg;
}

static FRAME void *interrupter(void *arg)
{
	for (;;) {
		pause_us(4000);
		pthread_kill(*(pthread_t *)arg, SIGURG);
	}
	return arg;
}

void mode_signal(void)
{
	static pthread_t victim;

	signal(SIGURG, on_signal);
	victim = start_thread("victim", interrupted, NULL);
	start_thread("interrupter", interrupter, &victim);
}

/* --- regions --- */

FRAME int parse_request(int request)
{
	pause_us(300);
	NO_TAIL_CALL();
	return request % 3;
}

FRAME int handle_request(int request)
{
	int kind = parse_request(request);

	if (kind == 0) /* several returns */
		return 0;
	spin_us(100);
	return kind + parse_request(request + 1);
}

static FRAME void *request_loop(void *arg)
{
	for (int request = 0;; request++) {
		handle_request(request);
		pause_us(1000);
	}
	return arg;
}

void mode_region(void)
{
	start_thread("requests", request_loop, NULL);
	start_thread("requests", request_loop, NULL);
}

/* --- code that comes and goes --- */

static FRAME void call_plugin(const char *path)
{
	void *plugin = dlopen(path, RTLD_NOW);
	void (*work)(void) = NULL;

	if (plugin)
		*(void **)&work = dlsym(plugin, "plugin_work");
	if (!work) {
		fprintf(stderr, "ctarget: %s\n", dlerror());
		exit(1);
	}
	for (int i = 0; i < 100; i++)
		work();
	dlclose(plugin);
}

static FRAME void *plugin_user(void *arg)
{
	static char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 16);

	if (n < 0)
		fail("readlink");
	strcpy(path + n, ".so");
	for (;;) {
		pause_us(800000);
		call_plugin(path);
	}
	return arg;
}

void mode_dlopen(void)
{
	start_thread("plugin user", plugin_user, NULL);
}
