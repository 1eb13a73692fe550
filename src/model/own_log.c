/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/synthetic.h"

/*
 * Returns a thread whose goroutine runs, or NULL. For a target traced as threads, always NULL: the system
 * call of a thread may still be moved up, before a log event.
 */
static struct m *any_running(const struct model *md)
{
	for (unsigned i = 0; i < md->entities.nms && !md->threads; i++) {
		struct m *m = md->entities.ms[i];

		if (m && m->g && m->g->status == G_RUNNING && m->p && m->p->status == P_RUNNING)
			return m;
	}
	return NULL;
}

void model_write_log(struct model *md, const char *category, uint32_t text)
{
	struct m *m = any_running(md);
	struct op *op = emit(&md->ops, OP_LOG, m ? m : synthetic_begin(md));

	op->string = string_id(md, category);
	op->string2 = text;
	if (m)
		return;
	op->stack = md->synthetic.wait_stack;
	synthetic_end(md);
}
