/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A process as the operating system sees it, whatever it was written in: what
 * can be traced as threads, and what cannot be traced at all.
 */
#ifndef GOTRACE_TARGET_PROCESS_H
#define GOTRACE_TARGET_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "rawlog/rawlog.h"
#include "util/error.h"

struct process {
	pid_t pid;      /* 0: not running yet */
	char exe[256];  /* what to open: /proc/PID/exe, or the file */
	char path[256]; /* where that leads, for people; may be cut */
	char comm[16];
	char label[64]; /* "PID 123 (server)", how messages begin */
};

/*
 * Whether there is a process with this number that could be traced, as Go or as threads; `proc` is "/proc".
 * Errors say in one line what it is instead: no process (-ESRCH), a thread of another process (-EINVAL), a
 * thread of the kernel's, a zombie, a 32-bit process (-ENOTSUP), one that we may not look at (-EPERM).
 */
int process_check(const char *proc, pid_t pid, struct error *err);
/* The same for a program that is to be started: it must be for this processor. */
int process_check_file(const char *path, struct error *err);

/* The name of its first thread, whatever bytes it is made of; "" if it is gone. */
void process_comm(pid_t pid, char comm[16]);
/* A process that was checked. */
void process_open(struct process *process, pid_t pid);
/* A program that was checked. */
void process_open_file(struct process *process, const char *path);

/* LOG_TARGET alone. */
int process_log_target(const struct process *process, unsigned extra_flags, log_sink sink, void *ctx,
		       struct error *err);
/* LOG_TARGET and LOG_MAPPINGs; extra_flags beside LOG_TARGET_THREADS. */
int process_log_info(const struct process *process, unsigned extra_flags, log_sink sink, void *ctx,
		     struct error *err);

#endif
