/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/locks.h"

#include <stdio.h>

#include "model/emit.h"
#include "trace/ops/own_names.h"

/* For a semaphore, the waiting function shows what kind of lock it belongs to. */
static enum lock_kind kind_of(const struct model *md, const struct op *op)
{
	const struct model_options *options = &md->options;

	if (AWAITED_KIND(op->arg2) != AWAITED_SEMAPHORE || !options->lock_kind || !op->stack2)
		return LOCK_SEMAPHORE;
	return options->lock_kind(options->ctx, &md->stacks.stacks[op->stack2]);
}

/* Whether the record says what is waited for. Go 1.4's arg2 is the beginning of a text. */
static bool has_address(const struct model *md, uint64_t arg2)
{
	return md->options.locks && md->target.go_minor != 4 && AWAITED_KIND(arg2) && AWAITED_ADDRESS(arg2);
}

static void write_log(struct model *md, struct op *op, uint64_t awaited, uint32_t stack)
{
	op->string = string_id(md, LOCK_LOG_CATEGORY);
	op->arg2 = awaited;
	op->stack2 = stack;
	md->lock_logs++;
}

void lock_note_park(struct model *md, struct m *m, uint64_t arg2, uint32_t stack)
{
	if (has_address(md, arg2))
		write_log(md, emit(&md->ops, OP_LOG, m), arg2, stack);
}

void lock_note_futex(struct model *md, struct m *m, uint64_t wait)
{
	if (md->options.locks && WAIT_KIND(wait) == FILE_FUTEX)
		write_log(md, emit(&md->ops, OP_LOG, m), wait, 0);
}

void lock_reserve_op(struct model *md, struct m *m)
{
	if (md->options.locks)
		reserve_op(&md->ops, m);
}

void lock_fill_reserved(struct model *md, size_t block, uint64_t arg2, uint32_t stack)
{
	const struct op *at = &md->ops.ops[block];
	struct op *op = block ? &md->ops.ops[block - 1] : NULL;

	/* Only the end of a range may have come in between. */
	if (!op || op->kind != OP_NONE || !has_address(md, arg2))
		return;
	*op = (struct op){
		.time = op->time, .kind = OP_LOG, .m = at->m, .g = at->g, .p = at->p, .inferred = true};
	md->ops.inferred++;
	write_log(md, op, arg2, stack);
}

void lock_logs_complete(struct model *md)
{
	uint32_t category = md->lock_logs ? string_id(md, LOCK_LOG_CATEGORY) : 0;
	char text[AWAITED_TEXT];

	for (size_t i = md->ops.statuses; md->lock_logs && i < md->ops.n; i++) {
		struct op *op = &md->ops.ops[i];

		if (op->kind != OP_LOG || op->string != category || !op->arg2)
			continue;
		if (md->threads)
			snprintf(text, sizeof(text), "futex 0x%llx",
				 (unsigned long long)WAIT_FUTEX_ADDRESS(op->arg2));
		else
			awaited_text(op->arg2, md->target.go_minor, kind_of(md, op), text);
		op->string2 = strtab_add_str(md->annotations.texts, text);
		md->oom = md->oom || !op->string2;
		op->string2 |= TEXT_ID;
		op->arg2 = 0;
		op->stack2 = 0;
		md->lock_logs--;
	}
	md->lock_logs = 0;
}
