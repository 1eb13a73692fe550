/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* User log events that the target did not write: what the trace itself has to say. */
#include <stdlib.h>
#include <string.h>

#include "state.h"

uint32_t note_text(struct model *md, const char *text)
{
	uint32_t id = strtab_add_str(md->annotations.texts, text);

	if (!id)
		md->oom = true;
	return id ? id | TEXT_ID : 0;
}

static void fill(struct model *md, struct op *op, uint32_t text, uint32_t stack)
{
	op->string = tables_string(md, "gotrace");
	op->string2 = text;
	op->stack = stack;
}

void note_write(struct model *md, uint32_t text)
{
	struct op *op = emit(md, OP_LOG, stand_in_begin(md));

	fill(md, op, text, md->stand_in.stack);
	stand_in_end(md);
}

void model_log(struct model *md, long place, uint32_t stack, const char *text)
{
	struct pending_logs *logs = &md->logs;

	if (logs->n == logs->capacity) {
		size_t more = logs->capacity ? logs->capacity * 2 : 16;
		struct pending_log *bigger = realloc(logs->all, more * sizeof(*bigger));

		if (!bigger) {
			md->oom = true;
			return;
		}
		logs->all = bigger;
		logs->capacity = more;
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

/* Whether whoever does this runs on, on the same thread and P. */
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

/* Behind the statuses, where a goroutine of the target's runs on its P: readers want all three for a log. */
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
	enum cause before = md->cause;

	md->cause = INFERRED;
	if (now > md->now)
		md->now = now;
	note_write(md, log->text);
	md->cause = before;
}

/* Each behind its op, from the end, so that nothing is overwritten before it is moved. */
static void put_in(struct model *md, const struct pending_log *logs, size_t n)
{
	size_t from = md->ops.n;
	struct op *ops;

	for (size_t i = 0; i < n; i++)
		append_op(md);
	if (md->oom)
		return;
	ops = md->ops.ops;
	for (size_t to = md->ops.n; n;) {
		const struct op *at = &ops[from - 1];

		if ((size_t)logs[n - 1].place == from - 1) {
			struct op log = {
				.time = at->time, .kind = OP_LOG, .m = at->m, .g = at->g, .p = at->p};

			fill(md, &log, logs[n - 1].text, logs[n - 1].stack);
			ops[--to] = log;
			n--;
		} else {
			ops[--to] = ops[--from];
		}
	}
	keep_apart(md, from);
}

void notes_watch(struct model *md)
{
	struct pending_logs *logs = &md->logs;
	uint64_t now = md->clock.mono_ns > md->last_time ? md->clock.mono_ns : md->last_time;
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
