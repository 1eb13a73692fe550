/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/annotators.h"

#include <stdlib.h>

static void listen(struct annotators *all, const struct annotator *one, uint16_t bit)
{
	for (unsigned i = 0; i < ANNOTATOR_LISTENS && one->sites[i]; i++)
		all->at_site[one->sites[i]] |= bit;
	for (unsigned i = 0; i < ANNOTATOR_LISTENS && one->records[i]; i++)
		all->at_record[one->records[i]] |= bit;
	for (unsigned kind = 0; kind < OP_KIND_COUNT; kind++) {
		if (one->ops >> kind & 1)
			all->at_op[kind] |= bit;
	}
}

bool annotators_open(struct annotators *all, const struct annotator *const *table, struct annotations *state)
{
	bool opened = true;

	all->table = table;
	all->state = state;
	for (; table && table[all->n]; all->n++) {
		listen(all, table[all->n], (uint16_t)(1u << all->n));
		opened = opened && (!table[all->n]->open || table[all->n]->open(state));
	}
	return opened;
}

/* Calls a hook of every annotator that has it. */
#define CALL_ALL(all, hook, ...)                                                                             \
	do {                                                                                                 \
		for (unsigned i_ = 0; i_ < (all)->n; i_++) {                                                 \
			if ((all)->table[i_]->hook)                                                          \
				(all)->table[i_]->hook((all)->state, ##__VA_ARGS__);                         \
		}                                                                                            \
	} while (0)

/* Calls a hook of the annotators in a set. */
#define CALL_SET(all, set, hook, ...)                                                                        \
	do {                                                                                                 \
		for (unsigned left_ = (set); left_; left_ &= left_ - 1)                                      \
			(all)->table[__builtin_ctz(left_)]->hook((all)->state, __VA_ARGS__);                 \
	} while (0)

void annotators_free(struct annotators *all)
{
	CALL_ALL(all, free);
	free(all->state);
}

void annotators_call_observe(const struct annotators *all, const struct probe_hit *hit)
{
	CALL_SET(all, all->at_site[hit->rec->site], observe, hit);
}

void annotators_call_op(const struct annotators *all, enum op_kind kind, struct m *m)
{
	CALL_SET(all, all->at_op[kind], op, kind, m);
}

void annotators_learn(const struct annotators *all, const struct log_record *record)
{
	if (record->type <= LOG_LAST)
		CALL_SET(all, all->at_record[record->type], learn, record);
}

void annotators_awaits(const struct annotators *all, size_t block, uint64_t awaited, uint32_t stack)
{
	CALL_ALL(all, awaits, block, awaited, stack);
}

void annotators_snapshot(const struct annotators *all, const struct early_records *early, size_t from,
			 size_t to)
{
	const struct raw_record *records = to > from ? early->records + from : NULL;
	size_t n = to > from ? to - from : 0;

	CALL_ALL(all, snapshot, records, n);
}

void annotators_settle(const struct annotators *all)
{
	CALL_ALL(all, settle);
}

void annotators_close(const struct annotators *all)
{
	CALL_ALL(all, close);
}

void annotators_prune(const struct annotators *all)
{
	CALL_ALL(all, prune);
}

void annotators_keep_names(const struct annotators *all)
{
	CALL_ALL(all, keep_names);
}
