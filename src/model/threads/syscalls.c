/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/threads/syscalls.h"

#include <stddef.h>

#include "model/threads/syscall_table.h"

/* Uses the architecture of the log, not that of its reader. */
static const struct syscall *find(const struct log_target *target, uint64_t call)
{
	static const struct syscall none = {NULL, SYSCALL_OTHER};
	const struct syscall *calls = target->flags & LOG_TARGET_ARM64 ? syscalls_arm64 : syscalls_x86;

	return call && call <= SYSCALLS_KNOWN ? &calls[call - 1] : &none;
}

const char *syscall_name(const struct log_target *target, uint64_t call)
{
	return find(target, call)->name;
}

bool syscall_yields(const struct log_target *target, uint64_t call)
{
	return find(target, call)->class == SYSCALL_YIELD;
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
	case FILE_EPOLL: /* it usually watches sockets */
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

static const char *call_reason(enum syscall_class class, const struct wait *wait)
{
	switch (class) {
	case SYSCALL_FUTEX:
		return futex_reason(wait->hint);
	case SYSCALL_SLEEP:
		return "sleep";
	case SYSCALL_POLL:
		return WAIT_FD(wait->file) ? NULL : "sleep";
	case SYSCALL_EPOLL:
	case SYSCALL_SOCKET:
		return "network";
	case SYSCALL_SIGNAL:
		return "signal";
	case SYSCALL_SEM:
		return "sync (semaphore)";
	case SYSCALL_FILE:
		return wait->left == LEFT_DISK ? "disk" : NULL;
	default:
		return NULL;
	}
}

const char *wait_reason(const struct log_target *target, const struct wait *wait)
{
	enum syscall_class class = find(target, wait->call)->class;
	const char *reason;

	if (wait->left == LEFT_STOPPED)
		return "stopped";
	if (!wait->call) /* in its own code, a program sleeps only for a missing page */
		return wait->worker ? "io_uring" : "page fault";
	if (class == SYSCALL_LOCK)
		return "sync (file lock)";
	reason = file_reason(wait->file);
	return reason ? reason : call_reason(class, wait);
}
