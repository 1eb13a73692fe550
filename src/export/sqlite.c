/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The trace as a SQLite database, with one row per interval, wake-up and event (docs/sql.md). Rows are loaded
 * rather than virtual: a query costs the same, an index makes lookups cheap, and the database can be kept.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/database.h"
#include "export/format.h"
#include "export/stacktab.h"
#include "util/array.h"
#include "trace/ops/labels.h"
#include "trace/ops/own_logs.h"

struct open_label {          /* a label that a goroutine has */
	uint32_t key, value; /* string ids of the stacktab; 0 = empty */
	uint64_t since;
	bool before; /* it had it when the trace began */
	bool kept;   /* scratch */
};

struct label_list {
	struct open_label *all;
	size_t n, capacity;
};

struct sqlite {
	const struct census *census;
	const struct tables *tables;
	struct stacktab st;
	struct database *db;
	struct byte_sink out;
	size_t stacks; /* stacks with lower ids are in the database */
	/* by serial: id in st.strings of what the goroutine waits for or is about to; 0 = unknown */
	uint32_t *locks;
	struct label_list *labels; /* by serial */
	size_t label_capacity;
};

/* --- values --- */

static void bind_text(struct sqlite *sq, sqlite3_stmt *row, int column, uint32_t string)
{
	size_t len;
	const char *text = strtab_get(sq->st.strings, string, &len);

	if (string)
		sqlite3_bind_text64(row, column, text, len, SQLITE_TRANSIENT, SQLITE_UTF8);
	else
		sqlite3_bind_null(row, column);
}

static void bind_id(sqlite3_stmt *row, int column, uint64_t id)
{
	if (id)
		sqlite3_bind_int64(row, column, (sqlite3_int64)id);
	else
		sqlite3_bind_null(row, column);
}

static void bind_place(sqlite3_stmt *row, int column, int32_t p)
{
	if (p >= 0)
		sqlite3_bind_int64(row, column, p);
	else
		sqlite3_bind_null(row, column);
}

static int bind_string(struct sqlite *sq, sqlite3_stmt *row, int column, uint32_t string)
{
	uint32_t ours;

	if (stacktab_string(&sq->st, sq->tables, string, &ours))
		return -ENOMEM;
	bind_text(sq, row, column, ours);
	return 0;
}

static int sqlite_put_frames(struct sqlite *sq, size_t stack)
{
	const struct st_stack *from = &sq->st.stacks[stack];

	for (uint32_t i = 0; i < from->n; i++) {
		const struct st_frame *frame = &sq->st.frames[sq->st.frame_ids[from->first + i]];
		const struct st_function *function = &sq->st.functions[frame->function];
		sqlite3_stmt *row = database_row(sq->db, TABLE_FRAME);

		sqlite3_bind_int64(row, 1, (sqlite3_int64)stack);
		sqlite3_bind_int64(row, 2, i);
		bind_text(sq, row, 3, function->name);
		bind_text(sq, row, 4, function->file);
		bind_id(row, 5, frame->line);
		sqlite3_bind_int64(row, 6, (sqlite3_int64)frame->pc);
		if (database_add(sq->db, row))
			return -EIO;
	}
	return 0;
}

static int sqlite_put_stack(struct sqlite *sq, size_t stack)
{
	const struct st_stack *from = &sq->st.stacks[stack];
	sqlite3_stmt *row = database_row(sq->db, TABLE_STACK);
	const uint32_t *ids = sq->st.frame_ids + from->first;

	sqlite3_bind_int64(row, 1, (sqlite3_int64)stack);
	bind_text(sq, row, 2, sq->st.functions[sq->st.frames[ids[0]].function].name);
	bind_text(sq, row, 3, sq->st.functions[sq->st.frames[ids[from->n - 1]].function].name);
	sqlite3_bind_int64(row, 4, from->n);
	return database_add(sq->db, row) ? -EIO : sqlite_put_frames(sq, stack);
}

