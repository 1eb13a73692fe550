/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Processes without privileges for the work on a stranger's bytes: no capability, nobody's ids, no_new_privs,
 * and a filter of system calls under which files come from a broker (broker.h) or not at all. They are
 * started before there is any other thread, and end when whoever started them goes.
 */
#ifndef GOTRACE_SANDBOX_H
#define GOTRACE_SANDBOX_H

#include <stdbool.h>
#include <sys/types.h>

#include "sandbox/broker.h"
#include "sandbox/channel.h"
#include "util/error.h"

struct sandbox {
	pid_t pid;              /* 0: not started */
	const char *what;       /* "the process that reads the target's files", for messages */
	struct channel channel; /* to it; one thread at a time uses it */
	int listener, memory;   /* for the broker, until it has them */
	bool broken;            /* it has gone, or talks nonsense */
	struct error why;       /* then */
};

/* What a sandbox does until the channel ends; ctx is the caller's, as it was. */
typedef void (*sandbox_work)(struct channel *channel, void *ctx);

/* Starts one, confined before this returns. -EPERM and so on, with a line. */
int sandbox_start(struct sandbox *sandbox, const char *what, sandbox_work work, void *ctx, struct error *err);
/* Waits for its answers for as long as they take, instead of two minutes. */
void sandbox_be_patient(struct sandbox *sandbox);
/* Its calls are answered from now on. */
int sandbox_attend(struct sandbox *sandbox, struct broker *broker, struct error *err);
/*
 * After a failure of the channel, or an answer that makes no sense: says how it ended, once and for all.
 * Returns -EPIPE, so that `return sandbox_fail(sandbox, rc, err);` reads well.
 */
int sandbox_fail(struct sandbox *sandbox, int rc, struct error *err);
/* Whether it has ended, which nobody has asked it to. */
bool sandbox_has_gone(struct sandbox *sandbox);
/* Ends it: it notices that the channel is closed. */
void sandbox_end(struct sandbox *sandbox);

/*
 * This process itself becomes one, if it is root's, for work on files that are open already: nothing can be
 * opened any more. Others have no more rights than their user, and nothing is done.
 */
int sandbox_confine(struct error *err);

#endif
