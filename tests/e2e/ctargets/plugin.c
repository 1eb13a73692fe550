/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A library that mode dlopen loads and unloads again. */
#include <time.h>

void plugin_work(void);

static __attribute__((noinline)) void plugin_inner(void)
{
	nanosleep(&(struct timespec){0, 2000000}, NULL);
	__asm__ volatile("" ::: "memory");
}

void plugin_work(void)
{
	plugin_inner();
	__asm__ volatile("" ::: "memory");
}