static int bind_stack(struct sqlite *sq, sqlite3_stmt *row, int column, uint32_t stack)
{
	uint32_t ours;

	if (stacktab_stack(&sq->st, sq->tables, stack, &ours))
		return -ENOMEM;
	bind_id(row, column, ours);
	for (; sq->stacks < sq->st.nstacks; sq->stacks++) {
		int rc = sqlite_put_stack(sq, sq->stacks);

		if (rc)
			return rc;
	}
	return 0;
}

/* --- intervals and wake-ups --- */

static const char *const state_names[LEDGER_STATE_COUNT] = {
	[G_RUNNABLE] = "runnable",
	[G_RUNNING] = "running",
	[G_SYSCALL] = "syscall",
	[G_WAITING] = "waiting",
	[LEDGER_UNWATCHED] = "not watched",
};

static int sqlite_put_state(struct sqlite *sq, const struct tl_change *change)
{
	const struct ledger_interval *now = &change->g->now;
	sqlite3_stmt *row = database_row(sq->db, TABLE_STATE);
	uint64_t since = now->since < change->time ? now->since : change->time;

	sqlite3_bind_int64(row, 1, (sqlite3_int64)since);
	sqlite3_bind_int64(row, 2, (sqlite3_int64)(change->time - since));
	sqlite3_bind_int64(row, 3, change->g->serial);
	sqlite3_bind_text(row, 4, state_names[now->state], -1, SQLITE_STATIC);
	if (bind_string(sq, row, 5, now->reason) || bind_stack(sq, row, 6, now->stack))
		return -ENOMEM;
	bind_id(row, 7, now->m);
	bind_place(row, 8, now->p);
	sqlite3_bind_int(row, 9, change->begins);
	sqlite3_bind_int(row, 10, change->ends);
	bind_text(sq, row, 11, now->state == G_WAITING ? sq->locks[change->g->serial] : 0);
	return database_add(sq->db, row);
}

static int put_wakeup(struct sqlite *sq, const struct tl_change *change)
{
	sqlite3_stmt *row = database_row(sq->db, TABLE_WAKEUP);

	sqlite3_bind_int64(row, 1, (sqlite3_int64)change->time);
	bind_id(row, 2, change->by ? change->by->serial : 0);
	sqlite3_bind_int64(row, 3, change->g->serial);
	if (bind_stack(sq, row, 4, change->to->stack))
		return -ENOMEM;
	bind_id(row, 5, change->m);
	bind_place(row, 6, change->p);
	return database_add(sq->db, row);
}

static int put_goroutine(struct sqlite *sq, const struct tl_change *change)
{
	const struct tl_goroutine *g = change->g;
	sqlite3_stmt *row = database_row(sq->db, TABLE_GOROUTINE);
	size_t len;
	const char *name = census_name(sq->census, g->serial, &len);
	uint32_t ours;

	if (stacktab_text(&sq->st, name, len, &ours))
		return -ENOMEM;
	sqlite3_bind_int64(row, 1, g->serial);
	sqlite3_bind_int64(row, 2, (sqlite3_int64)g->goid);
	bind_text(sq, row, 3, ours);
	bind_id(row, 4, g->parent);
	bind_id(row, 5, g->born);
	bind_id(row, 6, change->final ? 0 : change->time);
	if (bind_stack(sq, row, 7, g->entry))
		return -ENOMEM;
	bind_id(row, 8, sq->census->goroutines[g->serial].m);
	return database_add(sq->db, row);
}

/* --- labels --- */

static void bind_label(struct sqlite *sq, sqlite3_stmt *row, int column, uint32_t string)
{
	if (string)
		bind_text(sq, row, column, string);
	else
		sqlite3_bind_text(row, column, "", 0, SQLITE_STATIC);
}

