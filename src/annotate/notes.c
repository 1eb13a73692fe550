/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* User log events written by gotrace, not by the target: notes of the log, losses, repairs, and the
 * watcher's. */
#include <stdio.h>
#include <stdlib.h>

#include "annotate/annotations.h"
#include "model/inserts.h"
#include "trace/ops/gap_log.h"
#include "trace/ops/own_logs.h"
#include "trace/ops/own_names.h"
#include "util/array.h"

/* A log event added by a generation_watch. */
struct pending_log {
	long place;
	uint32_t stack, text; /* text: a string id */
};

struct notes {
	struct model_view *view;
	struct pending_log *pending;
	size_t n, capacity;
	uint64_t repairs_noted; /* repaired ops that a log event counts already */
};

/* Writes a log event now. text: a string id, with or without TEXT_ID. */
static void write_note(struct notes *notes, uint32_t text)
{
	model_write_log(notes->view->model, OWN_LOG_CATEGORY, text);
}

static uint32_t notes_text_id(struct notes *notes, const char *text)
{
	return model_text_id(notes->view->model, text, strlen(text));
}

static void note_loss(struct notes *notes, const struct log_loss *loss)
{
	char text[160];

	snprintf(text, sizeof(text), LOSS_LOG_FORMAT, (unsigned long long)log_loss_records(loss),
		 (unsigned long long)loss->ring_full, (unsigned long long)loss->unreadable,
		 (unsigned long long)loss->missed);
	write_note(notes, notes_text_id(notes, text));
}

static void notes_learn(struct annotations *all, const struct log_record *record)
{
	const struct log_note *note = record->data;

	if (record->type == LOG_LOSS)
		note_loss(all->notes, record->data);
	else if (record->type == LOG_END)
		write_note(all->notes, notes_text_id(all->notes, GAP_LOG_LAST));
	else
		write_note(all->notes, strtab_add(all->view->strings, (const char *)(note + 1), note->len));
}

/* Writes how many ops of this generation are repaired, if any are. No repaired op may follow in it. */
static void note_repairs(struct annotations *all)
{
	struct notes *notes = all->notes;
	struct op_list *ops = all->view->ops;
	uint64_t n = ops->repaired - notes->repairs_noted;
	enum provenance before;
	char text[128];

	if (!n)
		return;
	snprintf(text, sizeof(text), REPAIR_LOG_FORMAT, (unsigned long long)n);
	before = set_provenance(ops, INFERRED);
	write_note(notes, notes_text_id(notes, text));
	ops->provenance = before;
	notes->repairs_noted = ops->repaired;
}

/* --- the watcher's --- */

void notes_add(struct notes *notes, long place, uint32_t stack, const char *text)
{
	if (array_grow(&notes->pending, &notes->capacity, notes->n + 1, sizeof(*notes->pending))) {
		notes->view->oom = true;
		return;
	}
	notes->pending[notes->n++] = (struct pending_log){place, stack, notes_text_id(notes, text)};
}

static void write_at_end(struct notes *notes, const struct pending_log *log, uint64_t now)
{
	struct op_list *ops = notes->view->ops;
	enum provenance before = set_provenance(ops, INFERRED);

	if (now > ops->now)
		ops->now = now;
	write_note(notes, log->text);
	ops->provenance = before;
}

/* Calls the generation_watch and writes the events that it adds. */
static void notes_watch(struct annotations *all)
{
	struct notes *notes = all->notes;
	struct op_list *ops = all->view->ops;
	uint64_t clock = all->view->generation->clock.mono_ns;
	uint64_t now = clock > ops->last_time ? clock : ops->last_time;
	struct insert_list inserts = {0};
	uint32_t category;
	size_t left = 0;

	notes->n = 0;
	if (all->options.watch)
		all->options.watch(all->options.watch_ctx, ops->ops, ops->n, now);
	if (!notes->n)
		return;
	category = strtab_add_str(all->view->strings, OWN_LOG_CATEGORY);
	for (size_t i = 0; i < notes->n; i++) {
		const struct pending_log *log = &notes->pending[i];
		struct op op;

		if (log->place < 0 || !own_log_may_follow(ops, (size_t)log->place)) {
			notes->pending[left++] = *log;
			continue;
		}
		op = own_log_after(&ops->ops[log->place], category, log->text, log->stack);
		if (inserts_add(&inserts, (size_t)log->place + 1, &op))
			all->view->oom = true;
	}
	inserts_apply(&inserts, ops);
	inserts_free(&inserts);
	for (size_t i = 0; i < left; i++)
		write_at_end(notes, &notes->pending[i], now);
}

/* --- as an annotator --- */

static bool notes_open(struct annotations *all)
{
	all->notes = calloc(1, sizeof(*all->notes));
	if (all->notes)
		all->notes->view = all->view;
	return all->notes;
}

static void notes_free(struct annotations *all)
{
	if (all->notes)
		free(all->notes->pending);
	free(all->notes);
}

const struct annotator notes_annotator = {
	.open = notes_open,
	.free = notes_free,
	.records = {LOG_NOTE, LOG_LOSS, LOG_END},
	.learn = notes_learn,
	.settle = note_repairs,
	.close = notes_watch,
};
