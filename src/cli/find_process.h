/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Finds processes by name, cgroup, executable and user. */
#ifndef GOTRACE_CLI_FIND_PROCESS_H
#define GOTRACE_CLI_FIND_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"
#include "util/text.h"

struct found_process {
	pid_t pid;
	uint64_t start; /* clock ticks since boot, because PIDs are reused */
};

/* A process is found if it has all of these. */
struct process_filter {
	const char *comm;   /* as in /proc/PID/comm, which has 15 characters; NULL = any */
	const char *cgroup; /* a path with or without the leading /sys/fs/cgroup/; NULL = any */
	bool below;         /* the cgroups below it count, too */
	/*
	 * An absolute path: the process executes this file, or the file of this path in the file system of
	 * its container. NULL = any. A process in a user namespace of its own could mount any file at any
	 * path, so only the first holds for it.
	 */
	const char *exe;
	const char *user; /* as the user gave it; NULL = any */
	uid_t uid;        /* of `user`: the process's real and effective id */
};

/* Returns false to visit no more. */
typedef bool process_visitor(void *ctx, pid_t pid);

/* Visits the processes that match, each once. Returns 0, or a negative errno and sets *err. */
int processes_visit(const struct process_filter *filter, process_visitor *visit, void *ctx,
		    struct error *err);

enum { MAX_FOUND = 64 };

/*
 * Finds at most MAX_FOUND processes other than gotrace itself, newest first. Returns the number found, or a
 * negative errno, for example if the cgroup does not exist.
 */
int find_processes(const struct process_filter *filter, struct found_process found[MAX_FOUND],
		   struct error *err);
/* Whether the process has the filter's name, executable and user. */
bool process_matches(const struct process_filter *filter, pid_t pid);
/* The filter for a message: "the name server, the user www". */
struct text_path process_filter_text(const struct process_filter *filter);
/* Returns the start time of a process in clock ticks since boot, or 0 if it is gone. */
uint64_t process_start(pid_t pid);
/* Gets the real and the effective user id. Returns false if the process is gone. */
bool process_users(pid_t pid, uid_t *real, uid_t *effective);

#endif
