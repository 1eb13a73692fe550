/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "annotate/cpu/runs_on.h"

#include "trace/ops/transition.h"

void runs_on_follow(struct runs_on *on, const struct op *op)
{
	struct g_change changes[2];
	unsigned n = op_changes(op, changes);

	if (op->p != NO_P && (op->kind == OP_PROC_START || op->kind == OP_GO_START ||
			      op->kind == OP_SYSCALL_END || op->kind == OP_PROC_STATUS))
		on->p = op->p;
	for (unsigned i = 0; i < n; i++) {
		if (changes[i].status == G_RUNNING)
			on->g = changes[i].g;
		else if (on->g == changes[i].g)
			on->g = 0;
	}
}
