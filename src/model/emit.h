/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Ops of a thread, with the goroutine that it runs and the P that it holds. */
#ifndef GOTRACE_MODEL_EMIT_H
#define GOTRACE_MODEL_EMIT_H

#include "model/entities.h"
#include "model/op_list.h"

/* Appends an op of m (NULL: of no thread), and notes at m, its goroutine and its P that it has to do with
 * them. */
struct op *emit(struct op_list *list, enum op_kind kind, struct m *m);
/* The same with an OP_NONE, which the caller may fill later; returns its index. */
size_t hold_place(struct op_list *list, struct m *m);

#endif
