/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names of gotrace's own goroutine, log events and regions, by which readers of a trace recognise them. Any
 * program can use the same names. The names of labels are in trace/ops/labels.h.
 */
#ifndef GOTRACE_TRACE_OPS_OWN_NAMES_H
#define GOTRACE_TRACE_OPS_OWN_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The goroutine that gotrace's own events are on. Made-up goids follow; a runtime never numbers so many. */
#define OWN_GOID ((uint64_t)1 << 52)

static inline bool goid_is_own(uint64_t goid)
{
	return goid == OWN_GOID;
}

/* Category of log events: notes about the trace itself. */
#define OWN_LOG_CATEGORY "gotrace"
/* The frame for those that a walk of a stack did not reach. */
#define CUT_FRAME "…"
/* What the goroutine is about to wait for (docs/analysis.md). */
#define LOCK_LOG_CATEGORY "lock"
/* The number of the CPU that the log's thread runs on from then on. */
#define CPU_LOG_CATEGORY "[CPU]"

/* A frame of a waker that is not of the program, and prefix of the frame that names it. */
#define OUTSIDE_NAME "[outside]"

/* Prefix of the names of regions in which a running goroutine had no CPU; a reason and "]" follow. */
#define OFF_CPU_REGION "[off CPU: "

/* Returns the reason in the name of such a region ("preempted]"), or NULL for other regions. */
static inline const char *off_cpu_region_reason(const char *name)
{
	size_t len = sizeof(OFF_CPU_REGION) - 1;

	return strncmp(name, OFF_CPU_REGION, len) == 0 ? name + len : NULL;
}

/* True for `function [comm]`, the name of a thread whose function is known (src/model/threads/names.c). */
static inline bool has_thread_name(const char *name, size_t len)
{
	return len > 2 && name[len - 1] == ']' && memmem(name, len, " [", 2);
}

/*
 * What the names of goroutines say of a trace in which none has run. Names of Go functions have a dot, and no
 * blank before a bracket. A thread whose function is unknown is named by its comm alone.
 */
struct name_votes {
	size_t named, dotted;
	bool threads;
};

static inline void name_vote(struct name_votes *votes, const char *name, size_t len)
{
	votes->named += len > 0;
	votes->dotted += memchr(name, '.', len) != NULL;
	votes->threads |= has_thread_name(name, len);
}

static inline bool votes_for_threads(const struct name_votes *votes)
{
	return votes->threads || (votes->named && !votes->dotted);
}

#endif
