/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Starts the program of `gotrace -- CMD`: a child that waits until the probes are in place, then becomes the
 * program, as the user behind sudo. Also what other commands that start programs need.
 */
#ifndef GOTRACE_CLI_SPAWN_H
#define GOTRACE_CLI_SPAWN_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "util/error.h"
#include "util/owner.h"

struct child {
	pid_t pid;      /* 0 = none */
	int release_fd; /* writing to it releases the child */
	int report_fd;  /* reading from it yields an errno if exec failed, or end of file */
	bool reaped;
	int status; /* of waitpid, once reaped */
};

/* The user that a child becomes: the one behind sudo. */
struct child_identity {
	bool change; /* there is one */
	struct owner owner;
	char name[256]; /* "" = not in the user database */
	char home[256]; /* as name */
};

/* Looks the user up. Call it before the fork. */
void child_identity_find(struct child_identity *who);
/* In the child: becomes that user, if there is one. Returns 0 or a negative errno. */
int child_identity_take(const struct child_identity *who);

/* Finds the file that a shell would run for this name. Refuses scripts and files that are not executable. */
int spawn_find(const char *name, char path[PATH_MAX], struct error *err);
/* Forks the child, which waits. argv ends with NULL. */
int spawn_fork(const char *path, char **argv, struct child *child, struct error *err);
/* Releases the child, and waits until its exec has succeeded or failed. */
int spawn_release(struct child *child, struct error *err);
/* True once the child has ended. It stays a zombie, so that its PID is not reused. */
bool spawn_has_ended(const struct child *child);
/* Waits for the child to end, at most timeout_ms (negative: until a signal). Returns whether it has ended. */
bool spawn_wait(struct child *child, int timeout_ms);
/* Closes the descriptors, which ends a child that was not released. Does nothing without a child. */
void spawn_close(struct child *child);

/*
 * Reads the last line of a file that a process prints to, without its end: in the buffer of `size` bytes, or
 * "" if there is none. Of a longer line it is the end.
 */
const char *last_line(int fd, char *buffer, size_t size);

#endif
