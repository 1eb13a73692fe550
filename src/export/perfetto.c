/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A trace for Perfetto's UI and trace processor (docs/perfetto.md). protobuf-c encodes it: Debian has it, it
 * is C, and its messages are plain structs. nanopb fixes the sizes of repeated fields, and Perfetto's own SDK
 * records what happens now, not what is read from a file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "trace/ops/gap_log.h"
#include "trace/ops/own_logs.h"
#include "trace/ops/own_names.h"
#include "export/format.h"
#include "export/perfetto_event.h"
#include "export/profile.h"
#include "util/utf8.h"

/* --- states of goroutines --- */

/* "Running", "Waiting: sync". */
static int state_name(struct perfetto *px, const struct ledger_interval *now, uint32_t *name)
{
	static const char *const names[LEDGER_STATE_COUNT] = {
		[G_RUNNABLE] = "Runnable",
		[G_RUNNING] = "Running",
		[G_SYSCALL] = "Syscall",
		[G_WAITING] = "Waiting",
		[LEDGER_UNWATCHED] = "Not watched",
	};
	uint32_t reason = now->state == G_WAITING ? now->reason : 0, ours;
	uint64_t key = (uint64_t)now->state << 32 | reason;
	char text[256];
	const char *why;
	int rc;

	*name = map64_find(&px->named_states, key);
	if (*name != MAP64_NONE)
		return 0;
	rc = stacktab_string(&px->st, px->tables, reason, &ours);
	if (rc)
		return rc;
	why = ours ? strtab_get(px->st.strings, ours, NULL) : "";
	snprintf(text, sizeof(text), "%s%s%.*s", names[now->state], ours ? ": " : "", text_fit(why, 200),
		 why);
	rc = pf_text(px, text, name);
	return rc ? rc : map64_set(&px->named_states, key, *name);
}

static int perfetto_put_state(struct perfetto *px, const struct pf_goroutine *g,
			      const struct tl_change *change)
{
	struct pf_event ev = {
		.time = change->time,
		.track = g->track,
		.type = PF_STATE,
		.category = PF_STATES,
		.labels = change->to->state != LEDGER_NONE ? g->labels : 0,
	};

	if (change->to->state != LEDGER_NONE && state_name(px, change->to, &ev.name))
		return -ENOMEM;
	return pf_put_event(px, &ev);
}

/* In a row, the outer slice is the goroutine, and the inner ones are its states. */
static int perfetto_put_row(struct perfetto *px, struct pf_goroutine *g, const struct tl_change *change)
{
	struct pf_event ev = {.time = change->time, .track = g->track, .type = PF_END, .category = PF_STATES};
	char name[32];
	int rc = g->open ? pf_put_event(px, &ev) : 0;

	if (rc || (change->to->state == LEDGER_NONE && !g->open))
		return rc;
	if (change->to->state == LEDGER_NONE) {
		g->open = false;
		return pf_put_event(px, &ev);
	}
	ev.type = PF_BEGIN;
	if (!g->open) {
		snprintf(name, sizeof(name), "G%llu", (unsigned long long)change->g->goid);
		if (pf_text(px, name, &ev.name))
			return -ENOMEM;
		rc = pf_put_event(px, &ev);
	}
	if (rc || state_name(px, change->to, &ev.name))
		return rc ? rc : -ENOMEM;
	ev.labels = g->labels;
	g->open = true;
	return pf_put_event(px, &ev);
}

static int show_state(struct perfetto *px, struct pf_goroutine *g, const struct tl_change *change)
{
	int rc = 0;

	if (g->shape == PF_TRACK)
		rc = perfetto_put_state(px, g, change);
	else if (g->shape == PF_ROW)
		rc = perfetto_put_row(px, g, change);
	if (!rc && change->to->state == LEDGER_NONE)
		rc = pf_goroutine_ended(&px->tracks, g);
	return rc;
}

/* --- who runs on a P --- */

static int leave_place(struct perfetto *px, const struct tl_change *change)
{
	const struct ledger_interval *now = &change->g->now;
	int rc;
	struct pf_proc *proc = pf_proc(&px->tracks, now->p, &rc);
	struct pf_event ev = {.time = change->time, .type = PF_END, .category = PF_RUN};

	if (!proc || !proc->running)
		return rc;
	proc->running = false;
	ev.track = proc->track;
	if (!change->final && !change->wakes &&
	    stacktab_stack(&px->st, px->tables, change->to->stack, &ev.stack))
		return -ENOMEM;
	return pf_put_event(px, &ev);
}

