/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/generation.h"

/* Half of the limit on names. */
enum { MANY_NAMES = 1 << 15 };
#define IDLE_NS (10 * 1000000000ull)

/* Each generation's statuses refer to the goroutines' latest stacks. */
static void use_held(struct model *md)
{
	for (uint32_t i = 1; i < md->entities.gs.n; i++) {
		const struct g *g = md->entities.gs.all[i];

		if (g->status == G_DEAD)
			continue;
		stack_table_use(&md->stacks, g->stack);
		md->front->use_stacks(md, g);
	}
}

/*
 * The kernel side sends a stack's frames once, until it is made to forget what it has sent, directly after
 * the record that leads here (capture_renew). So every stack that it does not send again was sent or used in
 * this epoch or the one before.
 */
void prune_stacks(struct model *md)
{
	struct stack_table *stacks = &md->stacks;

	/* Records waiting for a snapshot refer to stacks by hash. */
	if (!md->generation.renew_due || md->phase != RUNNING)
		return;
	md->generation.renew_due = false;
	stack_table_renew(stacks);
	use_held(md);
	for (uint32_t id = 1; id < stacks->n; id++) {
		if (stack_table_is_stale(stacks, id) && stack_table_forget(stacks, id))
			md->front->forget_stack(md, id);
	}
	md->front->stacks_renewed(md);
}

void prune_names(struct model *md)
{
	struct strtab *strings = md->options.strings;

	/* Records waiting for a snapshot refer to names. */
	if (!md->options.any_first || md->phase != RUNNING || strtab_loose(strings) < MANY_NAMES)
		return;
	for (uint32_t id = 1; id < md->stacks.n; id++) {
		strtab_keep(strings, md->stacks.stacks[id].leaf);
		strtab_keep(strings, md->stacks.stacks[id].root);
	}
	annotators_keep_names(&md->annotators);
	md->front->keep_names(md);
	strtab_sweep(strings);
}

void prune_threads(struct model *md)
{
	uint64_t now = md->ops.last_time;

	m_forget_idle(&md->entities, now > IDLE_NS ? now - IDLE_NS : 0, md->synthetic.m);
}
