/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tasks, regions and logs of runtime/trace. Readers want regions of one
 * goroutine to nest (Go 1.26 internal/trace/order.go, endRegion): an end must
 * be that of the innermost one, or come where none is open. What does not fit
 * is misuse, or followed from a loss, and is not told.
 */
#include <stdlib.h>

#include "state.h"
#include "util/list.h"

enum {
	MAX_OPEN = 1000,          /* regions of a goroutine; deeper ones are not told */
	MAX_NAMES = 1 << 16,      /* kinds of tasks, regions and logs; Go's documentation wants few */
	MAX_OPEN_TASKS = 1 << 22, /* 96 MB */
};

int annotations_init(struct model *md)
{
	md->annotations.texts = strtab_new();
	return md->annotations.texts ? 0 : -1;
}

void annotations_free(struct model *md)
{
	strtab_free(md->annotations.texts);
	map64_free(&md->annotations.open_tasks);
}

void annotations_lost(struct model *md)
{
	md->annotations.losses++;
}

void annotations_recycle(struct model *md)
{
	/* What is kept for a snapshot to come has its texts here. */
	if (md->early.ntexts == 0)
		strtab_clear(md->annotations.texts);
}

bool has_texts(uint8_t site)
{
	return site == SITE_TASK_BEGIN || site == SITE_REGION_BEGIN || site == SITE_REGION_END ||
	       site == SITE_LOG || site == SITE_REGION_START;
}

/* A name stays for the whole trace (but for tables_sweep_names), so there is an end to how many are told
 * apart. */
static uint32_t name_id(struct model *md, const char *text, size_t len)
{
	struct strtab *strings = md->options.strings;
	uint32_t id = strtab_find(strings, text, len);

	if (id || len == 0)
		return id;
	if (strtab_loose(strings) >= MAX_NAMES)
		return tables_string(md, "[too many names]");
	id = strtab_add_loose(strings, text, len);
	if (!id)
		md->oom = true;
	return id;
}

static uint32_t message_id(struct model *md, const char *text, size_t len)
{
	uint32_t id = strtab_add(md->annotations.texts, text, len);

	if (!id && len)
		md->oom = true;
	return id ? id | TEXT_ID : 0;
}

struct text_ids text_ids(struct model *md, const struct raw_text *text)
{
	bool unreadable = text->record.flags & RAW_UNREADABLE;
	struct text_ids ids = {0};

	/* An empty text is read without fail, so one of those that are empty could not be. */
	if (unreadable && !text->len)
		ids.string = tables_string(md, "[unreadable]");
	else
		ids.string = name_id(md, text->text, text->len);
	if (unreadable && !text->len2 && text->record.site == SITE_LOG)
		ids.string2 = tables_string(md, "[unreadable]");
	else
		ids.string2 = message_id(md, text->text + text->len, text->len2);
	return ids;
}

void regions_forget(struct g *g)
{
	free(g->regions.open);
	g->regions = (struct region_list){0};
}

static void write_region(struct model *md, enum op_kind kind, struct m *m, const struct region *region,
			 uint32_t stack)
{
	struct op *op = emit(md, kind, m);

	op->arg = region->task;
	op->string = region->name;
	op->stack = stack;
}

static void write_task(struct model *md, enum op_kind kind, struct m *m, const struct region *region,
		       uint32_t stack)
{
	struct op *op = emit(md, kind, m);

	op->arg = region->task;
	if (kind == OP_TASK_BEGIN)
		op->string = region->name;
	op->stack = stack;
}

void regions_begin(struct model *md, struct m *m, const struct region *region, uint32_t stack)
{
	struct region_list *regions = &m->g->regions;

	if (!list_grow((void **)&regions->open, regions->n, &regions->capacity, sizeof(*regions->open))) {
		md->oom = true;
		return;
	}
	regions->open[regions->n++] = *region;
	if (region->own_task)
		write_task(md, OP_TASK_BEGIN, m, region, stack);
	write_region(md, OP_REGION_BEGIN, m, region, stack);
}

static void begin_region(struct model *md, struct m *m, const struct region *region, uint32_t stack)
{
	struct region_list *regions = &m->g->regions;

	if (regions->n >= MAX_OPEN || regions->beyond)
		regions->beyond++;
	else
		regions_begin(md, m, region, stack);
}

void regions_end_deeper(struct model *md, struct m *m, unsigned depth, enum cause cause)
{
	struct region_list *regions = &m->g->regions;
	enum cause before = md->cause;

	md->cause = cause;
	while (regions->n > depth) {
		struct region region = regions->open[--regions->n];

		write_region(md, OP_REGION_END, m, &region, 0);
		if (region.own_task)
			write_task(md, OP_TASK_END, m, &region, 0);
	}
	md->cause = before;
}

