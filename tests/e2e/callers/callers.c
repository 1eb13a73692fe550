/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Calls of one function by several others, whose frames have the same size, so that the stacks differ in nothing
 * but return addresses. Begins at SIGUSR1; then prints how many calls each function made.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CALLS     20000
#define FUNCTIONS 4

static int null_file;

/* Keeps the call from being the function's last act, which would replace its frame. */
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")

static __attribute__((noinline)) void leaf(void)
{
	char byte = 0;

	if (write(null_file, &byte, 1) != 1)
		_exit(1);
}

static __attribute__((noinline)) void left(unsigned size)
{
	(void)size;
	leaf();
	NO_TAIL_CALL();
}

static __attribute__((noinline)) void right(unsigned size)
{
	(void)size;
	leaf();
	NO_TAIL_CALL();
}

/* A frame of variable size needs a frame pointer. */
static __attribute__((noinline)) void left_framed(unsigned size)
{
	char bytes[size];

	__asm__ volatile("" : : "r"(bytes) : "memory");
	leaf();
	__asm__ volatile("" : : "r"(bytes) : "memory");
}

static __attribute__((noinline)) void right_framed(unsigned size)
{
	char bytes[size];

	__asm__ volatile("" : : "r"(bytes) : "memory");
	leaf();
	__asm__ volatile("" : : "r"(bytes) : "memory");
}

static void (*const functions[FUNCTIONS])(unsigned size) = {left, right, left_framed, right_framed};

static __attribute__((noinline)) void run(unsigned counts[FUNCTIONS])
{
	uint32_t random = 1;

	for (int i = 0; i < CALLS; i++) {
		random = random * 1664525u + 1013904223u;
		counts[random >> 30]++;
		functions[random >> 30](64 + 64 * (random >> 29 & 1));
		NO_TAIL_CALL();
	}
}

int main(void)
{
	unsigned counts[FUNCTIONS] = {0};
	sigset_t wanted;
	int signal;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGUSR1);
	sigprocmask(SIG_BLOCK, &wanted, NULL);
	null_file = open("/dev/null", O_WRONLY);
	puts("ready");
	fflush(stdout);
	sigwait(&wanted, &signal);
	run(counts);
	printf("done left %u right %u left_framed %u right_framed %u\n", counts[0], counts[1], counts[2], counts[3]);
	fflush(stdout);
	pause();
	return 0;
}
