/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

#include "_cgo_export.h"

int c_short(int n)
{
	return n * 3 + 1;
}

void c_block(long microseconds)
{
	usleep((useconds_t)microseconds);
}

int c_callback(int n)
{
	return goCallback(n);
}

/* A thread's life: some calls into Go, then it ends (its M goes back to the list of extra ones). */
static void *foreign_life(void *unused)
{
	(void)unused;
	for (int i = 1; i <= 40; i++) {
		goCallback(i);
		usleep(2000);
	}
	return NULL;
}

/* Starts one foreign thread after the other. */
static void *foreign_parent(void *unused)
{
	(void)unused;
	for (;;) {
		pthread_t child;

		if (pthread_create(&child, NULL, foreign_life, NULL) == 0)
			pthread_join(child, NULL);
		usleep(1000);
	}
	return NULL;
}

int c_foreign(int threads)
{
	for (int i = 0; i < threads; i++) {
		pthread_t parent;

		if (pthread_create(&parent, NULL, foreign_parent, NULL) != 0)
			return -1;
		pthread_detach(parent);
	}
	return 0;
}
