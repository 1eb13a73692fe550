/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A process as the operating system sees it, in any language: whether it can be traced as threads, or not at
 * all.
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
	char path[256]; /* where exe leads, for messages; may be truncated */
	char comm[16];
	char label[64]; /* "PID 123 (server)", prefix of messages */
};

/*
 * Opens a pidfd, which must be done before anything else is read about the process: as long as the pidfd does
 * not report the process's end, the PID has not been reused. The caller closes it. Returns a negative errno
 * if there is no such process.
 */
int process_hold(pid_t pid, struct error *err);

/*
 * Whether a process with this PID exists and can be traced, as Go or as threads; `proc` is "/proc". Errors:
 * no process (-ESRCH), a thread of another process (-EINVAL), a kernel thread, a zombie or a 32-bit process
 * (-ENOTSUP), no permission (-EPERM).
 */
int process_check(const char *proc, pid_t pid, struct error *err);
/* The same for a program about to be started, which must be for this machine's architecture. */
int process_check_file(const char *path, struct error *err);

/* Name of the process's first thread, which may contain any bytes; "" if it is gone. */
void process_comm(pid_t pid, char comm[16]);
/* The process must have been checked. */
void process_open(struct process *process, pid_t pid);
/* The program must have been checked. */
void process_open_file(struct process *process, const char *path);

/* Logs LOG_TARGET only. */
int process_log_target(const struct process *process, unsigned extra_flags, log_sink sink, void *ctx,
		       struct error *err);
/* Logs LOG_TARGET and LOG_MAPPINGs. extra_flags are added to LOG_TARGET_THREADS. */
int process_log_info(const struct process *process, unsigned extra_flags, log_sink sink, void *ctx,
		     struct error *err);

#endif
