/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "calls.h"

#include <stddef.h>

#include "model/call_table.h"

/* By the machine that the log comes from, not by the one that reads it. */
static const struct call *find(const struct log_target *target, uint64_t call)
{
	static const struct call none = {NULL, CALL_OTHER};
	const struct call *calls = target->flags & LOG_TARGET_ARM64 ? calls_arm64 : calls_x86;

	return call && call <= CALLS_KNOWN ? &calls[call - 1] : &none;
}

const char *call_name(const struct log_target *target, uint64_t call)
{
	return find(target, call)->name;
}

bool call_yields(const struct log_target *target, uint64_t call)
{
	return find(target, call)->class == CALL_YIELD;
}

static const char *futex_reason(uint8_t hint)
{
	static const char *const reasons[] = {
		[HINT_MUTEX] = "sync (mutex)",   [HINT_COND] = "sync (condition)",
		[HINT_RWLOCK] = "sync (rwlock)", [HINT_JOIN] = "sync (join)",
		[HINT_SEM] = "sync (semaphore)", [HINT_BARRIER] = "sync (barrier)",
	};
	const char *reason = hint < sizeof(reasons) / sizeof(reasons[0]) ? reasons[hint] : NULL;

	return reason ? reason : "sync (futex)";
}

static const char *file_reason(uint64_t file)
{
	switch (WAIT_KIND(file)) {
	case FILE_SOCKET:
	case FILE_EPOLL: /* it watches sockets as a rule */
		return "network";
	case FILE_PIPE:
		return "pipe";
	case FILE_REGULAR:
		return "disk";
	case FILE_TTY:
		return "tty";
	case FILE_EVENT:
		return "event";
	default:
		return NULL;
	}
}

static const char *call_reason(enum call_class class, const struct wait *wait)
{
	switch (class) {
	case CALL_FUTEX:
		return futex_reason(wait->hint);
	case CALL_SLEEP:
		return "sleep";
	case CALL_POLL:
		return WAIT_FD(wait->file) ? NULL : "sleep";
	case CALL_EPOLL:
	case CALL_SOCKET:
		return "network";
	case CALL_SIGNAL:
		return "signal";
	case CALL_SEM:
		return "sync (semaphore)";
	case CALL_FILE:
		return wait->left == LEFT_DISK ? "disk" : NULL;
	default:
		return NULL;
	}
}

const char *wait_reason(const struct log_target *target, const struct wait *wait)
{
	enum call_class class = find(target, wait->call)->class;
	const char *reason;

	if (wait->left == LEFT_STOPPED)
		return "stopped";
	if (!wait->call) /* only a page that is not there makes a program sleep in its own code */
		return "page fault";
	if (class == CALL_LOCK)
		return "sync (file lock)";
	reason = file_reason(wait->file);
	return reason ? reason : call_reason(class, wait);
}
