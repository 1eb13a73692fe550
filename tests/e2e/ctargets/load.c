/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sleepers, burners, and short-lived threads and processes. */
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target.h"

static FRAME void *sleeper(void *arg)
{
	for (;;) {
		pause_us((long)arg);
		spin_us(20);
	}
	return arg;
}

void mode_sleep(void)
{
	for (long us = 1000; us <= 8000; us *= 2)
		start_thread("sleeper", sleeper, (void *)us);
}

static FRAME void *burner(void *arg)
{
	for (volatile unsigned long n = 0;; n = n + 1)
		;
	return arg;
}

/* More threads than there are CPUs. */
void mode_burn(void)
{
	for (long n = sysconf(_SC_NPROCESSORS_ONLN) + 2; n > 0; n--)
		start_thread("burner", burner, NULL);
}

static FRAME void *mayfly(void *arg)
{
	spin_us(50);
	pause_us(100);
	return arg;
}

static FRAME void *breeder(void *arg)
{
	for (;;) {
		pthread_t brood[4];

		for (int i = 0; i < 4; i++)
			brood[i] = start_thread("mayfly", mayfly, NULL);
		for (int i = 0; i < 4; i++)
			pthread_join(brood[i], NULL);
	}
	return arg;
}

void mode_threads(void)
{
	start_thread("breeder", breeder, NULL);
}

static FRAME void bear_child(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	if (child < 0 || waitpid(child, NULL, 0) != child)
		fail("fork");
}

static FRAME void *forker(void *arg)
{
	for (;;)
		bear_child();
	return arg;
}

void mode_forks(void)
{
	start_thread("forker", forker, NULL);
}