static int sqlite_put_label(struct sqlite *sq, uint32_t serial, const struct open_label *label,
			    uint64_t until, bool ends)
{
	sqlite3_stmt *row = database_row(sq->db, TABLE_LABEL);

	sqlite3_bind_int64(row, 1, (sqlite3_int64)label->since);
	sqlite3_bind_int64(row, 2, (sqlite3_int64)(until > label->since ? until - label->since : 0));
	sqlite3_bind_int64(row, 3, serial);
	bind_label(sq, row, 4, label->key);
	bind_label(sq, row, 5, label->value);
	sqlite3_bind_int(row, 6, !label->before);
	sqlite3_bind_int(row, 7, ends);
	return database_add(sq->db, row);
}

static int sqlite_keep_or_open(struct label_list *list, struct open_label label)
{
	for (size_t i = 0; i < list->n; i++) {
		if (list->all[i].key == label.key && list->all[i].value == label.value) {
			list->all[i].kept = true;
			return 0;
		}
	}
	if (array_grow(&list->all, &list->capacity, list->n + 1, sizeof(*list->all)))
		return -ENOMEM;
	list->all[list->n++] = label;
	return 0;
}

/* Ends the labels that are not marked as kept. */
static int end_labels(struct sqlite *sq, uint32_t serial, uint64_t time, bool ends)
{
	struct label_list *list = &sq->labels[serial];
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < list->n; i++) {
		if (list->all[i].kept)
			list->all[kept++] = list->all[i];
		else if (!rc)
			rc = sqlite_put_label(sq, serial, &list->all[i], time, ends);
	}
	list->n = kept;
	for (size_t i = 0; i < kept; i++)
		list->all[i].kept = false;
	return rc;
}

static int sqlite_on_labels(void *ctx, const struct tl_goroutine *g, const struct tl_labels *labels)
{
	struct sqlite *sq = ctx;
	struct labels_read set;
	int rc = 0;

	if (array_grow(&sq->labels, &sq->label_capacity, (size_t)g->serial + 1, sizeof(*sq->labels)))
		return -ENOMEM;
	if (labels_parse(labels->text, labels->len, &set) < 0)
		return 0;
	for (unsigned i = 0; i < set.n && !rc; i++) {
		const struct pprof_label *from = &set.labels[i];
		struct open_label label = {
			.since = labels->time, .before = labels->held && !g->born, .kept = true};

		if (stacktab_text(&sq->st, from->key, from->key_len, &label.key) ||
		    stacktab_text(&sq->st, from->value, from->value_len, &label.value))
			return -ENOMEM;
		rc = sqlite_keep_or_open(&sq->labels[g->serial], label);
	}
	return rc ? rc : end_labels(sq, g->serial, labels->time, true);
}

static void free_labels(struct sqlite *sq)
{
	for (size_t i = 0; i < sq->label_capacity; i++)
		free(sq->labels[i].all);
	free(sq->labels);
}

static int end_goroutine(struct sqlite *sq, const struct tl_change *change)
{
	int rc = put_goroutine(sq, change);

	if (rc || change->g->serial >= sq->label_capacity)
		return rc;
	return end_labels(sq, change->g->serial, change->time, !change->final);
}

static int sqlite_on_change(void *ctx, const struct tl_change *change)
{
	struct sqlite *sq = ctx;
	uint32_t taken;
	int rc = 0;

	/* What ends with the trace may come when the tables are gone: copy it now. */
	if (stacktab_stack(&sq->st, sq->tables, change->to->stack, &taken) ||
	    stacktab_stack(&sq->st, sq->tables, change->g->entry, &taken) ||
	    stacktab_string(&sq->st, sq->tables, change->to->reason, &taken))
		return -ENOMEM;
	if (change->g->serial >= sq->census->n)
		return -EINVAL;
	if (change->g->now.state != LEDGER_NONE)
		rc = sqlite_put_state(sq, change);
	if (change->to->state != G_WAITING)
		sq->locks[change->g->serial] = 0;
	if (!rc && change->wakes)
		rc = put_wakeup(sq, change);
	return rc || change->to->state != LEDGER_NONE ? rc : end_goroutine(sq, change);
}

/* --- ranges --- */