static int enter_place(struct perfetto *px, struct pf_goroutine *g, const struct tl_change *change)
{
	int rc;
	struct pf_proc *proc = pf_proc(&px->tracks, change->to->p, &rc);
	struct pf_event ev = {
		.time = change->time,
		.type = PF_BEGIN,
		.category = PF_RUN,
		.name = g->name,
		.end_of_flow = g->flow,
		.labels = g->labels,
		.number_is = PF_GOID,
		.number = change->g->goid,
	};

	if (!proc)
		return rc;
	g->flow = 0;
	proc->running = true;
	ev.track = proc->track;
	return pf_put_event(px, &ev);
}

static int show_waking(struct perfetto *px, struct pf_goroutine *g, const struct tl_change *change)
{
	int rc;
	struct pf_proc *proc = pf_proc(&px->tracks, change->p, &rc);
	struct pf_event ev = {
		.time = change->time,
		.track = proc ? proc->track : px->tracks.wakers,
		.type = PF_INSTANT,
		.category = PF_WAKE,
		.flow = ++px->flows,
		.number_is = PF_GOID,
		.number = change->g->goid,
	};

	if (rc)
		return rc;
	g->flow = ev.flow;
	if (pf_text(px, "wakes", &ev.name) ||
	    stacktab_stack(&px->st, px->tables, change->to->stack, &ev.stack))
		return -ENOMEM;
	return pf_put_event(px, &ev);
}

static int perfetto_on_change(void *ctx, const struct tl_change *change)
{
	struct perfetto *px = ctx;
	int rc;
	struct pf_goroutine *g = pf_goroutine(&px->tracks, change->g->serial, &rc);

	if (!rc && change->wakes && change->to->state != LEDGER_UNWATCHED)
		rc = show_waking(px, g, change);
	if (!rc && change->g->now.state == G_RUNNING)
		rc = leave_place(px, change);
	if (!rc)
		rc = show_state(px, g, change);
	if (!rc)
		rc = pf_threads_change(px, g, change);
	if (!rc && change->to->state == G_RUNNING)
		rc = enter_place(px, g, change);
	return rc ? rc : pf_counters_change(&px->counters, change);
}

/* If the labels of a running goroutine change, a new slice continues the current one. */
static int perfetto_on_labels(void *ctx, const struct tl_goroutine *g, const struct tl_labels *labels)
{
	struct perfetto *px = ctx;
	const struct tl_change change = {.time = labels->time, .g = g, .to = &g->now};
	int rc;
	struct pf_goroutine *shown = pf_goroutine(&px->tracks, g->serial, &rc);

	if (!shown)
		return rc;
	shown->labels = 0;
	if (g->labels && stacktab_text(&px->st, labels->text, labels->len, &shown->labels))
		return -ENOMEM;
	return g->now.state == G_RUNNING ? show_state(px, shown, &change) : 0;
}

/* --- ranges --- */

static int task_track(struct perfetto *px, const struct tl_range *range, bool begins, uint32_t name,
		      uint64_t *uuid)
{
	uint32_t at = map64_find(&px->task_tracks, range->id);
	int rc;

	if (at != MAP64_NONE) {
		*uuid = px->task_uuids[at];
		return 0;
	}
	if (!begins)
		return -EINVAL;
	rc = pf_task_track(&px->tracks, name, uuid);
	if (rc)
		return rc;
	if (array_grow(&px->task_uuids, &px->task_capacity, px->ntasks + 1, sizeof(*px->task_uuids)) ||
	    map64_set(&px->task_tracks, range->id, (uint32_t)px->ntasks))
		return -ENOMEM;
	px->task_uuids[px->ntasks++] = *uuid;
	return 0;
}

static int range_track(struct perfetto *px, const struct tl_range *range, bool begins, uint32_t name,
		       uint64_t *uuid)
{
	switch (range->kind) {
	case TL_GC:
		*uuid = px->tracks.gc;
		return 0;
	case TL_STW:
		*uuid = px->tracks.stw;
		return 0;
	case TL_GAP:
		*uuid = px->tracks.gotrace;
		return 0;
	case TL_SWEEP:
		return pf_sweep_track(&px->tracks, range->p, uuid);
	case TL_TASK:
		return task_track(px, range, begins, name, uuid);
	default:
		return range->g ? pf_details_track(&px->tracks, range->g, uuid) : -EINVAL;
	}
}

static int range_name(struct perfetto *px, const struct tl_range *range, uint32_t *name)
{
	static const char *const names[TL_RANGE_KINDS] = {
		[TL_GC] = "GC",           [TL_STW] = "stop-the-world",    [TL_SWEEP] = "GC sweep",
		[TL_TASK] = "task",       [TL_ASSIST] = "GC mark assist", [TL_REGION] = "region",
		[TL_GAP] = "Not watched",
	};
	int rc = stacktab_string(&px->st, px->tables, range->name, name);

	return rc || *name ? rc : pf_text(px, names[range->kind], name);
}

