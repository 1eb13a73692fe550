/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A log of several processes becomes a log for each of them, as if it alone had
 * been traced. The log comes as from capture: a LOG_TARGET for each process
 * that is there at the beginning; later ones begin with their SITE_FORK. Threads in
 * snapshots bear their process, and stacks, names and files are told once
 * for all.
 */
#ifndef GOTRACE_SPLIT_H
#define GOTRACE_SPLIT_H

#include "rawlog/rawlog.h"

/* What is done with a process's own log. Its first record is LOG_TARGET, its last one LOG_END. */
struct split_options {
	/*
	 * A process begins; its stream is returned, NULL if it is to be left out. parent: the
	 * stream of the process that forked it, NULL if that is not known. The target's name and executable
	 * may be filled in.
	 */
	void *(*begin)(void *ctx, struct log_target *target, void *parent);
	log_sink put; /* its ctx is the stream */
	void (*end)(void *stream);
	void *ctx;
};

struct split;

struct split *split_new(const struct split_options *options); /* NULL: out of memory */
/* A log_sink. What a stream's sink fails with is returned; the others get their records all the same. */
int split_put(void *split, const struct log_record *record);
/* Processes that have no log: forked when there were too many, or left out by `begin`. */
uint64_t split_left_out(const struct split *split);
/* Ends what LOG_END has not ended. */
void split_free(struct split *split);

#endif
