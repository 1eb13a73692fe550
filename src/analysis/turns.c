/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "analysis/turns.h"

#include <string.h>

#include "analysis/top.h"

static void count_long(struct analysis *a, const struct goroutine *g, uint64_t ns)
{
	struct long_turns *all = &a->groups[g->group].turns;

	all->n++;
	all->ns += ns;
	top_merge(all->cpu, g->turn.cpu);
	if (ns <= all->most)
		return;
	all->most = ns;
	all->at = g->turn.begin;
	all->g = g->goid;
}

void turn_end(struct analysis *a, struct goroutine *g, uint32_t stack, uint32_t connection)
{
	const struct stack_info *info = &a->stacks[stack];
	struct turn *turn = &g->turn;
	uint64_t ran = g->spent[ACT_CODE] - turn->ran;

	/* What an engine calls for itself, as futex for its collector's threads, serves nobody. */
	if (!connection && !info->polls && !info->io_call)
		return;

	/* What was called in a gap is not known. */
	if (turn->serves_many && turn->is_loop && ran >= LONG_TURN_NS &&
	    g->spent[ACT_UNWATCHED] == turn->unwatched)
		count_long(a, g, ran);
	if (turn->sampled)
		memset(turn->cpu, 0, sizeof(turn->cpu));
	turn->sampled = false;
	turn->begin = a->now;
	turn->ran = g->spent[ACT_CODE];
	turn->unwatched = g->spent[ACT_UNWATCHED];
	turn->is_loop |= info->polls;
	turn->serves_many |= connection && turn->connection && connection != turn->connection;
	if (connection)
		turn->connection = connection;
}

void turn_sample(struct goroutine *g, uint32_t row)
{
	top_add(g->turn.cpu, row, 1);
	g->turn.sampled = true;
}