/* Uses our copy of the name, because a range may outlive the tables. */
static bool is_off_cpu(struct perfetto *px, const struct tl_range *range)
{
	uint32_t name;

	if (!px->census->off_cpu || range->kind != TL_REGION || !range->g ||
	    stacktab_string(&px->st, px->tables, range->name, &name))
		return false;
	return off_cpu_region_reason(strtab_get(px->st.strings, name, NULL)) != NULL;
}

static int put_range(struct perfetto *px, const struct tl_range *range, bool begins)
{
	static const uint8_t categories[TL_RANGE_KINDS] = {
		[TL_GC] = PF_GC,     [TL_STW] = PF_GC,      [TL_SWEEP] = PF_GC,    [TL_ASSIST] = PF_GC,
		[TL_TASK] = PF_USER, [TL_REGION] = PF_USER, [TL_GAP] = PF_GOTRACE,
	};
	struct pf_event ev = {
		.time = begins ? range->since : range->until,
		.type = begins ? PF_BEGIN : PF_END,
		.category = categories[range->kind],
	};
	int rc = begins ? range_name(px, range, &ev.name) : 0;

	if (!rc && is_off_cpu(px, range))
		rc = pf_threads_off_cpu(px, range, ev.name, begins);
	if (!rc)
		rc = range_track(px, range, begins, ev.name, &ev.track);
	if (rc)
		return rc == -EINVAL ? 0 : rc; /* it has no track: a region of no goroutine */
	if (begins && stacktab_stack(&px->st, px->tables, range->stack, &ev.stack))
		return -ENOMEM;
	if (begins && range->task) {
		ev.number_is = PF_TASK;
		ev.number = range->task;
	} else if (!begins && range->kind == TL_SWEEP) {
		ev.number_is = PF_BYTES;
		ev.number = range->arg;
	}
	return pf_put_event(px, &ev);
}

static int perfetto_on_begin(void *ctx, const struct tl_range *range)
{
	return put_range(ctx, range, true);
}

static int perfetto_on_end(void *ctx, const struct tl_range *range)
{
	return put_range(ctx, range, false);
}

/* --- single events --- */

static int perfetto_put_log(struct perfetto *px, const struct op *op, const struct tl_goroutine *g)
{
	struct pf_event ev = {
		.time = op->time,
		.track = px->tracks.gotrace,
		.type = PF_INSTANT,
		.category = PF_USER,
		.text_is = PF_MESSAGE,
	};
	uint32_t message, cpu;
	int rc = stacktab_string(&px->st, px->tables, op->string, &ev.name);

	if (!rc)
		rc = stacktab_string(&px->st, px->tables, op->string2, &message);
	if (!rc && !ev.name)
		rc = pf_text(px, "log", &ev.name);
	if (rc)
		return rc;
	if (!px->census->threads && op->m &&
	    cpu_log_parse(strtab_get(px->st.strings, ev.name, NULL),
			  strtab_get(px->st.strings, message, NULL), &cpu))
		return pf_threads_move(px, op->m, cpu + 1, op->time);
	if (strcmp(strtab_get(px->st.strings, ev.name, NULL), OWN_LOG_CATEGORY) == 0) {
		ev.category = PF_GOTRACE;
	} else if (g) {
		rc = pf_details_track(&px->tracks, g->serial, &ev.track);
		if (rc)
			return rc;
	}
	if (op->arg) {
		ev.number_is = PF_TASK;
		ev.number = op->arg;
	}
	ev.text = strtab_get(px->st.strings, message, NULL);
	return pf_put_event(px, &ev);
}

static int perfetto_put_sample(struct perfetto *px, const struct op *op, const struct tl_goroutine *g)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__StackSample sample = PERFETTO__STACK_SAMPLE__INIT;
	Perfetto__TaskContext task = PERFETTO__TASK_CONTEXT__INIT;
	Perfetto__ExecutionContext place = PERFETTO__EXECUTION_CONTEXT__INIT;
	char name[160];
	uint32_t stack;
	size_t len;
	int rc = stacktab_stack(&px->st, px->tables, op->stack, &stack);

	if (!rc)
		rc = pf_intern_stack(&px->stream, stack);
	if (!rc && op->m)
		pf_thread(&px->tracks, op->m, NULL, &rc);
	if (rc)
		return rc;
	task.has_pid = true;
	task.pid = px->tracks.pid;
	task.has_tid = op->m;
	task.tid = (int32_t)op->m;
	if (g) {
		snprintf(name, sizeof(name), "G%llu %.*s", (unsigned long long)g->goid,
			 text_fit(census_name(px->census, g->serial, &len), 100),
			 census_name(px->census, g->serial, &len));
		rc = pf_intern_context(&px->stream, g->serial, name,
				       px->census->threads ? "thread" : "goroutine");
		if (rc)
			return rc;
		task.has_async_id = true;
		task.async_id = g->serial;
	}
	if (px->census->threads && op->p >= 0) {
		place.has_cpu = true;
		place.cpu = (uint32_t)op->p;
		sample.execution_context = &place;
	}
	sample.task_context = &task;
	sample.has_callstack_iid = stack;
	sample.callstack_iid = stack;
	sample.has_primary_weight = true;
	sample.primary_weight = census_sample_ns(px->census);
	packet.data_case = PERFETTO__TRACE_PACKET__DATA_STACK_SAMPLE;
	packet.stack_sample = &sample;
	return pf_put_at(&px->stream, op->time, &packet);
}

