/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/notes.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/synthetic.h"
#include "util/array.h"
#include "trace/ops/gap_log.h"
#include "trace/ops/own_logs.h"
#include "trace/ops/own_names.h"

uint32_t note_text(struct model *md, const char *text)
{
	uint32_t id = strtab_add_str(md->annotations.texts, text);

	if (!id)
		md->oom = true;
	return id ? id | TEXT_ID : 0;
}

static void fill(struct model *md, struct op *op, const char *category, uint32_t text, uint32_t stack)
{
	op->string = string_id(md, category);
	op->string2 = text;
	op->stack = stack;
}

/*
 * Returns a thread whose goroutine runs, or NULL. For a target traced as threads, always NULL: the system
 * call of a thread may still be moved up, before a log event.
 */
static struct m *any_running(const struct model *md)
{
	for (unsigned i = 0; i < md->entities.nms && !md->threads; i++) {
		struct m *m = md->entities.ms[i];

		if (m && m->g && m->g->status == G_RUNNING && m->p && m->p->status == P_RUNNING)
			return m;
	}
	return NULL;
}

void note_write_as(struct model *md, const char *category, uint32_t text)
{
	struct m *m = any_running(md);
	struct op *op;

	if (m) {
		fill(md, emit(&md->ops, OP_LOG, m), category, text, 0);
		return;
	}
	op = emit(&md->ops, OP_LOG, synthetic_begin(md));
	fill(md, op, category, text, md->synthetic.wait_stack);
	synthetic_end(md);
}

void note_write(struct model *md, uint32_t text)
{
	note_write_as(md, OWN_LOG_CATEGORY, text);
}

void note_repairs(struct model *md)
{
	uint64_t n = md->ops.repaired - md->repairs_noted;
	enum provenance before = md->ops.provenance;
	char text[128];

	if (!n)
		return;
	snprintf(text, sizeof(text), REPAIR_LOG_FORMAT, (unsigned long long)n);
	md->ops.provenance = INFERRED;
	note_write(md, note_text(md, text));
	md->ops.provenance = before;
	md->repairs_noted = md->ops.repaired;
}

void notes_add(struct model *md, long place, uint32_t stack, const char *text)
{
	struct pending_logs *logs = &md->logs;

	if (array_grow(&logs->all, &logs->capacity, logs->n + 1, sizeof(*logs->all))) {
		md->oom = true;
		return;
	}
	logs->all[logs->n++] = (struct pending_log){place, stack, note_text(md, text)};
}

static int by_place(const void *a, const void *b)
{
	const struct pending_log *one = a, *other = b;

	if (one->place != other->place)
		return one->place < other->place ? -1 : 1;
	return one->text < other->text ? -1 : one->text > other->text; /* in the order of the calls */
}

/* Whether the goroutine still runs after such an op, on the same thread and P. */
static bool runs_on(enum op_kind kind)
{
	switch (kind) {
	case OP_PROCS_CHANGE:
	case OP_GO_CREATE:
	case OP_GO_CREATE_BLOCKED:
	case OP_GO_START:
	case OP_GO_UNBLOCK:
	case OP_SYSCALL_END:
	case OP_STW_BEGIN ... OP_LOG:
		return true;
	default:
		return false;
	}
}

/*
 * Whether the place is after the statuses, where a target goroutine runs on its P: readers require all three
 * for a log.
 */
static bool has_place(const struct model *md, const struct pending_log *log)
{
	const struct op *op;

	if (log->place < (long)md->ops.statuses || log->place >= (long)md->ops.n)
		return false;
	op = &md->ops.ops[log->place];
	return runs_on(op->kind) && op->m != NO_M && op->g != NO_G && op->p != NO_P;
}

static void write_at_end(struct model *md, const struct pending_log *log, uint64_t now)
{
	enum provenance before = md->ops.provenance;

	md->ops.provenance = INFERRED;
	if (now > md->ops.now)
		md->ops.now = now;
	note_write(md, log->text);
	md->ops.provenance = before;
}

/* Inserts each log after its op, working from the end so that no op is overwritten before it is moved. */
static void put_in(struct model *md, const struct pending_log *logs, size_t n)
{
	size_t from = md->ops.n;
	struct op *ops;

	for (size_t i = 0; i < n; i++)
		op_list_append(&md->ops);
	if (md->ops.oom)
		return;
	ops = md->ops.ops;
	for (size_t to = md->ops.n; n;) {
		const struct op *at = &ops[from - 1];

		if ((size_t)logs[n - 1].place == from - 1) {
			struct op log = {
				.time = at->time, .kind = OP_LOG, .m = at->m, .g = at->g, .p = at->p};

			fill(md, &log, OWN_LOG_CATEGORY, logs[n - 1].text, logs[n - 1].stack);
			ops[--to] = log;
			n--;
		} else {
			ops[--to] = ops[--from];
		}
	}
	op_list_keep_apart(&md->ops, from);
}

void notes_watch(struct model *md)
{
	struct pending_logs *logs = &md->logs;
	uint64_t now = md->generation.clock.mono_ns > md->ops.last_time ? md->generation.clock.mono_ns
									: md->ops.last_time;
	size_t placed = 0;

	logs->n = 0;
	md->options.watch(md->options.watch_ctx, md->ops.ops, md->ops.n, now);
	if (!logs->n)
		return;
	for (size_t i = 0; i < logs->n; i++) {
		struct pending_log log = logs->all[i];

		if (has_place(md, &log)) {
			logs->all[i] = logs->all[placed];
			logs->all[placed++] = log;
		} else {
			logs->all[i].place = LOG_AT_END;
		}
	}
	qsort(logs->all, placed, sizeof(*logs->all), by_place);
	put_in(md, logs->all, placed);
	for (size_t i = placed; i < logs->n; i++)
		write_at_end(md, &logs->all[i], now);
}

void notes_free(struct pending_logs *logs)
{
	free(logs->all);
}
