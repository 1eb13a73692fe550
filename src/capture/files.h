/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the room: what the descriptors are that threads wait for. Asked
 * once for each, when it is first seen: by then it may be closed again, or be
 * something else, which its mark tells apart but for a moment.
 */
#ifndef GOTRACE_CAPTURE_FILES_H
#define GOTRACE_CAPTURE_FILES_H

#include <sys/types.h>

#include "capture/sockets.h"
#include "rawlog/rawlog.h"
#include "util/map64.h"

struct files {
	pid_t pid;
	struct map64 told; /* keys (WAIT_*) that the log knows of */
	struct sockets sockets;
};

/* Whether the log has to be told of this key first; 0 is none. */
bool files_is_new(const struct files *files, uint64_t key);
/* Finds out what it is and tells the log. 0, -ENOMEM, or what the sink returned. */
int files_tell(struct files *files, uint64_t key, log_sink sink, void *ctx);
size_t files_told(const struct files *files); /* of how many there is something to remember */
void files_forget(struct files *files);       /* they are told anew */
void files_free(struct files *files);

/* Pure: what people call it where the link /proc/PID/fd/N says this; ends the text at its new end. */
void files_shorten(char *link);

#endif
