/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: describes the descriptors that threads wait for. Each is looked up once, when it is
 * first seen. By then it may have been closed or reused; its mark detects that, except in a brief race.
 */
#ifndef GOTRACE_CAPTURE_FILES_H
#define GOTRACE_CAPTURE_FILES_H

#include <sys/types.h>

#include "capture/sockets.h"
#include "rawlog/rawlog.h"
#include "util/map64.h"

struct files {
	pid_t pid;
	struct map64 logged; /* keys (WAIT_*) that the log has */
	struct sockets sockets;
};

/* Returns whether the key must be described in the log first: false for 0, which is no key. */
bool files_is_unknown(const struct files *files, uint64_t key);
/* Looks up the descriptor and logs its description. Returns 0, -ENOMEM, or the sink's error. */
int files_describe(struct files *files, uint64_t key, log_sink sink, void *ctx);
size_t files_count(const struct files *files); /* number of keys remembered */
void files_forget(struct files *files);        /* all keys are described again */
void files_free(struct files *files);

/* Pure: shortens the target of a link /proc/PID/fd/N, in place, to its common name. */
void files_shorten(char *link);

#endif
