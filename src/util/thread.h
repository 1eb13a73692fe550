/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef GOTRACE_UTIL_THREAD_H
#define GOTRACE_UTIL_THREAD_H

#include <pthread.h>

/*
 * Starts a thread that receives no signals: another thread waits for them. SIGSYS is not blocked, because a
 * worker's system call filter needs it (sandbox/filter.c). Returns 0 or an errno value, as pthread_create(3).
 */
int thread_start(pthread_t *thread, void *(*work)(void *ctx), void *ctx);

#endif
