/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * For tests: asserts that a list of ops keeps the rules of the trace formats
 * in list order, op by op. It is stricter than Go's reader, which orders
 * events itself: here each op must be valid where it stands.
 */
#ifndef GOTRACE_OP_RULES_H
#define GOTRACE_OP_RULES_H

#include "trace/ops/op.h"
#include "util/error.h"

struct op_rules;

struct op_rules *op_rules_new(void);
void op_rules_free(struct op_rules *rules);

/* Opens a generation, whose number, start and end must follow from the previous one. Like all functions
 * below, returns 0 or -EBADMSG. */
int op_rules_begin(struct op_rules *rules, const struct generation *gen, struct error *err);
/* Checks one op of the open generation. */
int op_rules_check(struct op_rules *rules, const struct op *op, const struct tables *tables,
		   struct error *err);
/* Closes the generation: no stop-the-world may be open, and every live goroutine must have a status in it or
 * be created in it. */
int op_rules_end(struct op_rules *rules, struct error *err);

/* Checks a whole generation with the three functions above; the error names the op by index. */
int op_rules_generation(struct op_rules *rules, const struct generation *gen, struct error *err);

#endif
