/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/own_log.h"

#include <stdlib.h>

#include "model/inserts.h"
#include "model/synthetic.h"
#include "util/array.h"

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

/* Writes the log event now, on a P that the target does not have if all of its own are in use. */
static void write_now(struct model *md, struct m *m, const struct own_log *log)
{
	struct op *op = emit(&md->ops, OP_LOG, m ? m : synthetic_begin(md));

	op->string = log->category;
	op->string2 = log->text;
	if (m)
		return;
	op->stack = md->synthetic.wait_stack;
	synthetic_end(md);
}

void model_write_log(struct model *md, const char *category, uint32_t text)
{
	struct own_logs *logs = &md->own_logs;
	struct own_log log = {md->ops.last_time, string_id(md, category), text};
	struct m *m = any_running(md);

	if (m || synthetic_has_place(md))
		write_now(md, m, &log);
	else if (array_grow(&logs->all, &logs->capacity, logs->n + 1, sizeof(*logs->all)))
		md->oom = true;
	else
		logs->all[logs->n++] = log;
}

/* Whether the goroutine still runs after such an op, on the same thread and P. */
static bool log_may_follow(enum op_kind kind)
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

bool own_log_may_follow(const struct op_list *ops, size_t place)
{
	const struct op *op;

	if (place < ops->statuses || place >= ops->n)
		return false;
	op = &ops->ops[place];
	return log_may_follow(op->kind) && op->m != NO_M && op->g != NO_G && op->p != NO_P;
}

struct op own_log_after(const struct op *op, uint32_t category, uint32_t text, uint32_t stack)
{
	return (struct op){.time = op->time,
			   .kind = OP_LOG,
			   .m = op->m,
			   .g = op->g,
			   .p = op->p,
			   .string = category,
			   .string2 = text,
			   .stack = stack};
}

/* After other ops, a thread of C may still be in a system call. */
static bool begins_to_run(const struct op_list *ops, size_t place)
{
	enum op_kind kind = ops->ops[place].kind;

	return (kind == OP_GO_START || kind == OP_SYSCALL_END) && own_log_may_follow(ops, place);
}

/* Returns the last place up to this time, or else the first one after it. ops->n: there is none. */
static size_t place_at(const struct op_list *ops, uint64_t time)
{
	size_t place = ops->n;

	for (size_t i = ops->statuses; i < ops->n && (place == ops->n || ops->ops[i].time <= time); i++) {
		if (begins_to_run(ops, i))
			place = i;
	}
	return place;
}

void own_logs_settle(struct model *md)
{
	struct own_logs *logs = &md->own_logs;
	struct insert_list inserts = {0};

	for (size_t i = 0; i < logs->n; i++) {
		const struct own_log *log = &logs->all[i];
		size_t place = place_at(&md->ops, log->time);
		struct op op;

		if (place == md->ops.n)
			continue;
		op = own_log_after(&md->ops.ops[place], log->category, log->text, md->synthetic.wait_stack);
		if (inserts_add(&inserts, place + 1, &op))
			md->oom = true;
	}
	if (!inserts.n) { /* no goroutine of the target ran */
		for (size_t i = 0; i < logs->n; i++)
			write_now(md, NULL, &logs->all[i]);
	}
	inserts_apply(&inserts, &md->ops);
	inserts_free(&inserts);
	logs->n = 0;
}

void own_logs_free(struct own_logs *logs)
{
	free(logs->all);
}
