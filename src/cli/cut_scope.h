/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The first pass of gotrace cut: finds the trace's duration and the goroutines that belong to the request. */
#ifndef GOTRACE_CLI_CUT_SCOPE_H
#define GOTRACE_CLI_CUT_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/ops/op.h"

struct cut_scope {
	uint64_t task;                 /* its goroutines are wanted, too; 0 = none */
	uint64_t start, end;           /* ns, of the trace */
	uint64_t task_begin, task_end; /* ns; 0 = not in the trace */
	bool began;
	uint64_t *goids; /* wanted; sorted after each generation */
	size_t n, capacity;
	uint64_t (*pairs)[2]; /* goroutines that switch to each other (iter.Pull) are kept together */
	size_t npairs, pair_capacity;
};

/* These functions return 0 or -ENOMEM. */
int cut_scope_add(struct cut_scope *scope, uint64_t goid);
int cut_scope_generation(struct cut_scope *scope, const struct generation *gen);
int cut_scope_finish(struct cut_scope *scope);
void cut_scope_free(struct cut_scope *scope);

#endif
