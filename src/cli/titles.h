/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Titles of the processes in a trace, for exports: the first word of the command line, which servers set to
 * describe a process ("postgres: checkpointer").
 */
#ifndef GOTRACE_CLI_TITLES_H
#define GOTRACE_CLI_TITLES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { TITLE_BYTES = 128 };

struct title {
	pid_t pid;
	char text[TITLE_BYTES]; /* printable; "" = unknown */
};

struct titles {
	struct title *all;
	size_t n, capacity;
	size_t fresh; /* index of the first one that has not been read */
	/* Time to read all again, because processes rename themselves; 0 = now, after an exec. */
	uint64_t next_ns;
};

/* Adds a process. If out of memory, it has no title. */
void titles_add(struct titles *titles, pid_t pid);
/* Reads the titles of new processes, and of all once a second. Titles of ended processes are kept. */
void titles_refresh(struct titles *titles, uint64_t now_ns);
/* Save to and load from a file, for another process. Return 0 or a negative errno. */
int titles_save(const struct titles *titles, int fd);
int titles_load(struct titles *titles, int fd);
/* Returns the title of the last process with this PID, or NULL. */
const char *titles_find(const struct titles *titles, pid_t pid);
void titles_free(struct titles *titles);

#endif
