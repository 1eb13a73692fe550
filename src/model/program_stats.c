/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/program_stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- latencies --- */

static unsigned bucket_of(uint64_t ns)
{
	unsigned power;

	if (ns < 4)
		return (unsigned)ns;
	power = 63u - (unsigned)__builtin_clzll(ns);
	return power * 4 + (unsigned)(ns >> (power - 2) & 3);
}

/* The greatest duration in a bucket. */
static uint64_t bucket_end(unsigned bucket)
{
	unsigned power = bucket / 4;

	if (bucket < 8)
		return bucket;
	return ((uint64_t)(4 + bucket % 4 + 1) << (power - 2)) - 1;
}

void latencies_add(struct latencies *all, uint64_t ns)
{
	all->buckets[bucket_of(ns)]++;
	all->n++;
	if (ns > all->max_ns)
		all->max_ns = ns;
}

uint64_t latencies_quantile(const struct latencies *all, double part)
{
	uint64_t rank = (uint64_t)(part * (double)all->n), seen = 0;

	for (unsigned i = 0; i < LATENCY_BUCKETS && all->n; i++) {
		seen += all->buckets[i];
		if (seen > rank || seen == all->n)
			return bucket_end(i) < all->max_ns ? bucket_end(i) : all->max_ns;
	}
	return 0;
}

/* --- Ps --- */

static struct p_time *p_of(struct program_state *program, int32_t id)
{
	size_t n = (size_t)id + 1;
	struct p_time *bigger;

	if (n <= program->nps)
		return &program->ps[id];
	bigger = realloc(program->ps, n * sizeof(*bigger));
	if (!bigger)
		return NULL;
	memset(bigger + program->nps, 0, (n - program->nps) * sizeof(*bigger));
	program->ps = bigger;
	program->nps = n;
	return &bigger[id];
}

static void charge_p(struct program_stats *stats, const struct p_time *p, uint64_t now, uint64_t unwatched)
{
	uint64_t unwatched_part = unwatched - p->unwatched, all = now > p->since ? now - p->since : 0;
	uint64_t ns = all > unwatched_part ? all - unwatched_part : 0;

	if (!p->status)
		return;
	stats->p_not_watched_ns += all - ns;
	if (p->status == P_RUNNING)
		stats->p_running_ns += ns;
	else if (p->status == P_IDLE)
		stats->p_idle_ns += ns;
	else
		stats->p_syscall_ns += ns;
}

/* Returns the status that an op gives its P; 0 = unchanged. */
static uint8_t p_status_after(const struct op *op)
{
	switch (op->kind) {
	case OP_PROC_STATUS:
		return op->status;
	case OP_PROC_START:
	case OP_SYSCALL_END:
		return P_RUNNING;
	case OP_PROC_STOP:
	case OP_PROC_STEAL:
		return P_IDLE;
	case OP_SYSCALL_BEGIN:
		return P_SYSCALL;
	case OP_GO_DESTROY_SYSCALL:
		return P_ABANDONED;
	default:
		return 0;
	}
}

static int add_to_p(struct program_state *program, const struct op *op, uint64_t unwatched)
{
	uint8_t status = op->p >= 0 ? p_status_after(op) : 0;
	struct p_time *p = status ? p_of(program, op->p) : NULL;

	if (!status)
		return 0;
	if (!p)
		return -ENOMEM;
	charge_p(&program->stats, p, op->time, unwatched);
	*p = (struct p_time){.since = op->time, .unwatched = unwatched, .status = status};
	return 0;
}

/* --- the collector, and the stopped world --- */

static void end_range(uint64_t *since, uint64_t now, uint64_t *sum, uint64_t *max)
{
	uint64_t ns = now > *since ? now - *since : 0;

	if (!*since)
		return;
	*sum += ns;
	if (max && ns > *max)
		*max = ns;
	*since = 0;
}

static void add_to_world(struct program_state *program, const struct op *op)
{
	struct program_stats *stats = &program->stats;

	switch (op->kind) {
	case OP_PROCS_CHANGE:
		stats->gomaxprocs = (uint32_t)op->arg;
		break;
	case OP_GC_BEGIN:
	case OP_GC_ACTIVE:
		if (program->gc_since)
			break;
		stats->gc_cycles++;
		program->gc_since = op->time;
		break;
	case OP_GC_END:
		end_range(&program->gc_since, op->time, &stats->gc_ns, NULL);
		break;
	case OP_STW_BEGIN:
		stats->stw_count++;
		program->stw_since = op->time;
		break;
	case OP_STW_END:
		end_range(&program->stw_since, op->time, &stats->stw_ns, &stats->stw_max_ns);
		break;
	}
}

/* --- the whole program --- */

static bool is_status(enum op_kind kind)
{
	return kind == OP_PROC_STATUS || kind == OP_GO_STATUS;
}

int program_stats_add(struct program_state *program, const struct op *op, uint64_t unwatched)
{
	if (!program->started && !is_status(op->kind)) {
		program->started = true;
		program->stats.goroutines_at_start = program->alive;
	}
	add_to_world(program, op);
	return add_to_p(program, op, unwatched);
}

void program_g_created(struct program_state *program)
{
	program->alive++;
	if (program->alive > program->stats.goroutines_peak)
		program->stats.goroutines_peak = program->alive;
}

void program_g_ended(struct program_state *program)
{
	program->alive--;
}

void program_stats_end(struct program_state *program, uint64_t now, uint64_t unwatched)
{
	struct program_stats *stats = &program->stats;

	for (size_t i = 0; i < program->nps; i++)
		charge_p(stats, &program->ps[i], now, unwatched);
	program->nps = 0;
	end_range(&program->gc_since, now, &stats->gc_ns, NULL);
	end_range(&program->stw_since, now, &stats->stw_ns, &stats->stw_max_ns);
	stats->goroutines_at_end = program->alive;
	stats->latency_count = program->latencies.n;
	stats->latency_p50_ns = latencies_quantile(&program->latencies, 0.5);
	stats->latency_p99_ns = latencies_quantile(&program->latencies, 0.99);
	stats->latency_max_ns = program->latencies.max_ns;
}

void program_stats_free(struct program_state *program)
{
	free(program->ps);
}
