/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which functions only carry out what the program asked for: a wait in them is named by their caller. Pure.
 */
#ifndef GOTRACE_SYMBOL_LIBRARY_H
#define GOTRACE_SYMBOL_LIBRARY_H

#include <stdbool.h>

/* Whether a function belongs to a package of Go, or to one below it. */
bool library_in_package(const char *func, const char *package);
/* Go's runtime and the packages near to the system, the C library's waits, system calls as gotrace names
 * them. */
bool library_has(const char *func);
/* Of these, what a lock is made of: Go's runtime and sync. */
bool library_is_lock(const char *func);
/* A system call as gotrace names it, with its descriptor: "read(7: /data/x)", "epoll_wait(5)". */
bool library_is_call(const char *func);
/* A function of the kernel (--kernel-stacks), by its file. */
bool library_is_kernel(const char *func, const char *file);

#endif
