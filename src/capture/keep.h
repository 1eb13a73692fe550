/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the room: log records put aside in memory, to be handed on later. */
#ifndef GOTRACE_CAPTURE_KEEP_H
#define GOTRACE_CAPTURE_KEEP_H

#include "rawlog/rawlog.h"

struct kept_record;

struct keep {
	struct kept_record *first, **last;
};

int keep_record(void *ctx, const struct log_record *record); /* a log_sink; ctx is a struct keep */
int keep_replay(const struct keep *keep, log_sink sink, void *ctx);
void keep_free(struct keep *keep);

#endif
