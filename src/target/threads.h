/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The Ms and Ps of a live process. */
#ifndef GOTRACE_TARGET_THREADS_H
#define GOTRACE_TARGET_THREADS_H

#include "target/memory.h"
#include "target/private.h"
#include "util/map64.h"

struct threads {
	struct log_m *ms;
	size_t nms;
	struct map64 tids; /* M to tid */
	struct log_p *ps;
	size_t nps;
	uint32_t gomaxprocs;
};

/* Reads all Ms; with_ps: the Ps too. Free with threads_free, also after an error. */
int threads_read(const struct target *target, struct memory_batch *batch, bool with_ps,
		 struct threads *threads, struct error *err);
void threads_free(struct threads *threads);
/* The tid of an M, 0 if there is none. */
uint32_t threads_tid(const struct threads *threads, uint64_t m);

/* What a failed read of the process's memory means, in words. Returns rc. */
int threads_fail(const struct target *target, int rc, const char *what, struct error *err);

#endif
