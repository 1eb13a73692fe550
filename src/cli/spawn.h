/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Starts the program of `gotrace -- CMD`: a child that waits until the probes
 * are in place, then becomes the program, as the user behind sudo.
 */
#ifndef GOTRACE_CLI_SPAWN_H
#define GOTRACE_CLI_SPAWN_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "util/error.h"

struct child {
	pid_t pid;      /* 0 = none */
	int release_fd; /* written to: go on */
	int report_fd;  /* read from: an errno if exec failed, else end of file */
	bool reaped;
	int status; /* of waitpid, once reaped */
};

/* The file that a shell would run for this name. Refuses scripts and what cannot be executed. */
int spawn_find(const char *name, char path[PATH_MAX], struct error *err);
/* Forks the child, which waits. argv ends with NULL. */
int spawn_fork(const char *path, char **argv, struct child *child, struct error *err);
/* Lets the child go on, and waits until it has become the program (or could not). */
int spawn_release(struct child *child, struct error *err);
/* True once the child has ended; it stays a zombie, so that its pid is not used again. */
bool spawn_has_ended(const struct child *child);
/* Waits for the end, at most timeout_ms (negative: until a signal comes). Returns whether it has ended. */
bool spawn_wait(struct child *child, int timeout_ms);
/* Closes what is open; a child that was not released yet ends. Without a child, nothing. */
void spawn_close(struct child *child);

#endif
