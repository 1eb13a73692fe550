/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Log events that delimit an interval in which nothing was recorded. Their category is OWN_LOG_CATEGORY. They
 * are untrusted input: any program can write such a text.
 */
#ifndef GOTRACE_TRACE_OPS_GAP_LOG_H
#define GOTRACE_TRACE_OPS_GAP_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* Beginnings of the texts. The reason for the gap follows the first one, after a colon and a space. */
#define GAP_LOG_BEGIN "not watched from here on"
#define GAP_LOG_END   "watched again from here on"
/* The reason that the user asked for: the limit on the cost. */
#define GAP_LOG_LIMIT ": over --max-overhead"
/* The last event of a trace, if its recording ends within a gap. */
#define GAP_LOG_LAST "not watched until here, the end of the trace"

/* What a goroutine that ran when a gap began waits for from then on. */
#define GAP_REASON "not watched"

enum gap_log {
	GAP_LOG_NONE, /* it is about something else */
	GAP_LOG_BEGINS,
	GAP_LOG_ENDS,
};

enum gap_log gap_log_kind(const char *category, size_t category_len, const char *text, size_t len);
/* True if a text that begins a gap says that the limit is its reason. */
bool gap_log_is_by_limit(const char *text, size_t len);

#endif
