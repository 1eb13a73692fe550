/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Children that a process waits for while it has no privileges itself, and that end with it. A signal that is
 * meant to end gotrace ends them: one from the terminal reaches them by itself, another one is passed on by
 * the lifeline, since the process may not be allowed to signal them.
 */
#ifndef GOTRACE_CLI_ATTENDED_H
#define GOTRACE_CLI_ATTENDED_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "sandbox/lifeline.h"
#include "util/error.h"

/* The waiting process's signals. */
struct attendant {
	int signals;     /* signalfd; -1 = none */
	sigset_t before; /* its mask */
};

struct attended {
	pid_t pid; /* 0 = not started */
	struct lifeline line;
};

/* Blocks the signals until attendant_end(). Returns 0 or a negative errno. */
int attendant_begin(struct attendant *attendant, struct error *err);
/* Discards signals that have not been read. */
void attendant_discard(const struct attendant *attendant);
/* Also discards them. */
void attendant_end(struct attendant *attendant);
/*
 * As fork(2), but -1 sets *err. In the child, signals are as before; SIGTERM comes at the end of its parent,
 * and when that cuts the lifeline. Children that are started later must cut it, too.
 */
pid_t attended_fork(struct attended *child, const struct attendant *attendant, struct error *err);
/*
 * Waits for the child. Whenever `fd` (-1: none) is readable, calls serve(ctx), until it returns false.
 * Returns the status of waitpid(2).
 */
int attended_wait(struct attended *child, const struct attendant *attendant, int fd, bool (*serve)(void *ctx),
		  void *ctx);

#endif
