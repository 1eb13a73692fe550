/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Like locks/main.go, with threads: mutexes that are held for some milliseconds while others wait for them.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 6, MUTEXES = 2, HOLD_NS = 4000000, SHORTEST_NS = 1000000 };

static pthread_mutex_t mutexes[MUTEXES] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void nap(long ns)
{
	struct timespec time = {.tv_nsec = ns};

	nanosleep(&time, NULL);
}

static void say(const char *what, int64_t since, int64_t until, const void *mutex)
{
	char line[160];
	int n = snprintf(line, sizeof(line), "%s g%ld %lld %lld futex 0x%llx\n", what, syscall(SYS_gettid),
			 (long long)since, (long long)until, (unsigned long long)(uintptr_t)mutex);

	if (write(STDOUT_FILENO, line, (size_t)n) != n)
		_exit(1);
}

__attribute__((noinline)) static void use_mutex(pthread_mutex_t *mutex)
{
	int64_t since = now_ns(), got, until;

	pthread_mutex_lock(mutex);
	got = now_ns();
	if (got - since >= SHORTEST_NS)
		say("wait", since, got, mutex);
	nap(HOLD_NS);
	until = now_ns();
	pthread_mutex_unlock(mutex);
	say("held", got, until, mutex);
}

static void *work(void *mutex)
{
	for (;;) {
		use_mutex(mutex);
		nap(HOLD_NS / 4);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, work, &mutexes[i % MUTEXES]);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	sleep(600);
	return 0;
}
