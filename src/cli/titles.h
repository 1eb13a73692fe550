/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the processes of a trace are called, for exports: the first word of the command line, which servers
 * set to say what a process is for ("postgres: checkpointer").
 */
#ifndef GOTRACE_CLI_TITLES_H
#define GOTRACE_CLI_TITLES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { TITLE_BYTES = 128 };

struct title {
	pid_t pid;
	char text[TITLE_BYTES]; /* printable; "": not known */
};

struct titles {
	struct title *all;
	size_t n, capacity;
	size_t fresh; /* from here on they have not been read */
	uint64_t
		next_ns; /* then all are read again: processes rename themselves; 0: one is another program */
};

/* A process is there. Without memory it has no title. */
void titles_add(struct titles *titles, pid_t pid);
/* Reads the titles of new processes, and of all once a second; those of processes that ended stay. */
void titles_refresh(struct titles *titles, uint64_t now_ns);
/* Into a file and back, for another process. 0 or a negative errno. */
int titles_save(const struct titles *titles, int fd);
int titles_load(struct titles *titles, int fd);
/* The title of the last process with this number, or NULL. */
const char *titles_find(const struct titles *titles, pid_t pid);
void titles_free(struct titles *titles);

#endif