static int sqlite_put_gc(struct sqlite *sq, const struct tl_range *range)
{
	static const char *const kinds[TL_RANGE_KINDS] = {
		[TL_GC] = "gc",         [TL_STW] = "stop-the-world", [TL_SWEEP] = "sweep",
		[TL_ASSIST] = "assist", [TL_GAP] = "not watched",
	};
	sqlite3_stmt *row = database_row(sq->db, TABLE_GC);

	sqlite3_bind_int64(row, 1, (sqlite3_int64)range->since);
	sqlite3_bind_int64(row, 2, (sqlite3_int64)(range->until - range->since));
	sqlite3_bind_text(row, 3, kinds[range->kind], -1, SQLITE_STATIC);
	if (bind_string(sq, row, 4, range->name) || bind_stack(sq, row, 7, range->stack))
		return -ENOMEM;
	bind_id(row, 5, range->g);
	bind_place(row, 6, range->p);
	bind_id(row, 8, range->arg);
	bind_id(row, 9, range->arg2);
	sqlite3_bind_int(row, 10, !range->open);
	return database_add(sq->db, row);
}

static int sqlite_put_task(struct sqlite *sq, const struct tl_range *range)
{
	sqlite3_stmt *row = database_row(sq->db, TABLE_TASK);

	sqlite3_bind_int64(row, 1, (sqlite3_int64)range->task);
	bind_id(row, 2, range->parent);
	sqlite3_bind_int64(row, 4, (sqlite3_int64)range->since);
	sqlite3_bind_int64(row, 5, (sqlite3_int64)(range->until - range->since));
	bind_id(row, 6, range->g);
	if (bind_string(sq, row, 3, range->name) || bind_stack(sq, row, 7, range->stack))
		return -ENOMEM;
	sqlite3_bind_int(row, 8, !range->open);
	return database_add(sq->db, row);
}

static int sqlite_put_region(struct sqlite *sq, const struct tl_range *range)
{
	sqlite3_stmt *row = database_row(sq->db, TABLE_REGION);

	sqlite3_bind_int64(row, 2, (sqlite3_int64)range->since);
	sqlite3_bind_int64(row, 3, (sqlite3_int64)(range->until - range->since));
	bind_id(row, 4, range->g);
	bind_id(row, 5, range->task);
	if (bind_string(sq, row, 1, range->name) || bind_stack(sq, row, 6, range->stack))
		return -ENOMEM;
	sqlite3_bind_int(row, 7, !range->open);
	return database_add(sq->db, row);
}

static int sqlite_on_begin(void *ctx, const struct tl_range *range)
{
	struct sqlite *sq = ctx;
	uint32_t taken;

	return stacktab_stack(&sq->st, sq->tables, range->stack, &taken) ||
			       stacktab_string(&sq->st, sq->tables, range->name, &taken)
		       ? -ENOMEM
		       : 0;
}

static int sqlite_on_end(void *ctx, const struct tl_range *range)
{
	if (range->kind == TL_TASK)
		return sqlite_put_task(ctx, range);
	return range->kind == TL_REGION ? sqlite_put_region(ctx, range) : sqlite_put_gc(ctx, range);
}

/* --- single events --- */

/* A log may announce what its goroutine is about to wait for (docs/analysis.md). */
static int keep_lock(struct sqlite *sq, const struct op *op, const struct tl_goroutine *g)
{
	size_t len;
	const char *category = tables_string(sq->tables, op->string, &len);
	const char *message = tables_string(sq->tables, op->string2, &len);
	struct lock_log log;

	if (!g || g->serial >= sq->census->n || !lock_log_parse(category, message, &log))
		return 0;
	return stacktab_string(&sq->st, sq->tables, op->string2, &sq->locks[g->serial]);
}

static int sqlite_put_log(struct sqlite *sq, const struct op *op, const struct tl_goroutine *g)
{
	sqlite3_stmt *row = database_row(sq->db, TABLE_LOG);

	sqlite3_bind_int64(row, 1, (sqlite3_int64)op->time);
	bind_id(row, 2, g ? g->serial : 0);
	bind_id(row, 3, op->arg);
	if (bind_string(sq, row, 4, op->string) || bind_string(sq, row, 5, op->string2) ||
	    bind_stack(sq, row, 6, op->stack) || keep_lock(sq, op, g))
		return -ENOMEM;
	return database_add(sq->db, row);
}