static int perfetto_on_event(void *ctx, const struct op *op, const struct tl_goroutine *g)
{
	struct perfetto *px = ctx;

	switch (op->kind) {
	case OP_LOG:
		return perfetto_put_log(px, op, g);
	case OP_CPU_SAMPLE:
		return perfetto_put_sample(px, op, g);
	default:
		return pf_counters_op(&px->counters, op);
	}
}

static int perfetto_on_tables(void *ctx, const struct generation *gen)
{
	struct perfetto *px = ctx;

	px->tables = gen ? gen->tables : NULL;
	return 0;
}

/* --- the whole --- */

static void perfetto_free(void *writer)
{
	struct perfetto *px = writer;

	pf_tracks_free(&px->tracks);
	pf_stream_free(&px->stream);
	stacktab_free(&px->st);
	map64_free(&px->task_tracks);
	map64_free(&px->named_states);
	free(px->task_uuids);
	free(px);
}

static int perfetto_start(struct perfetto *px, const struct export_options *options)
{
	const struct census *census = px->census;
	const struct pf_process process = pf_process(census, options);
	int rc = stacktab_init(&px->st);

	if (!rc)
		rc = pf_stream_init(&px->stream, &options->out, &px->st, options->part + 1);
	if (!rc)
		rc = pf_stream_start(
			&px->stream, census->start, options->machine ? options->machine->suspended_ns : 0,
			census->wall_ns ? census->wall_ns + census->start - census->clock_ns : 0);
	if (!rc && options->part == 0)
		rc = pf_put_about(&px->stream, census, options, &process);
	if (!rc)
		rc = pf_tracks_init(&px->tracks, &px->stream, census, process.pid, process.name,
				    (uint64_t)options->part << 40);
	px->flows = (uint64_t)options->part << 40;
	return rc ? rc : pf_counters_init(&px->counters, &px->tracks);
}

static void *perfetto_open(const struct export_options *options, const struct census *census,
			   struct tl_visitor *visitor, struct error *err)
{
	struct perfetto *px = calloc(1, sizeof(*px));

	(void)err;
	if (!px)
		return NULL;
	px->census = census;
	if (perfetto_start(px, options)) {
		perfetto_free(px);
		return NULL;
	}
	*visitor = (struct tl_visitor){
		.change = perfetto_on_change,
		.begin = perfetto_on_begin,
		.end = perfetto_on_end,
		.event = perfetto_on_event,
		.labels = perfetto_on_labels,
		.tables = perfetto_on_tables,
	};
	return px;
}

/* One slice over the whole trace for all goroutines of a function that never changed. */
static int put_still(struct perfetto *px, const struct pf_function *function)
{
	struct pf_event ev = {
		.type = PF_BEGIN, .category = PF_STATES, .time = px->census->start, .aside = true};
	char name[64];
	int rc;

	snprintf(name, sizeof(name), "%u unchanged", function->still);
	rc = pf_plain_track(&px->tracks, function->uuid, name, INT32_MAX, false, &ev.track);
	if (!rc)
		rc = pf_text(px, name, &ev.name);
	if (!rc)
		rc = pf_put_event(px, &ev);
	ev.type = PF_END;
	ev.name = 0;
	ev.time = px->census->end;
	return rc ? rc : pf_put_event(px, &ev);
}

static int perfetto_finish(void *writer)
{
	struct perfetto *px = writer;
	int rc = pf_counters_flush(&px->counters, px->census->end);

	for (size_t i = 1; i < px->tracks.nfunctions && !rc; i++) {
		if (px->tracks.functions[i].still)
			rc = put_still(px, &px->tracks.functions[i]);
	}
	return rc ? rc : pf_flush(&px->stream);
}

const struct export_writer export_perfetto = {
	.open = perfetto_open, .finish = perfetto_finish, .free = perfetto_free};
