/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How gotrace snapshot reaches a recorder: a socket in the kernel's abstract
 * name space, so that nothing is left on the disk whatever ends the recorder.
 * Whoever asks must be root or the recorder's own user; whoever answers must be
 * the process that was asked.
 */
#ifndef GOTRACE_FLIGHT_CONTROL_H
#define GOTRACE_FLIGHT_CONTROL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "util/error.h"

enum { MAX_ASKERS = 16 };

struct asker {
	int fd;       /* -1: none */
	bool asked;   /* it wants a snapshot */
	bool awaited; /* which is being written */
};

struct control {
	int fd; /* -1: nobody can ask */
	struct asker askers[MAX_ASKERS];
};

int control_open(struct control *control, struct error *err);
/* Takes in what came; never waits. Whether anybody has asked who is not awaited yet. */
bool control_poll(struct control *control);
/* The snapshot that is begun now is for all who have asked. */
void control_begin(struct control *control);
/* Tells them what became of it: the file's path, or what failed. */
void control_answer(struct control *control, const char *path, const struct error *err);
void control_close(struct control *control);

/*
 * The other side: asks the recorder, and waits for its answer. path has room for PATH_MAX bytes; it is the
 * recorder's word, and as root that of any user's.
 */
int control_ask(pid_t recorder, char *path, struct error *err);

#endif
