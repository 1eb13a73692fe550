/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A process in any language, as the operating system sees it: whether it can be traced, as threads or at all.
 */
#ifndef GOTRACE_TARGET_PROCESS_H
#define GOTRACE_TARGET_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "rawlog/rawlog.h"
#include "util/error.h"

struct process {
	pid_t pid;      /* 0: not running yet */
	char exe[256];  /* path to open: /proc/PID/exe, or the file */
	char path[256]; /* target of the link exe, for messages; may be truncated */
	char comm[16];
	char label[64]; /* "PID 123 (server)", prefix of messages */
};

/*
 * Opens a pidfd. Call this before reading anything else about the process: as long as the pidfd does not
 * report its end, the PID has not been reused. Returns a descriptor, which the caller closes, or a negative
 * errno.
 */
int process_open_pidfd(pid_t pid, struct error *err);

/*
 * Checks that a process with this PID exists and can be traced, as Go or as threads; `proc` is "/proc".
 * Returns 0, or a negative errno and sets *err: no process (-ESRCH), a thread of another process (-EINVAL), a
 * kernel thread, a zombie or a 32-bit process (-ENOTSUP), no permission (-EPERM).
 */
int process_check(const char *proc, pid_t pid, struct error *err);
/* Same for an executable that is about to be started: it must be for this machine's architecture. */
int process_check_file(const char *path, struct error *err);

/* Gets the name of the process's first thread, which may contain any bytes; "" if it is gone. */
void process_comm(pid_t pid, char comm[16]);
/* Fills in *process. process_check() must have succeeded. */
void process_open(struct process *process, pid_t pid);
/* Fills in *process. process_check_file() must have succeeded. */
void process_open_file(struct process *process, const char *path);

/* Logs LOG_TARGET only. */
int process_log_target(const struct process *process, unsigned extra_flags, log_sink sink, void *ctx,
		       struct error *err);
/* Logs LOG_TARGET and LOG_MAPPINGs. extra_flags are added to LOG_TARGET_THREADS. */
int process_log_info(const struct process *process, unsigned extra_flags, log_sink sink, void *ctx,
		     struct error *err);

#endif
