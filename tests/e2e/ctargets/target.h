/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Shared by the modes of the C test program: see main.c. */
#ifndef CTARGET_H
#define CTARGET_H

#include <pthread.h>
#include <stdnoreturn.h>

/* Functions that are compared in stacks must have frames of their own. */
#define FRAME __attribute__((noinline, noclone, noipa))
/* Put after a call that would otherwise become a jump. */
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")

/* Ends the program with a line about what failed. */
noreturn void fail(const char *what);
/* Starts a thread named `name` (comm). */
pthread_t start_thread(const char *name, void *(*routine)(void *), void *arg);
/* Sleeps for this many microseconds. */
void pause_us(long us);
/* Keeps a CPU busy for about this many microseconds. */
void spin_us(long us);
/* Returns a descriptor of an unnamed file of `size` bytes, open for reading and writing. */
int scratch_file(long size);

/* Counts the work done, where other processes can read it. */
extern _Atomic long *turns;

/* The modes: each starts its threads and returns, or continues in the main thread for ever. */
void mode_pingpong(void);
void mode_lock(void);
void mode_epoll(void);
void mode_pipe(void);
void mode_pipe2(void);
void mode_fault(void);
void mode_disk(void);
void mode_sleep(void);
void mode_burn(void);
void mode_threads(void);
void mode_forks(void);
void mode_parked(void);
void mode_signal(void);
void mode_region(void);
void mode_stall(void);
void mode_full(void);
void mode_jit(void);
void mode_dlopen(void);

#endif
