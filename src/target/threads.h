/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reads the Ms and Ps of a live process. */
#ifndef GOTRACE_TARGET_THREADS_H
#define GOTRACE_TARGET_THREADS_H

#include "target/memory.h"
#include "target/private.h"
#include "util/map64.h"

struct go_threads {
	struct log_m *ms;
	size_t nms;
	struct map64 tids; /* M -> tid */
	struct log_p *ps;
	size_t nps;
	uint32_t gomaxprocs;
};

/* Reads all Ms and, if with_ps, all Ps. Call threads_free() even after an error. */
int threads_read(const struct target *target, struct memory_batch *batch, bool with_ps,
		 struct go_threads *threads, struct error *err);
void threads_free(struct go_threads *threads);
/* Returns the tid of an M, or 0 if it has none. */
uint32_t threads_tid(const struct go_threads *threads, uint64_t m);

/* Describes a failed read of the process's memory in err. Returns rc. */
int threads_fail(const struct target *target, int rc, const char *what, struct error *err);

#endif
