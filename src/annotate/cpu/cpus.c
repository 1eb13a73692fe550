/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "annotate/cpu/off_cpu.h"

#include <stdio.h>
#include <stdlib.h>

#include "annotate/cpu/runs_on.h"
#include "model/inserts.h"
#include "trace/ops/own_names.h"

/* The state of a thread at the current op. */
struct cpu_thread {
	struct runs_on on;
	uint32_t due; /* the CPU still to be logged (as in cpu_move), 0 = unknown, or already logged */
};

struct walk {
	struct off_cpu *off;
	struct cpu_thread *threads; /* by index in off_cpu.threads */
	size_t next;                /* the next move to be applied */
	uint32_t category, stack;
	struct insert_list logs;
};

static int cpus_by_time(const void *a, const void *b)
{
	const struct cpu_move *one = a, *other = b;

	if (one->time != other->time)
		return one->time < other->time ? -1 : 1;
	return one->tid < other->tid ? -1 : one->tid > other->tid;
}

static uint32_t number_text(const struct model_view *view, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	return strtab_add_str(view->strings, text);
}

/* Adds the log if one is due and a goroutine runs on the thread. */
static void cpus_put_log(struct walk *walk, uint32_t at, size_t place, uint64_t time)
{
	struct cpu_thread *thread = &walk->threads[at];
	struct op op = {.kind = OP_LOG,
			.m = walk->off->threads[at].cpu.tid,
			.g = thread->on.g,
			.p = thread->on.p,
			.time = time,
			.string = walk->category,
			.stack = walk->stack};

	if (!thread->due || !thread->on.g || thread->on.p == NO_P)
		return;
	op.string2 = number_text(walk->off->view, thread->due - 1);
	thread->due = 0;
	if (inserts_add(&walk->logs, place, &op))
		walk->off->view->oom = true;
}

/* Applies the moves before this time, ahead of the op at `place`. */
static void cpus_pass_time(struct walk *walk, size_t place, uint64_t time)
{
	struct off_cpu *off = walk->off;
	uint64_t start = walk->off->view->generation->start;

	for (; walk->next < off->nmoves && off->moves[walk->next].time < time; walk->next++) {
		const struct cpu_move *move = &off->moves[walk->next];
		uint32_t at = map64_find(&off->thread_by_tid, move->tid);

		if (off->threads[at].on == move->cpu)
			continue;
		off->threads[at].on = walk->threads[at].due = move->cpu;
		cpus_put_log(walk, at, place, move->time > start ? move->time : start);
	}
}

static void follow_ops(struct walk *walk)
{
	const struct off_cpu *off = walk->off;
	const struct op_list *list = walk->off->view->ops;
	uint64_t start = walk->off->view->generation->start;

	for (size_t i = 0; i < list->n; i++) {
		const struct op *op = &list->ops[i];
		uint32_t at = op->kind == OP_NONE ? MAP64_NONE : map64_find(&off->thread_by_tid, op->m);

		for (uint32_t t = 0; i == list->statuses && t < off->nthreads; t++)
			cpus_put_log(walk, t, i, start);
		if (i >= list->statuses)
			cpus_pass_time(walk, i, op->time);
		if (at == MAP64_NONE)
			continue;
		runs_on_follow(&walk->threads[at].on, op);
		if (i >= list->statuses)
			cpus_put_log(walk, at, i + 1, op->time);
	}
	cpus_pass_time(walk, list->n, UINT64_MAX);
}

/* Viewers up to Go 1.20 crash on annotations without a stack (cmd/trace/annotations.go). */
static void name_logs(struct walk *walk)
{
	struct model_view *view = walk->off->view;
	uint64_t frames[] = {strtab_add_str(view->strings, CPU_LOG_CATEGORY),
			     strtab_add_str(view->strings, "gotrace")};

	walk->category = (uint32_t)frames[0];
	walk->stack = stack_table_literal(view->stacks, frames, 2);
}

static void log_cpus(struct off_cpu *off)
{
	struct walk walk = {.off = off, .threads = calloc(off->nthreads, sizeof(*walk.threads))};

	if (!walk.threads) {
		off->view->oom = true;
		return;
	}
	for (size_t i = 0; i < off->nthreads; i++)
		walk.threads[i] = (struct cpu_thread){.on.p = NO_P, .due = off->threads[i].on};
	if (off->nmoves)
		qsort(off->moves, off->nmoves, sizeof(*off->moves), cpus_by_time);
	name_logs(&walk);
	follow_ops(&walk);
	inserts_apply(&walk.logs, off->view->ops);
	off->nmoves = 0;
	inserts_free(&walk.logs);
	free(walk.threads);
}

void off_cpu_log_cpus(struct off_cpu *off)
{
	if (off->region_ns == OFF_CPU_NO_REGIONS)
		off->nmoves = 0;
	else if (off->knows_cpus)
		log_cpus(off);
}
