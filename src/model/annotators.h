/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Calls the annotators that listen. Where none does, a call costs one test. */
#ifndef GOTRACE_MODEL_ANNOTATORS_H
#define GOTRACE_MODEL_ANNOTATORS_H

#include "model/annotator.h"
#include "model/early.h"

/* Bits: indices in the table. */
struct annotators {
	const struct annotator *const *table;
	struct annotations *state;
	unsigned n;
	uint16_t at_site[UINT8_MAX + 1];
	uint16_t at_record[LOG_LAST + 1];
	uint16_t at_op[OP_KIND_COUNT];
};

/* table ends with NULL; NULL: there are no annotators. Returns false when out of memory. */
bool annotators_open(struct annotators *all, const struct annotator *const *table, struct annotations *state);
void annotators_free(struct annotators *all);

void annotators_call_observe(const struct annotators *all, const struct probe_hit *hit);
void annotators_call_op(const struct annotators *all, enum op_kind kind, struct m *m);

static inline void annotators_observe(const struct annotators *all, const struct probe_hit *hit)
{
	if (all->at_site[hit->rec->site])
		annotators_call_observe(all, hit);
}

static inline void annotators_op(const struct annotators *all, enum op_kind kind, struct m *m)
{
	if (all->at_op[kind])
		annotators_call_op(all, kind, m);
}

void annotators_learn(const struct annotators *all, const struct log_record *record);
void annotators_awaits(const struct annotators *all, size_t block, uint64_t awaited, uint32_t stack);
/* from, to: the records between the snapshot's markers; none if to <= from. */
void annotators_snapshot(const struct annotators *all, const struct early_records *early, size_t from,
			 size_t to);
void annotators_settle(const struct annotators *all);
void annotators_close(const struct annotators *all);
void annotators_prune(const struct annotators *all);
void annotators_keep_names(const struct annotators *all);

#endif
