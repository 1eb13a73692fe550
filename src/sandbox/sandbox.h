/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Workers: processes without privileges that handle untrusted input. They have no capabilities, user and
 * group ids of their own, no_new_privs, and a system call filter: they get files from the broker (broker.h)
 * or not at all. They are started before there are other threads, and the kernel kills them when the thread
 * that started them exits. Every wait for them is limited, except while a worker writes to a pipe whose
 * reader may be slow (has_reader).
 */
#ifndef GOTRACE_SANDBOX_SANDBOX_H
#define GOTRACE_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/broker.h"
#include "sandbox/channel.h"
#include "util/error.h"

struct sandbox {
	_Atomic pid_t pid;           /* 0: not started; the thread that controls a recording looks at it */
	const char *what;            /* "the process that reads the target's files", for messages */
	struct channel channel;      /* to the worker; used by one thread at a time */
	struct broker *broker;       /* serves it; NULL: none */
	struct broker_client client; /* kept here until it is passed to the broker */
	/* Limits on waiting for it. */
	unsigned answer_s, stopped_ms;
	/*
	 * It writes to a pipe, whose reader may be arbitrarily slow: only a stop, or the end of the trace,
	 * limits a wait.
	 */
	bool has_reader;
	bool (*must_end)(void *ctx); /* once true, waits are limited to a moment longer; NULL: never */
	void *ctx;
	struct sandbox_wait {
		uint64_t begin_ns;         /* start of the wait */
		uint64_t stopped_ns;       /* since when it has been stopped; 0: it is not */
		uint64_t ending_ns;        /* since when must_end() has been true; 0: it is not */
		uint64_t cpu_ns, moved_ns; /* its CPU time, and when that last grew */
		uint64_t checked_ns;       /* time of the last check */
	} wait;
	bool broken;      /* it is gone, or sent a malformed answer */
	const char *slow; /* why it was given up; NULL = it was not */
	struct error why; /* set if broken */
};

/* The work of a worker until the channel closes. ctx is the caller's, as of the fork. */
typedef void (*sandbox_work)(struct channel *channel, void *ctx);

/* Memory that a worker may use in addition to the data that its user makes it hold. */
#define SANDBOX_BYTES (960ull << 20)

struct sandbox_plan {
	const char *what; /* for messages */
	sandbox_work work;
	void *ctx;
	/*
	 * Memory that it may hold, in addition to what it shares with its parent: allocations beyond this
	 * fail. RLIM_INFINITY: not limited.
	 */
	uint64_t bytes;
	uint64_t addresses; /* address space that it may reserve without holding memory in it */
	bool threads;       /* starts threads */
};

/*
 * Starts a worker, which is confined before this returns. Returns 0, or a negative errno (-EPERM, ...) and
 * sets *err.
 */
int sandbox_start(struct sandbox *sandbox, const struct sandbox_plan *plan, struct error *err);
/*
 * Once must_end() is true, waits for answers are limited to a moment longer. The waiting thread calls
 * must_end(). Do not use it for a worker whose last answers are the trace.
 */
void sandbox_until(struct sandbox *sandbox, bool (*must_end)(void *ctx), void *ctx);
/*
 * Resets the limits. Call it before sending or receiving. Returns 0, or -ETIMEDOUT if must_end() has been
 * true for too long.
 */
int sandbox_begin_wait(struct sandbox *sandbox);
/* Makes the broker serve its system calls from now on. */
int sandbox_attend(struct sandbox *sandbox, struct broker *broker, struct error *err);
/*
 * Called after a channel error or a malformed answer: kills the worker and describes its end in err. Returns
 * -EPIPE, for use in `return sandbox_fail(sandbox, rc, err);`.
 */
int sandbox_fail(struct sandbox *sandbox, int rc, struct error *err);
/* True if it has ended unexpectedly. */
bool sandbox_has_exited(struct sandbox *sandbox);
/* True if a signal has stopped it. Any thread may call this. */
bool sandbox_is_stopped(const struct sandbox *sandbox);
/*
 * Sets the niceness of the worker's first thread, which has other ids: takes effect with CAP_SYS_NICE. Call
 * it while this process still has that.
 */
void sandbox_set_niceness(const struct sandbox *sandbox, int niceness);
/* Ends the worker by closing the channel. */
void sandbox_end(struct sandbox *sandbox);

/*
 * Confines the calling process, which must have a single thread: it loses all capabilities and, if it is
 * root's, its ids, cannot gain others, and can only use what is already open. To be called before the first
 * byte of untrusted input is read. Has no effect if the process is confined already. If the kernel has no
 * filters, this fails, except for a user without any privileges.
 */
int sandbox_confine(struct error *err);
/* Whether this process has done so. */
bool sandbox_is_confined(void);
/* The same for a process that ends these children, which it has started. */
int sandbox_confine_parent(const pid_t *children, size_t n, struct error *err);
/* The same for a process that draws on its terminal. */
int sandbox_confine_drawer(struct error *err);

#endif
