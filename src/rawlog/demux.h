/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Splits the log of several processes into one log per process, as if only that process had been traced. The
 * input is a log as captured: it has a LOG_TARGET for each process that exists at the beginning; later
 * processes begin with their SITE_FORK. Threads in snapshots have a process id. Stacks, names and files are
 * logged once for all processes.
 */
#ifndef GOTRACE_RAWLOG_DEMUX_H
#define GOTRACE_RAWLOG_DEMUX_H

#include "rawlog/rawlog.h"

/* Consumers of the logs of single processes. Each log begins with LOG_TARGET and ends with LOG_END. */
struct demux_options {
	/*
	 * Called when a process begins. Returns its stream, or NULL to omit the process. parent: the stream
	 * of the process that forked it, NULL if unknown. May fill in the target's name and executable.
	 */
	void *(*begin)(void *ctx, struct log_target *target, void *parent);
	log_sink put; /* its ctx is the stream */
	void (*end)(void *stream);
	void *ctx;
};

struct demux;

struct demux *demux_new(const struct demux_options *options); /* NULL: out of memory */
/* A log_sink. Returns the first error of a stream's sink; the other streams still get their records. */
int demux_put(void *demux, const struct log_record *record);
/* Returns the number of processes without a log: forked when there were too many, or omitted by `begin`. */
uint64_t demux_left_out(const struct demux *demux);
/* Frees demux, and ends the streams that LOG_END has not ended. */
void demux_free(struct demux *demux);

#endif
