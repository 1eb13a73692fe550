/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Ops that are put between those of a complete generation. */
#ifndef GOTRACE_MODEL_INSERTS_H
#define GOTRACE_MODEL_INSERTS_H

#include "model/op_list.h"

struct insert {
	size_t place, seq; /* before ops[place]; in the order in which they were added */
	struct op op;
};

struct insert_list {
	struct insert *all;
	size_t n, capacity;
};

/* Copies the op. 0 or -ENOMEM. */
int inserts_add(struct insert_list *inserts, size_t place, const struct op *op);
/* Those of one place stand in the order of their times. */
void inserts_apply(struct insert_list *inserts, struct op_list *list);
void inserts_free(struct insert_list *inserts);

#endif
