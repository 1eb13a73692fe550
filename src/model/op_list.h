/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The ops of the open generation. Most are written in the order of the records; an op that is learnt late is
 * moved up to its place. The list dates each op and counts those that no record shows.
 */
#ifndef GOTRACE_MODEL_OP_LIST_H
#define GOTRACE_MODEL_OP_LIST_H

#include "trace/ops/op.h"

/* Where an op comes from. */
enum provenance {
	OBSERVED, /* a record shows it */
	INFERRED, /* normal, but without a probe point of its own */
	REPAIRED, /* made up so that the trace stays valid */
};

/* ops[index] belongs further up: before ops[place]. */
struct moved_op {
	uint32_t index, place;
	uint32_t next; /* 1 + index of the next one with this place, 0 = none (op_list_apply_moves) */
};

struct op_list {
	struct op *ops;
	size_t n, capacity;
	size_t statuses; /* number of statuses, which come first */
	uint64_t before; /* number of ops in all earlier generations */

	/* For the timestamp of the next op. */
	uint64_t now;       /* ns: time of the current record */
	uint64_t last_time; /* ns: of the last op */
	struct op_spacing spacing;
	enum provenance provenance;

	struct moved_op *moved;
	size_t nmoved, moved_capacity;
	uint32_t *first_moved; /* by place, in op_list_apply_moves: 1 + index in moved, 0 = none */
	size_t first_capacity;

	uint64_t inferred, repaired; /* ops so far, over all generations */
	bool oom;                    /* out of memory: ops are missing */
};

/* Sets the provenance of the following ops. Returns the previous one, to be restored. */
static inline enum provenance set_provenance(struct op_list *list, enum provenance provenance)
{
	enum provenance before = list->provenance;

	list->provenance = provenance;
	return before;
}

/* Slow path of op_list_append. */
struct op *op_list_grow(struct op_list *list);

/* Appends an op that is not filled in. It is valid until the next append. */
static inline struct op *op_list_append(struct op_list *list)
{
	return list->n < list->capacity ? &list->ops[list->n++] : op_list_grow(list);
}

/* Returns the time of the next op, of thread tid: the current record's, or as much later as readers need. */
uint64_t op_list_next_time(struct op_list *list, enum op_kind kind, uint32_t tid);

/* Appends an OP_NONE of thread tid, which the caller may fill in later. Returns its index. */
size_t op_list_reserve(struct op_list *list, uint32_t tid);

static inline uint64_t later_op(uint64_t number, uint64_t other)
{
	return number > other ? number : other;
}

/* The number of the last op, counted over all generations. */
static inline uint64_t op_number(const struct op_list *list)
{
	return list->before + list->n;
}

/*
 * Moves the ops that were just written, from this index on, up to directly after the op with this number.
 * Their time is then the wanted one (ns, 0: none), or the earliest possible after it.
 */
void op_list_move_up(struct op_list *list, size_t from, uint64_t behind, uint64_t wanted);
/*
 * Returns the number of the last op, of those that were not moved, that is not after this time (ns); at least
 * `least`.
 */
uint64_t op_list_last_by(const struct op_list *list, uint64_t time, uint64_t least);
/* Applies the moves. To be called once, when the generation is complete. */
void op_list_apply_moves(struct op_list *list);
/* Dates an op that was inserted or follows one: its own time, or as much later as readers need. */
void op_list_date(struct op_list *list, struct op_spacing *before, size_t index);
/*
 * The spacing after the first n ops. Other threads' ops before the last op's time unit do not matter: of
 * these, `other` may be any.
 */
struct op_spacing op_list_spacing(const struct op_list *list, size_t n);
/* Drops the ops of the closed generation. */
void op_list_next_generation(struct op_list *list);
void op_list_free(struct op_list *list);

#endif
