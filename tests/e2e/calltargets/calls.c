/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Counts the calls of its own functions. It prints "ready". For each line on standard input it makes a round
 * of calls; then it prints for each function the number of calls and their time (-1: not measured), "sum" and
 * the sum of the results, and "done". -rounds N: N turns in a round instead of 40, and a deeper recursion.
 * With -burn it spends its time in two functions, three quarters and a quarter.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define FRAME __attribute__((noinline))
#else
#define FRAME __attribute__((noinline, noclone, noipa))
#endif

enum { ROUND = 40, THREADS = 4, DEEPEST = 800 };

enum which {
	LEAF,
	INNER,
	NESTED,
	RECURSE,
	FIRST,
	SECOND,
	BY_POINTER,
	MAYBE,
	HOP,
	DEEP,
	CATCHER,
	SWITCHER,
	RARE,
	WORKER,
	TICK,
	N
};

static const char *const names[N] = {"leaf",    "inner",      "nested", "recurse", "first",
				     "second",  "by_pointer", "maybe",  "hop",     "deep",
				     "catcher", "switcher",   "rare",   "worker",  "tick"};
static atomic_long counts[N], times[N];
static atomic_int sink;
static jmp_buf back;
static int turns = ROUND;

static void count(enum which which)
{
	counts[which]++;
}

static long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* No frame. */
FRAME int leaf(int x)
{
	return x * 3 + 1;
}

/* One instruction. */
FRAME void tick(void)
{
	__asm__ volatile("");
}

FRAME int inner(int x)
{
	count(LEAF);
	sink += leaf(x);
	return sink;
}

FRAME int nested(int x)
{
	for (int i = 0; i < 3; i++) {
		count(INNER);
		x += inner(i);
	}
	return x;
}

FRAME int recurse(int depth)
{
	if (depth == 0)
		return 1;
	count(RECURSE);
	depth += recurse(depth - 1);
	__asm__ volatile("" ::: "memory"); /* keeps the compiler from making a loop */
	return depth;
}

FRAME int second(int x)
{
	for (int i = 0; i < x; i++)
		sink += i;
	return x;
}

/* Ends with a jump to another function. */
FRAME int first(int x)
{
	sink++;
	count(SECOND);
	return second(x + 1);
}

/* Ends with a jump to a function that is not known before. */
FRAME int by_pointer(int (*function)(int), int x)
{
	sink += x;
	return function(x);
}

/* Ends with a conditional jump to another function. */
FRAME int maybe(int x)
{
	sink += x;
	if (x & 1)
		return second(x);
	sink++;
	return 3;
}

/* The same in one instruction, as clang may do it: second(x) if x is odd, else 3. */
int hop(int x);
__asm__(".text\n"
	".globl hop\n"
	".type hop, %function\n"
	"hop: .cfi_startproc\n"
#if defined(__aarch64__)
	"tst w0, #1\n"
	"b.ne second\n"
	"mov w0, #3\n"
	"ret\n"
#else
	"test $1, %edi\n"
	"jne second\n"
	"mov $3, %eax\n"
	"ret\n"
#endif
	".cfi_endproc\n"
	".size hop, . - hop\n");

FRAME void deep(int depth)
{
	char space[64];

	memset(space, depth, sizeof(space));
	sink += space[depth & 63];
	if (depth == 0)
		longjmp(back, 1);
	if (depth < 0)
		return; /* never happens, but the compiler does not know */
	count(DEEP);
	deep(depth - 1);
	sink += space[1];
}

FRAME void catcher(void)
{
	if (setjmp(back))
		return;
	count(DEEP);
	deep(3);
}

/* Has a jump table, and many returns. */
FRAME int switcher(int what, int x)
{
	switch (what) {
	case 0:
		return x + 11;
	case 1:
		return x * x;
	case 2:
		return x / 3;
	case 3:
		return x ^ 0x55;
	case 4:
		return x << 3;
	case 5:
		return -x;
	default:
		return 0;
	}
}

/* The compiler moves the unlikely part elsewhere. */
FRAME int rare(int x)
{
	int y = x & 7;

	if (__builtin_expect(x % 10 == 9, 0)) {
		char text[32];

		snprintf(text, sizeof(text), "%d", x);
		y += (int)strlen(text);
	}
	return y;
}

FRAME void worker(int us)
{
	usleep((useconds_t)us);
	sink++;
}

static void *work(void *arg)
{
	for (int i = 0; i < ROUND; i++) {
		long from = now();

		count(WORKER);
		worker(1000 + i * 20);
		times[WORKER] += now() - from;
	}
	return arg;
}

static void in_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void make_round(void)
{
	count(RECURSE);
	sink += recurse(turns < DEEPEST ? turns : DEEPEST);
	for (int i = 0; i < turns; i++) {
		count(NESTED);
		sink += nested(i);
		count(RECURSE);
		sink += recurse(5);
		count(FIRST);
		sink += first(i);
		count(BY_POINTER);
		count(LEAF);
		sink += by_pointer(leaf, i);
		count(MAYBE);
		if (i & 1)
			count(SECOND);
		sink += maybe(i);
		count(HOP);
		if (i & 1)
			count(SECOND);
		sink += hop(i);
		count(CATCHER);
		catcher();
		count(SWITCHER);
		sink += switcher(i % 8, i);
		count(RARE);
		sink += rare(i);
		count(TICK);
		tick();
	}
	in_threads();
}

FRAME void heavy(long turns)
{
	for (long i = 0; i < turns; i++)
		__asm__ volatile("" ::: "memory");
}

FRAME void light(long turns)
{
	for (long i = 0; i < turns; i++)
		__asm__ volatile("" ::: "memory");
}

static void burn(void)
{
	puts("ready");
	fflush(stdout);
	for (;;) {
		heavy(3000000);
		light(1000000);
	}
}

int main(int argc, char **argv)
{
	char line[64];

	alarm(100);
	if (argc > 1 && strcmp(argv[1], "-burn") == 0)
		burn();
	if (argc > 2 && strcmp(argv[1], "-rounds") == 0)
		turns = atoi(argv[2]);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		for (int i = 0; i < N; i++)
			counts[i] = times[i] = 0;
		sink = 0;
		make_round();
		for (int i = 0; i < N; i++)
			printf("%s %ld %ld\n", names[i], (long)counts[i], i == WORKER ? (long)times[i] : -1);
		printf("sum %d\n", (int)sink);
		puts("done");
		fflush(stdout);
	}
	return 0;
}
