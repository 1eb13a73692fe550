/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What goroutines and threads wait for, by address (--locks): a user log directly before the block. Its
 * category is "lock"; docs/analysis.md describes the messages.
 */
#include <stdio.h>
#include <stdlib.h>

#include "annotate/annotations.h"
#include "rawlog/awaited.h"
#include "trace/ops/own_names.h"

struct locks {
	struct model_view *view;
	const struct annotate_options *options;
	size_t unnamed; /* logs in the open generation that have no messages yet */
};

/* For a semaphore, the waiting function shows what kind of lock it belongs to. */
static enum lock_kind locks_kind_of(const struct locks *locks, const struct op *op)
{
	const struct annotate_options *options = locks->options;

	if (AWAITED_KIND(op->arg2) != AWAITED_SEMAPHORE || !options->lock_kind || !op->stack2)
		return LOCK_SEMAPHORE;
	return options->lock_kind(options->lock_ctx, &locks->view->stacks->stacks[op->stack2]);
}

/* Whether the record says what is waited for. Go 1.4's arg2 is the beginning of a text. */
static bool has_address(const struct locks *locks, uint64_t awaited)
{
	return locks->view->target->go_minor != 4 && AWAITED_KIND(awaited) && AWAITED_ADDRESS(awaited);
}

static void locks_write_log(struct locks *locks, struct op *op, uint64_t awaited, uint32_t stack)
{
	op->string = strtab_add_str(locks->view->strings, LOCK_LOG_CATEGORY);
	op->arg2 = awaited;
	op->stack2 = stack;
	locks->unnamed++;
}

/* The goroutine or thread is about to block. */
static void locks_observe(struct annotations *all, const struct probe_hit *hit)
{
	struct locks *locks = all->locks;
	uint64_t awaited = hit->rec->arg2;

	if (hit->rec->site == SITE_PARK && has_address(locks, awaited))
		locks_write_log(locks, emit(all->view->ops, OP_LOG, hit->m), awaited, hit->stack);
	if (hit->rec->site == SITE_SWITCH && WAIT_IS_FUTEX(awaited))
		locks_write_log(locks, emit(all->view->ops, OP_LOG, hit->m), awaited, 0);
}

/* Only the goroutine's next start shows what it waits for: reserves a place for the log. */
static void locks_op(struct annotations *all, enum op_kind kind, struct m *m)
{
	(void)kind;
	reserve_op(all->view->ops, m);
}

/* At that start: fills the place before the block. */
static void locks_awaits(struct annotations *all, size_t block, uint64_t awaited, uint32_t stack)
{
	struct op_list *ops = all->view->ops;
	const struct op *at = &ops->ops[block];
	struct op *op = block ? &ops->ops[block - 1] : NULL;

	/* Only the end of a range may have come in between. */
	if (!op || op->kind != OP_NONE || !has_address(all->locks, awaited))
		return;
	*op = (struct op){
		.time = op->time, .kind = OP_LOG, .m = at->m, .g = at->g, .p = at->p, .inferred = true};
	ops->inferred++;
	locks_write_log(all->locks, op, awaited, stack);
}

static void name_lock(struct locks *locks, struct op *op)
{
	const struct log_target *target = locks->view->target;
	char text[AWAITED_TEXT];

	if (target->flags & LOG_TARGET_THREADS)
		snprintf(text, sizeof(text), "futex 0x%llx",
			 (unsigned long long)WAIT_FUTEX_ADDRESS(op->arg2));
	else
		awaited_text(op->arg2, target->go_minor, locks_kind_of(locks, op), text);
	op->string2 = model_text_id(locks->view->model, text, strlen(text));
	op->arg2 = 0;
	op->stack2 = 0;
}

/* Function names are known by now. */
static void locks_close(struct annotations *all)
{
	struct locks *locks = all->locks;
	struct op_list *ops = all->view->ops;
	uint32_t category = locks->unnamed ? strtab_add_str(all->view->strings, LOCK_LOG_CATEGORY) : 0;

	for (size_t i = ops->statuses; locks->unnamed && i < ops->n; i++) {
		struct op *op = &ops->ops[i];

		if (op->kind != OP_LOG || op->string != category || !op->arg2)
			continue;
		name_lock(locks, op);
		locks->unnamed--;
	}
	locks->unnamed = 0;
}

static bool locks_open(struct annotations *all)
{
	all->locks = calloc(1, sizeof(*all->locks));
	if (!all->locks)
		return false;
	all->locks->view = all->view;
	all->locks->options = &all->options;
	return true;
}

static void locks_free(struct annotations *all)
{
	free(all->locks);
}

const struct annotator locks_annotator = {
	.open = locks_open,
	.free = locks_free,
	.sites = {SITE_PARK, SITE_SWITCH},
	.observe = locks_observe,
	.ops = 1ull << OP_GO_BLOCK,
	.op = locks_op,
	.awaits = locks_awaits,
	.close = locks_close,
};
