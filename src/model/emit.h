/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Writes ops of a thread, with its goroutine and its P. */
#ifndef GOTRACE_MODEL_EMIT_H
#define GOTRACE_MODEL_EMIT_H

#include "model/entities.h"
#include "model/op_list.h"

/* Appends an op of m (NULL: of no thread) and sets last_op of m, its goroutine and its P. */
struct op *emit(struct op_list *list, enum op_kind kind, struct m *m);
/* The same with an OP_NONE, which the caller may fill in later. Returns its index. */
size_t reserve_op(struct op_list *list, struct m *m);

#endif
