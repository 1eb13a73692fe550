/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The front end of a target traced as goroutines. */
#include "model/front_end.h"
#include "model/go/memory.h"
#include "model/go/front_end.h"

static bool open_nothing(struct model *md)
{
	(void)md;
	return true;
}

static void nothing(struct model *md)
{
	(void)md;
}

static void free_memory(struct model *md)
{
	memory_free(&md->memory);
}

static void learn_no_name(struct model *md, const struct log_record *record)
{
	(void)md, (void)record;
}

static void go_start_from_nothing(struct model *md, const struct raw_record *first)
{
	(void)md, (void)first;
}

static void go_describe_status(struct model *md, struct g *g, struct op *op)
{
	/* Readers name a goroutine that was there before by the first function of this stack. */
	op->stack = stack_table_rooted(&md->stacks, g->stack, g->startpc, string_id(md, CUT_FRAME));
	if (md->generation.number != 1)
		return;
	/* Formats without statuses write a creation with this stack instead. */
	op->stack2 = stack_table_entry(&md->stacks, g->startpc);
	if (g->status == G_WAITING)
		op->string = g->wait_reason;
}

static uint32_t go_entry_stack(struct model *md, const struct g *g)
{
	return stack_table_entry(&md->stacks, g->startpc);
}

static uint32_t no_name(struct model *md, const struct g *g)
{
	(void)md, (void)g;
	return 0;
}

static void set_nothing(struct model *md, bool recorded)
{
	(void)md, (void)recorded;
}

static void nothing_of_g(struct model *md, struct g *g)
{
	(void)md, (void)g;
}

static void use_no_stacks(struct model *md, const struct g *g)
{
	(void)md, (void)g;
}

static void end_nothing(struct model *md, bool last)
{
	(void)md, (void)last;
}

static void forget_no_stack(struct model *md, uint32_t id)
{
	(void)md, (void)id;
}

const struct front_end go_front_end = {
	.annotates = true,
	.open = open_nothing,
	.close = free_memory,
	.observe = go_observe,
	.learn_name = learn_no_name,
	.set_calls = set_nothing,
	.settle = go_settle,
	.end_call = nothing_of_g,
	.start = go_start,
	.start_spawned = go_start_from_nothing,
	.resync = go_resync,
	.write_first = memory_write_first,
	.describe_status = go_describe_status,
	.end_generation = end_nothing,
	.entry_stack = go_entry_stack,
	.row_name = no_name,
	.end_life = nothing_of_g,
	.use_stacks = use_no_stacks,
	.forget_stack = forget_no_stack,
	.stacks_renewed = nothing,
	.files_renewed = nothing,
	.keep_names = nothing,
};
