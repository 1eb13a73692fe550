/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/emit.h"

/* Notes that the last op concerns m, its goroutine and its P. */
static void set_last_op(const struct op_list *list, struct m *m)
{
	uint64_t number = op_number(list);

	m->last_op = number;
	if (m->g)
		m->g->last_op = number;
	if (m->p)
		m->p->last_op = number;
}

struct op *emit(struct op_list *list, enum op_kind kind, struct m *m)
{
	struct op *op = op_list_append(list);

	*op = (struct op){.kind = kind, .p = NO_P, .inferred = list->provenance != OBSERVED};
	if (m) {
		op->m = m->tid;
		op->g = m->g ? m->g->index : NO_G;
		op->p = m->p ? m->p->id : NO_P;
		set_last_op(list, m);
	}
	op->time = op_list_next_time(list, kind, op->m);
	if (list->provenance == INFERRED)
		list->inferred++;
	else if (list->provenance == REPAIRED)
		list->repaired++;
	return op;
}

size_t reserve_op(struct op_list *list, struct m *m)
{
	size_t index = op_list_reserve(list, m ? m->tid : NO_M);

	if (m)
		set_last_op(list, m);
	return index;
}
