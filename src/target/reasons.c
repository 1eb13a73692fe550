/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/reasons.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * From Go 1.5 to 1.21 gopark is told by which event of the v1 tracer it blocks
 * (runtime/trace.go; 1.21 calls the number a reason). The texts are those that
 * the v2 tracer has for the same callers.
 */
#define EVENT(number, text)                                                                                  \
	[number] = (text), [(number) | 0x80] = (text) /* 0x80: "futile wake-up", 1.5 to 1.8 */

static const char *const block_events[] = {
	[0] = "unspecified",
	EVENT(16, "forever"),
	EVENT(19, "sleep"),
	EVENT(20, "unspecified"),
	EVENT(22, "chan send"),
	EVENT(23, "chan receive"),
	EVENT(24, "select"),
	EVENT(25, "sync"),
	EVENT(26, "sync.(*Cond).Wait"),
	EVENT(27, "network"),
	EVENT(42, "GC mark assist wait for work"),
};

/* The argument of the v1 event that begins a stop of the world (1.10 to 1.20). */
static const char *const stw_kinds[] = {"GC mark termination", "GC sweep termination"};

static const char *const stops[] = {"unspecified", "runtime.Gosched", "preempted"};

const struct reasons *release_reasons(const struct release *release, enum log_reason_table table)
{
	static const struct reasons blocks = {block_events, COUNT(block_events)};
	static const struct reasons kinds = {stw_kinds, COUNT(stw_kinds)};
	static const struct reasons leaves = {stops, COUNT(stops)};

	if (release->minor < 22 && table == REASON_BLOCK)
		return &blocks;
	if (release->minor < 21 && table == REASON_STW)
		return &kinds;
	if (release->minor < 22 && table == REASON_STOP)
		return &leaves;
	return &release->reasons[table];
}
