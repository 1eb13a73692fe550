/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Threads that want one lock, which one of them holds while it writes to disk (disk), or computes (long);
 * with "clean" it does that before it takes the lock. Or many threads constantly take one lock for a moment
 * (convoy), or each its own. Or each item wakes all threads that wait for one (herd), or only one of them.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { READERS = 4, WORKERS = 24 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long shared;
static int clean, disk, fd;

static void nap(long us)
{
	struct timespec ts = {.tv_nsec = us * 1000};

	nanosleep(&ts, NULL);
}

static unsigned long compute(long ms)
{
	struct timespec begin, now;
	unsigned long n = 0;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		for (int i = 0; i < 10000; i++)
			n += (unsigned long)i;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
	return n;
}

/* Writes for 10 ms or more, however fast the disk is. */
static void save(void)
{
	static char block[1 << 20];
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		if (pwrite(fd, block, sizeof(block), 0) < 0 || fsync(fd))
			exit(1);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 10);
}

__attribute__((noinline)) static void work(void)
{
	if (disk)
		save();
	else
		shared += compute(10);
}

__attribute__((noinline)) static void *holder(void *arg)
{
	for (;;) {
		if (clean)
			work();
		pthread_mutex_lock(&lock);
		if (!clean)
			work();
		pthread_mutex_unlock(&lock);
		nap(5000);
	}
	return arg;
}

__attribute__((noinline)) static void *reader(void *arg)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		shared++;
		pthread_mutex_unlock(&lock);
		nap(1000);
	}
	return arg;
}

static pthread_mutex_t locks[WORKERS];
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items;

static unsigned long compute_us(long us)
{
	struct timespec begin, now;
	unsigned long n = 0;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		for (int i = 0; i < 1000; i++)
			n += (unsigned long)i;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
	return n;
}

__attribute__((noinline)) static void *counter(void *arg)
{
	pthread_mutex_t *own = &locks[clean ? (long)arg : 0];

	for (;;) {
		pthread_mutex_lock(own);
		shared += compute_us(30);
		pthread_mutex_unlock(own);
		nap(clean ? 20000 : 300);
	}
	return NULL;
}

__attribute__((noinline)) static void *consumer(void *arg)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		while (!items)
			pthread_cond_wait(&filled, &lock);
		items--;
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

__attribute__((noinline)) static void *producer(void *arg)
{
	for (;;) {
		nap(2000);
		pthread_mutex_lock(&lock);
		items++;
		pthread_mutex_unlock(&lock);
		if (clean)
			pthread_cond_signal(&filled);
		else
			pthread_cond_broadcast(&filled);
	}
	return arg;
}

static void start(int n, void *(*run)(void *))
{
	pthread_t thread;

	for (long i = 0; i < n; i++) {
		if (pthread_create(&thread, NULL, run, (void *)i))
			exit(1);
	}
}

int main(int argc, char **argv)
{

	if (argc < 3)
		return 2;
	disk = strcmp(argv[1], "disk") == 0;
	clean = argc > 3;
	fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		return 1;
	for (int i = 0; i < WORKERS; i++)
		pthread_mutex_init(&locks[i], NULL);
	if (strcmp(argv[1], "convoy") == 0) {
		start(WORKERS, counter);
	} else if (strcmp(argv[1], "herd") == 0) {
		start(WORKERS, consumer);
		start(1, producer);
	} else {
		start(1, holder);
		start(READERS, reader);
	}
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	sleep(60);
	return 0;
}
