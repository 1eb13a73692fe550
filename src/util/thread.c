/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/thread.h"

#include <signal.h>

int thread_start(pthread_t *thread, void *(*work)(void *ctx), void *ctx)
{
	sigset_t blocked, before;
	int rc;

	sigfillset(&blocked);
	sigdelset(&blocked, SIGSYS);
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	rc = pthread_create(thread, NULL, work, ctx);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}
