/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/reasons.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * From Go 1.5 to 1.21 the caller passes gopark the v1 tracer's event for the block (runtime/trace.go; 1.21
 * calls it a reason). The texts are those of the v2 tracer for the same callers.
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

/*
 * Argument of the v1 event for the beginning of a stop-the-world (1.10 to 1.20). The last one is not used by
 * the runtime.
 */
static const char *const stw_kinds[] = {"GC mark termination", "GC sweep termination", "unknown"};

static const char *const stops[] = {"unspecified", "runtime.Gosched", "preempted"};

/*
 * Up to 1.10 g.waitreason is a Go string. These are all strings that the runtime assigns; the numbers are
 * gotrace's (runtime/ of Go 1.4 to 1.10, and 1.4's *.c).
 */
static const char *const wait_texts[] = {
	[1] = "GC assist marking",
	[2] = "IO wait",
	[3] = "chan receive (nil chan)",
	[4] = "chan send (nil chan)",
	[5] = "dumping heap",
	[6] = "garbage collection",
	[7] = "garbage collection scan",
	[8] = "panicwait",
	[9] = "select",
	[10] = "select (no cases)",
	[11] = "GC assist wait",
	[12] = "GC sweep wait",
	[13] = "chan receive",
	[14] = "chan send",
	[15] = "finalizer wait",
	[16] = "force gc (idle)",
	[17] = "semacquire",
	[18] = "sleep",
	[19] = "semarelease",
	[20] = "timer goroutine (idle)",
	[21] = "trace reader (blocked)",
	[22] = "wait for GC cycle",
	[23] = "GC worker (idle)",
	[24] = "mark worker (idle)",
	[25] = "mark wait (idle)",
	[26] = "Concurrent GC wait",
	[27] = "stack growth",
};

unsigned reasons_index(const struct reasons *reasons, const char *text, size_t len)
{
	for (unsigned i = 1; i < reasons->n; i++) {
		if (reasons->texts[i] && strlen(reasons->texts[i]) == len &&
		    memcmp(reasons->texts[i], text, len) == 0)
			return i;
	}
	return 0;
}

const struct reasons *release_reasons(const struct release *release, enum log_reason_table table)
{
	static const struct reasons blocks = {block_events, COUNT(block_events)};
	static const struct reasons kinds = {stw_kinds, COUNT(stw_kinds)};
	static const struct reasons stop_reasons = {stops, COUNT(stops)};
	static const struct reasons waits = {wait_texts, COUNT(wait_texts)};

	if (release->minor < 11 && table == REASON_WAIT)
		return &waits;
	if (release->minor < 22 && table == REASON_BLOCK)
		return &blocks;
	if (release->minor < 21 && table == REASON_STW)
		return &kinds;
	if (release->minor < 22 && table == REASON_STOP)
		return &stop_reasons;
	return &release->reasons[table];
}
