/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A program without any stall, until SIGHUP requests the next one. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>

#include "target.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Blocks here while the lock is held; no other thread waits for it. */
static FRAME void stall_handle(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	NO_TAIL_CALL();
}

static FRAME void *stall_worker(void *arg)
{
	for (;;) {
		stall_handle();
		pause_us(5000);
	}
	return arg;
}

static void stay_on_first_cpu(void)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (pthread_setaffinity_np(pthread_self(), sizeof(first), &first))
		fail("pthread_setaffinity_np");
}

static FRAME void *stall_runner(void *arg)
{
	stay_on_first_cpu();
	for (;;)
		pause_us(5000);
	return arg;
}

/* Runs before all other threads on that CPU. */
static FRAME void *stall_hog(void *arg)
{
	struct sched_param param = {.sched_priority = 1};

	stay_on_first_cpu();
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &param))
		fail("pthread_setschedparam");
	spin_us(900000);
	return arg;
}

static FRAME void *stall_idler(void *arg)
{
	pause_us(500000);
	return arg;
}

static FRAME void *stall_planter(void *arg)
{
	sigset_t *hangup = arg;
	int number;

	sigwait(hangup, &number);
	pthread_mutex_lock(&lock);
	pause_us(600000);
	pthread_mutex_unlock(&lock);
	sigwait(hangup, &number);
	start_thread("stall-hog", stall_hog, NULL);
	sigwait(hangup, &number);
	for (int i = 0; i < 60; i++)
		start_thread("stall-idler", stall_idler, NULL);
	return NULL;
}

void mode_stall(void)
{
	static sigset_t hangup;

	sigemptyset(&hangup);
	sigaddset(&hangup, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &hangup, NULL);
	start_thread("stall-planter", stall_planter, &hangup);
	start_thread("stall-worker", stall_worker, NULL);
	start_thread("stall-runner", stall_runner, NULL);
}
