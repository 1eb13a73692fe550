/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Ops to be inserted into a complete generation. */
#ifndef GOTRACE_MODEL_INSERTS_H
#define GOTRACE_MODEL_INSERTS_H

#include "model/op_list.h"

struct insert {
	size_t place, seq; /* place: before ops[place]; seq: the order of addition */
	struct op op;
};

struct insert_list {
	struct insert *all;
	size_t n, capacity;
};

/* Copies the op. Returns 0 or -ENOMEM. */
int inserts_add(struct insert_list *inserts, size_t place, const struct op *op);
/* Inserts all ops; those with the same place are sorted by time. */
void inserts_apply(struct insert_list *inserts, struct op_list *list);
void inserts_free(struct insert_list *inserts);

#endif
