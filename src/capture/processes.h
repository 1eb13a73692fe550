/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the room: several processes (--children). The kernel's programs
 * follow every fork; here is what user space has to do about it.
 */
#ifndef GOTRACE_CAPTURE_PROCESSES_H
#define GOTRACE_CAPTURE_PROCESSES_H

#include "capture/bpf.h"
#include "capture/native_tables.h"
#include "rawlog/rawlog.h"
#include "util/map64.h"

struct processes {
	struct native_tables *tables; /* not owned */
	struct map64 live;            /* that are looked at, as far as it was seen */
	struct map64 stale;           /* their code is to be looked at anew */
	pid_t *found;                 /* at the beginning: the first one's descendants */
	unsigned nfound;
	bool execed; /* one that runs another program now may have fallen asleep before its code was known */
	bool full;   /* some are not looked at, and that was told */
	bool oom;
};

/* Before there are records: the code of those that are there. 0, -ENOMEM or what /proc cannot be read for. */
int processes_find(struct processes *processes, pid_t root, struct error *err);
/* With the programs attached: looks at all of them, and at those that were forked meanwhile. */
int processes_follow(struct processes *processes, const struct bpf *bpf, pid_t root, struct error *err);
/* In the ring's order, as soon as a record comes. */
void processes_see(struct processes *processes, const struct raw_record *rec);
/* Now and then: looks at code that is not known yet, for a bounded time. all: at that of all processes. */
int processes_refresh(struct processes *processes, bool all, struct error *err);
/* LOG_TARGET of those that were found. */
int processes_log(const struct processes *processes, log_sink sink, void *ctx, struct error *err);
void processes_free(struct processes *processes);

#endif
