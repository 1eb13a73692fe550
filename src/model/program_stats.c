/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/program_stats.h"

/* --- Ps --- */

void program_charge_p(struct program_state *program, uint8_t status, uint64_t ns, uint64_t unwatched)
{
	struct program_stats *stats = &program->stats;
	uint64_t watched = ns > unwatched ? ns - unwatched : 0;

	stats->p_not_watched_ns += ns - watched;
	if (status == P_RUNNING)
		stats->p_running_ns += watched;
	else if (status == P_IDLE)
		stats->p_idle_ns += watched;
	else
		stats->p_syscall_ns += watched;
}

/* Charges the time since GOMAXPROCS last changed. Its first value holds from the trace's start. */
static void add_procs(struct program_state *program, uint64_t watched)
{
	struct program_stats *stats = &program->stats;

	if (!stats->gomaxprocs)
		return;
	stats->procs_ns += (watched - program->procs_since) * stats->gomaxprocs;
	program->procs_since = watched;
}

/* --- the collector, and the stopped world --- */

static void end_range(struct watched_range *range, uint64_t watched, uint64_t *sum, uint64_t *max)
{
	uint64_t ns = watched - range->since;

	if (!range->open)
		return;
	range->open = false;
	*sum += ns;
	if (max && ns > *max)
		*max = ns;
}

void program_step(struct program_state *program, const struct op *op, uint64_t watched)
{
	struct program_stats *stats = &program->stats;

	switch (op->kind) {
	case OP_PROCS_CHANGE:
		add_procs(program, watched);
		stats->gomaxprocs = (uint32_t)op->arg;
		break;
	case OP_GC_BEGIN:
	case OP_GC_ACTIVE:
		if (program->gc.open)
			break;
		stats->gc_cycles++;
		program->gc = (struct watched_range){true, watched};
		break;
	case OP_GC_END:
		end_range(&program->gc, watched, &stats->gc_ns, NULL);
		break;
	case OP_STW_BEGIN:
		stats->stw_count++;
		program->stw = (struct watched_range){true, watched};
		break;
	case OP_STW_END:
		end_range(&program->stw, watched, &stats->stw_ns, &stats->stw_max_ns);
		break;
	}
}

/* --- the whole program --- */

void program_g_appears(struct program_state *program, bool before)
{
	struct program_stats *stats = &program->stats;

	program->alive++;
	/* What is first seen later, but existed from the start, was there at the peak. */
	stats->goroutines_at_start += before;
	if (before || program->alive > stats->goroutines_peak)
		stats->goroutines_peak++;
	stats->goroutines++;
}

void program_g_ends(struct program_state *program)
{
	program->alive--;
}

void program_end(struct program_state *program, const struct ledger *ledger)
{
	struct program_stats *stats = &program->stats;
	uint64_t watched = ledger->now - ledger->start - ledger_unwatched_before(ledger, ledger->now);

	add_procs(program, watched);
	end_range(&program->gc, watched, &stats->gc_ns, NULL);
	end_range(&program->stw, watched, &stats->stw_ns, &stats->stw_max_ns);
	stats->goroutines_at_end = program->alive;
	stats->latency_count = program->latency.n;
	stats->latency_p50_ns = histogram_quantile(&program->latency, 0.5);
	stats->latency_p99_ns = histogram_quantile(&program->latency, 0.99);
	stats->latency_max_ns = program->latency.max;
}