static int sqlite_put_sample(struct sqlite *sq, const struct op *op, const struct tl_goroutine *g)
{
	sqlite3_stmt *row = database_row(sq->db, TABLE_SAMPLE);

	sqlite3_bind_int64(row, 1, (sqlite3_int64)op->time);
	bind_id(row, 2, g ? g->serial : 0);
	bind_id(row, 3, op->m);
	bind_place(row, 4, op->p);
	if (bind_stack(sq, row, 5, op->stack))
		return -ENOMEM;
	return database_add(sq->db, row);
}

static int sqlite_put_metric(struct sqlite *sq, const struct op *op, const char *name)
{
	sqlite3_stmt *row = database_row(sq->db, TABLE_METRIC);

	sqlite3_bind_int64(row, 1, (sqlite3_int64)op->time);
	sqlite3_bind_text(row, 2, name, -1, SQLITE_STATIC);
	sqlite3_bind_int64(row, 3, (sqlite3_int64)op->arg);
	return database_add(sq->db, row);
}

static int sqlite_on_event(void *ctx, const struct op *op, const struct tl_goroutine *g)
{
	switch (op->kind) {
	case OP_LOG:
		return sqlite_put_log(ctx, op, g);
	case OP_CPU_SAMPLE:
		return sqlite_put_sample(ctx, op, g);
	/* Names as in Go's runtime/metrics and its trace readers. */
	case OP_HEAP_ALLOC:
		return sqlite_put_metric(ctx, op, "/memory/classes/heap/objects:bytes");
	case OP_HEAP_GOAL:
		return sqlite_put_metric(ctx, op, "/gc/heap/goal:bytes");
	case OP_PROCS_CHANGE:
		return sqlite_put_metric(ctx, op, "/sched/gomaxprocs:threads");
	default:
		return 0;
	}
}

static int sqlite_on_tables(void *ctx, const struct generation *gen)
{
	struct sqlite *sq = ctx;

	sq->tables = gen ? gen->tables : NULL;
	return 0;
}

/* --- the whole --- */

static void sqlite_free(void *writer)
{
	struct sqlite *sq = writer;

	database_free(sq->db);
	stacktab_free(&sq->st);
	free(sq->locks);
	free_labels(sq);
	free(sq);
}

static void *sqlite_open(const struct export_options *options, const struct census *census,
			 struct tl_visitor *visitor, struct error *err)
{
	struct sqlite *sq = calloc(1, sizeof(*sq));

	if (!sq)
		return NULL;
	sq->census = census;
	sq->out = options->out;
	sq->stacks = 1;
	sq->locks = calloc((size_t)census->n + 1, sizeof(*sq->locks));
	sq->db = !sq->locks || stacktab_init(&sq->st)
			 ? NULL
			 : database_new(options->database, census, options->title, err);
	if (!sq->db) {
		sqlite_free(sq);
		return NULL;
	}
	*visitor = (struct tl_visitor){
		.change = sqlite_on_change,
		.begin = sqlite_on_begin,
		.end = sqlite_on_end,
		.event = sqlite_on_event,
		.labels = sqlite_on_labels,
		.tables = sqlite_on_tables,
	};
	return sq;
}

static int sqlite_finish(void *writer)
{
	struct sqlite *sq = writer;
	int rc = database_finish(sq->db);

	return rc || !sq->out.write ? rc : database_write(sq->db, &sq->out);
}

static const char *sqlite_fault(void *writer)
{
	struct sqlite *sq = writer;

	return database_fault(sq->db);
}

const struct export_writer export_sqlite = {
	.open = sqlite_open, .finish = sqlite_finish, .free = sqlite_free, .fault = sqlite_fault};
