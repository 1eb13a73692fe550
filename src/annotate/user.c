/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tasks, regions and logs of runtime/trace. Readers require the regions of a goroutine to nest (Go 1.26
 * internal/trace/order.go, endRegion): an end must belong to the innermost region, or come when none is open.
 * Other ends are misuse or follow from a loss, and are left out.
 */
#include <stdlib.h>

#include "annotate/annotations.h"
#include "annotate/regions.h"
#include "util/utf8.h"

enum {
	MAX_OPEN_TASKS = 1 << 22, /* 96 MB */
	MAX_NAMES = 1 << 16,      /* distinct names; Go's documentation asks for few */
};

struct user {
	struct model_view *view;
	struct regions *regions;
	struct map64 open_tasks; /* ids */
};

/* --- texts --- */

/* Names stay for the whole trace unless they are pruned, so their number is limited. */
static uint32_t user_name(struct user *user, const char *text, size_t len)
{
	struct strtab *strings = user->view->strings;
	uint32_t id = strtab_find(strings, text, len);

	if (id || len == 0)
		return id;
	if (strtab_loose(strings) >= MAX_NAMES)
		return strtab_add_str(strings, "[too many names]");
	id = strtab_add_loose(strings, text, len);
	if (!id)
		user->view->oom = true;
	return id;
}

/* Longer texts were cut by the BPF program. */
static size_t text_len(const char *text, size_t len)
{
	return len == TEXT_MAX ? text_whole(text, len) : len;
}

/*
 * Returns the id of the record's first text, a name. Reading an empty text cannot fail, so in an unreadable
 * record the empty text is the one that failed.
 */
static uint32_t first_text(struct user *user, const struct raw_text *text)
{
	if (!text)
		return 0;
	if (text->record.flags & RAW_UNREADABLE && !text->len)
		return strtab_add_str(user->view->strings, "[unreadable]");
	return user_name(user, text->text, text_len(text->text, text->len));
}

/* The same for the second, a message. */
static uint32_t second_text(struct user *user, const struct raw_text *text)
{
	const char *second;

	if (!text)
		return 0;
	if (text->record.flags & RAW_UNREADABLE && !text->len2)
		return strtab_add_str(user->view->strings, "[unreadable]");
	second = text->text + text->len;
	return model_text_id(user->view->model, second, text_len(second, text->len2));
}

/* --- regions --- */

static void user_begin_region(struct user *user, struct m *m, const struct user_region *region,
			      uint32_t stack)
{
	struct region_list *list = regions_of(user->regions, m->g);

	if (list->n >= REGIONS_MAX || list->too_deep)
		list->too_deep++;
	else
		regions_begin(user->regions, m, region, stack);
}

static bool user_matches(const struct user_region *open, const struct user_region *wanted)
{
	if (open->sp)
		return false; /* a traced call, not begun by the program */
	if (open->unnamed || wanted->unnamed)
		return open->unnamed && wanted->unnamed;
	return open->task == wanted->task && open->name == wanted->name;
}

/* Returns the index of the innermost region that matches, or the list's length if none does. */
static unsigned depth_of(const struct region_list *list, const struct user_region *wanted)
{
	for (unsigned i = list->n; i--;) {
		if (user_matches(&list->open[i], wanted))
			return i;
	}
	return list->n;
}

static void user_end_region(struct user *user, struct m *m, const struct user_region *wanted, uint32_t stack)
{
	struct region_list *list = regions_of(user->regions, m->g);
	unsigned depth = depth_of(list, wanted);

	if (list->too_deep) {
		list->too_deep--;
		return;
	}
	if (depth < list->n) {
		/* The ends of deeper ones were not seen. */
		regions_end_deeper(user->regions, m, depth + 1, REPAIRED);
		list->n--;
		regions_write_end(user->regions, m, &list->open[depth], stack);
	} else if (list->n == 0 && !wanted->unnamed) {
		regions_write_end(user->regions, m, wanted, stack); /* it began before the trace */
	}
}

static void on_region(struct user *user, const struct probe_hit *hit)
{
	const struct raw_record *rec = hit->rec;
	struct user_region region = {
		.task = rec->arg,
		.name = first_text(user, hit->text),
		.unnamed = rec->site == SITE_REGION_START || rec->site == SITE_REGION_STOP,
	};

	regions_settle(user->regions, hit->m);
	if (rec->site == SITE_REGION_BEGIN || rec->site == SITE_REGION_START)
		user_begin_region(user, hit->m, &region, hit->stack);
	else
		user_end_region(user, hit->m, &region, hit->stack);
}

/* --- tasks and logs --- */

/* Readers reject a task that begins twice. Ids are unique, so such a record is corrupt. */
static void on_task_begin(struct user *user, const struct probe_hit *hit)
{
	const struct raw_record *rec = hit->rec;
	uint32_t name = first_text(user, hit->text);
	struct op *op;

	if (!rec->arg || map64_get(&user->open_tasks, rec->arg) || user->open_tasks.count >= MAX_OPEN_TASKS)
		return;
	if (map64_set(&user->open_tasks, rec->arg, 1))
		user->view->oom = true;
	op = emit(user->view->ops, OP_TASK_BEGIN, hit->m);
	op->arg = rec->arg;
	op->arg2 = rec->arg2;
	op->string = name;
	op->stack = hit->stack;
}

static void on_task_end(struct user *user, const struct probe_hit *hit)
{
	struct op *op = emit(user->view->ops, OP_TASK_END, hit->m);

	map64_del(&user->open_tasks, hit->rec->arg);
	op->arg = hit->rec->arg;
	op->stack = hit->stack;
}

static void on_log(struct user *user, const struct probe_hit *hit)
{
	struct op *op = emit(user->view->ops, OP_LOG, hit->m);

	op->arg = hit->rec->arg;
	op->string = first_text(user, hit->text);
	op->string2 = second_text(user, hit->text);
	op->stack = hit->stack;
}

/* --- as an annotator --- */

static bool user_open(struct annotations *all)
{
	all->user = calloc(1, sizeof(*all->user));
	if (!all->user)
		return false;
	all->user->view = all->view;
	all->user->regions = all->regions;
	return true;
}

static void user_free(struct annotations *all)
{
	if (all->user)
		map64_free(&all->user->open_tasks);
	free(all->user);
}

static void user_observe(struct annotations *all, const struct probe_hit *hit)
{
	switch (hit->rec->site) {
	case SITE_TASK_BEGIN:
		on_task_begin(all->user, hit);
		break;
	case SITE_TASK_END:
		on_task_end(all->user, hit);
		break;
	case SITE_LOG:
		on_log(all->user, hit);
		break;
	default:
		on_region(all->user, hit);
	}
}

const struct annotator user_annotator = {
	.open = user_open,
	.free = user_free,
	.sites = {SITE_TASK_BEGIN, SITE_TASK_END, SITE_REGION_BEGIN, SITE_REGION_END, SITE_LOG,
		  SITE_REGION_START, SITE_REGION_STOP},
	.observe = user_observe,
};