/* Those whose ends were not seen. */
static void end_deeper(struct model *md, struct m *m, unsigned depth)
{
	regions_end_deeper(md, m, depth, REPAIRED);
}

static bool matches(const struct region *open, const struct region *wanted)
{
	if (open->sp)
		return false; /* the program has not begun it */
	if (open->unnamed || wanted->unnamed)
		return open->unnamed && wanted->unnamed;
	return open->task == wanted->task && open->name == wanted->name;
}

/* How many are open once the innermost one that fits is out of the list; the list's length if none fits. */
static unsigned depth_of(const struct region_list *regions, const struct region *wanted)
{
	for (unsigned i = regions->n; i--;) {
		if (matches(&regions->open[i], wanted))
			return i;
	}
	return regions->n;
}

static void end_region(struct model *md, struct m *m, const struct region *wanted, uint32_t stack)
{
	struct region_list *regions = &m->g->regions;
	unsigned depth = depth_of(regions, wanted);

	if (regions->beyond) {
		regions->beyond--;
		return;
	}
	if (depth < regions->n) {
		end_deeper(md, m, depth + 1);
		regions->n--;
		write_region(md, OP_REGION_END, m, &regions->open[depth], stack);
	} else if (regions->n == 0 && !wanted->unnamed) {
		write_region(md, OP_REGION_END, m, wanted, stack); /* it began before the trace */
	}
}

/*
 * After a loss the end of an unnamed region may be any one's: those that were
 * open are ended at the goroutine's next annotation, and the regions in them.
 */
void regions_settle(struct model *md, struct m *m)
{
	struct region_list *regions = &m->g->regions;

	if (regions->losses == md->annotations.losses)
		return;
	regions->losses = md->annotations.losses;
	regions->beyond = 0;
	for (unsigned i = 0; i < regions->n; i++) {
		if (regions->open[i].unnamed)
			end_deeper(md, m, i);
	}
}

static void on_region(struct model *md, const struct raw_record *rec, struct m *m, uint32_t stack)
{
	struct region region = {
		.task = rec->arg,
		.name = md->annotations.ids.string,
		.unnamed = rec->site == SITE_REGION_START || rec->site == SITE_REGION_STOP,
	};

	regions_settle(md, m);
	if (rec->site == SITE_REGION_BEGIN || rec->site == SITE_REGION_START)
		begin_region(md, m, &region, stack);
	else
		end_region(md, m, &region, stack);
}

/* Readers refuse a task that begins twice; ids are unique, so a record that says so is not true. */
static void on_task_begin(struct model *md, const struct raw_record *rec, struct m *m, uint32_t stack)
{
	struct map64 *open = &md->annotations.open_tasks;
	struct op *op;

	if (!rec->arg || map64_get(open, rec->arg) || open->count >= MAX_OPEN_TASKS)
		return;
	if (map64_set(open, rec->arg, 1))
		md->oom = true;
	op = emit(md, OP_TASK_BEGIN, m);
	op->arg = rec->arg;
	op->arg2 = rec->arg2;
	op->string = md->annotations.ids.string;
	op->stack = stack;
}

static void on_task_end(struct model *md, const struct raw_record *rec, struct m *m, uint32_t stack)
{
	struct op *op = emit(md, OP_TASK_END, m);

	map64_del(&md->annotations.open_tasks, rec->arg);
	op->arg = rec->arg;
	op->stack = stack;
}

static void on_log(struct model *md, const struct raw_record *rec, struct m *m, uint32_t stack)
{
	struct op *op = emit(md, OP_LOG, m);

	op->arg = rec->arg;
	op->string = md->annotations.ids.string;
	op->string2 = md->annotations.ids.string2;
	op->stack = stack;
}

void observe_user(struct model *md, const struct raw_record *rec, struct m *m, struct p *p, uint32_t stack)
{
	struct g *g = g_of_record(md, rec->g, rec->goid, G_RUNNABLE);

	if (!g || !make_running(md, m, g, p))
		return;
	g->last_hit = rec->time;
	switch (rec->site) {
	case SITE_TASK_BEGIN:
		on_task_begin(md, rec, m, stack);
		break;
	case SITE_TASK_END:
		on_task_end(md, rec, m, stack);
		break;
	case SITE_LOG:
		on_log(md, rec, m, stack);
		break;
	default:
		on_region(md, rec, m, stack);
	}
}
