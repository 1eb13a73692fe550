/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Threads that want one lock, which one of them holds while it writes to disk (disk), or computes (long);
 * with "clean" it does that before it takes the lock. Or many threads constantly take one lock for a moment
 * (convoy), or each its own. Or each item wakes all threads that wait for one (herd), or only one of them. Or
 * threads share two places (places), or there are places for all, and a semaphore signals work now and then. Or
 * they write to a pipe whose reader is slow (pipe), or ask a loop that sleeps for each event (loop), or does not;
 * or one that sleeps for long now and then (stall), or for a moment. Or
 * they meet after each round, for which one of them takes the longest (barrier), or another one each time. Or
 * each job has a thread of its own (churn), or there are few jobs. Or each maps memory of its own for each job (map), or
 * keeps it. Or one thread of a team of OpenMP has most of the work (team), or all have the same. Or threads take turns
 * with a lock made of a futex (own), and sleep while they have it, or before.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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

static sem_t places, signals;

__attribute__((noinline)) static void *process(void *arg)
{
	for (;;) {
		sem_wait(&places);
		nap(4000);
		sem_post(&places);
		nap(2000);
	}
	return arg;
}

__attribute__((noinline)) static void *work_on_signal(void *arg)
{
	for (;;) {
		sem_wait(&signals);
		shared += compute_us(20);
	}
	return arg;
}

__attribute__((noinline)) static void *signal_work(void *arg)
{
	for (;;) {
		nap(8000);
		sem_post(&signals);
	}
	return arg;
}

static int ends[2];

__attribute__((noinline)) static void *emit(void *arg)
{
	static char line[4000];

	for (;;) {
		if (write(ends[1], line, sizeof(line)) < 0)
			exit(1);
		nap(3000);
	}
	return arg;
}

__attribute__((noinline)) static void *drain(void *arg)
{
	char line[4000];

	for (;;) {
		if (read(ends[0], line, sizeof(line)) < 0)
			exit(1);
		if (!clean)
			nap(2000);
	}
	return arg;
}

static int epoll;

__attribute__((noinline)) static void answer(int socket)
{
	char c;

	if (read(socket, &c, 1) != 1)
		exit(1);
	if (!clean)
		nap(4000);
	if (write(socket, &c, 1) != 1)
		exit(1);
}

__attribute__((noinline)) static void *event_loop(void *arg)
{
	struct epoll_event event;

	while (epoll_wait(epoll, &event, 1, -1) == 1)
		answer(event.data.fd);
	return arg;
}

__attribute__((noinline)) static void *ask(void *arg)
{
	int pair[2];
	struct epoll_event event = {.events = EPOLLIN};
	char c = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		exit(1);
	event.data.fd = pair[0];
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, pair[0], &event))
		exit(1);
	while (write(pair[1], &c, 1) == 1 && read(pair[1], &c, 1) == 1)
		nap(clean ? 20000 : 3000);
	return arg;
}

__attribute__((noinline)) static void compact(void)
{
	nap(clean ? 500 : 40000);
}

/* Compacts after each thirtieth event. */
__attribute__((noinline)) static void *stalling_loop(void *arg)
{
	struct epoll_event event;
	char c;

	for (unsigned n = 1; epoll_wait(epoll, &event, 1, -1) == 1; n++) {
		if (read(event.data.fd, &c, 1) != 1 || write(event.data.fd, &c, 1) != 1)
			exit(1);
		if (n % 30 == 0)
			compact();
	}
	return arg;
}

static pthread_barrier_t barrier;

__attribute__((noinline)) static void *simulate(void *arg)
{
	unsigned seed = (unsigned)(long)arg;

	for (;;) {
		int turn = clean ? rand_r(&seed) >> 4 & 3 : seed == 2;

		compute(turn ? 8 : 1);
		pthread_barrier_wait(&barrier);
	}
	return arg;
}

static void *handle_job(void *arg)
{
	for (int i = 0; i < 20000; i++)
		shared += (unsigned long)i;
	return arg;
}

__attribute__((noinline)) static void *serve_jobs(void *arg)
{
	pthread_t thread;

	for (;;) {
		if (pthread_create(&thread, NULL, handle_job, NULL) || pthread_join(thread, NULL))
			exit(1);
		nap(clean ? 200000 : 1000);
	}
	return arg;
}

/* The threads share two CPUs, or have one each: some are always about to map, to unmap, or to fill. */
__attribute__((noinline)) static void *fill_buffers(void *arg)
{
	enum { BYTES = 4 << 20 };
	char *buffer = NULL;

	for (;;) {
		if (!buffer)
			buffer = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (buffer == MAP_FAILED)
			exit(1);
		memset(buffer, 1, BYTES);
		if (!clean) {
			munmap(buffer, BYTES);
			buffer = NULL;
		}
	}
	return arg;
}

__attribute__((noinline)) static void *lead_team(void *arg)
{
	for (;;) {
#pragma omp parallel for num_threads(4) schedule(static)
		for (int i = 0; i < 4; i++)
			compute(clean ? 2 : i ? 1 : 12);
	}
	return arg;
}

/* --- a lock of the program's own: 0 = free, 1 = taken, 2 = taken, and others may wait ("Futexes Are Tricky") --- */

static int turn;

static void take_turn(void)
{
	int was = 0;

	if (__atomic_compare_exchange_n(&turn, &was, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&turn, 2, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static void pass_turn(void)
{
	if (__atomic_exchange_n(&turn, 0, __ATOMIC_RELEASE) == 2)
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

__attribute__((noinline)) static void *write_record(void *arg)
{
	for (;;) {
		if (clean)
			nap(2000);
		take_turn();
		if (!clean)
			nap(2000);
		shared++;
		pass_turn();
		compute(1);
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
	} else if (strcmp(argv[1], "places") == 0) {
		sem_init(&places, 0, clean ? 64 : 2);
		sem_init(&signals, 0, 0);
		start(8, process);
		start(3, work_on_signal);
		start(1, signal_work);
	} else if (strcmp(argv[1], "pipe") == 0) {
		if (pipe(ends))
			return 1;
		start(1, drain);
		start(6, emit);
	} else if (strcmp(argv[1], "loop") == 0) {
		epoll = epoll_create1(0);
		start(8, ask);
		start(1, event_loop);
	} else if (strcmp(argv[1], "stall") == 0) {
		epoll = epoll_create1(0);
		start(1, ask);
		start(1, stalling_loop);
	} else if (strcmp(argv[1], "barrier") == 0) {
		pthread_barrier_init(&barrier, NULL, 4);
		start(4, simulate);
	} else if (strcmp(argv[1], "churn") == 0) {
		start(1, serve_jobs);
	} else if (strcmp(argv[1], "map") == 0) {
		start(READERS, fill_buffers);
	} else if (strcmp(argv[1], "team") == 0) {
		start(1, lead_team);
	} else if (strcmp(argv[1], "own") == 0) {
		start(READERS, write_record);
	} else {
		start(1, holder);
		start(READERS, reader);
	}
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	sleep(60);
	return 0;
}
