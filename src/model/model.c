/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The records of the log, one after the other. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

struct model *model_new(const struct model_options *options)
{
	struct model *md = calloc(1, sizeof(*md));

	if (!md)
		return NULL;
	md->options = *options;
	if (!md->options.generation_ops || md->options.generation_ops > MAX_GENERATION_OPS)
		md->options.generation_ops = MAX_GENERATION_OPS;
	md->stats = stats_new();
	if (!md->stats || tables_init(md) || entities_init(md) || annotations_init(md)) {
		model_free(md);
		return NULL;
	}
	return md;
}

static void free_entities(struct model *md)
{
	for (uint32_t i = 1; i < md->gs.n; i++) {
		regions_forget(md->gs.all[i]);
		threads_forget(NULL, md->gs.all[i]);
		free(md->gs.all[i]);
	}
	for (unsigned i = 0; i < md->nps; i++)
		free(md->ps[i]);
	for (unsigned i = 0; i < md->nms; i++)
		free(md->ms[i]);
	free(md->gs.all);
	free(md->gs.goids);
	free(md->gs.ended);
	free(md->gs.free);
	free(md->ps);
	free(md->ms);
	map64_free(&md->gs.by_ptr);
	map64_free(&md->gs.by_goid);
	map64_free(&md->gs.ended_goids);
	map64_free(&md->p_by_ptr);
	map64_free(&md->m_by_tid);
}

void model_free(struct model *md)
{
	if (!md)
		return;
	free_entities(md);
	tables_free(md);
	stats_free(md->stats);
	snapshot_free(&md->snapshot);
	annotations_free(md);
	memory_free(&md->memory);
	model_threads_free(md->threads);
	free(md->early.records);
	free(md->early.texts);
	free(md->ops.ops);
	free(md->ops.moved);
	free(md->samples.ops);
	notes_free(&md->logs);
	free(md->functions.all);
	free(md);
}

static int keep_early(struct model *md, const struct raw_record *records, size_t n)
{
	struct record_buffer *early = &md->early;

	if (early->n + n > early->capacity) {
		size_t more = (early->n + n) * 2;
		struct raw_record *bigger = realloc(early->records, more * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		early->records = bigger;
		early->capacity = more;
	}
	memcpy(early->records + early->n, records, n * sizeof(*records));
	early->n += n;
	return 0;
}

/* Nothing existed before a program that gotrace started: no snapshot to wait for. */
static void start_from_nothing(struct model *md, const struct raw_record *first)
{
	md->phase = RUNNING;
	md->last_time = first->time;
	md->totals.start_ns = first->time;
	if (md->threads)
		threads_start_spawned(md, first);
	generation_open(md);
}

static int keep_early_texts(struct model *md, struct text_ids ids)
{
	struct record_buffer *early = &md->early;

	if (early->ntexts == early->texts_capacity) {
		size_t more = early->texts_capacity ? early->texts_capacity * 2 : 256;
		struct text_ids *bigger = realloc(early->texts, more * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		early->texts = bigger;
		early->texts_capacity = more;
	}
	early->texts[early->ntexts++] = ids;
	return 0;
}

/* Records with texts come one at a time, and never among others: `texts` is theirs. */
static int feed_some(struct model *md, const struct raw_record *records, size_t n,
		     const struct raw_text *texts)
{
	if (md->phase == BEFORE_SNAPSHOT && (md->target.flags & LOG_TARGET_SPAWNED) && n)
		start_from_nothing(md, &records[0]);
	if (texts)
		md->annotations.ids = text_ids(md, texts);
	if (md->phase != RUNNING && texts && keep_early_texts(md, md->annotations.ids))
		return -ENOMEM;
	if (md->phase != RUNNING)
		return keep_early(md, records, n);
	for (size_t i = 0; i < n; i++) {
		bool due = md->boundary_due ||
			   md->ops.n + md->samples.n - md->ops.statuses >= md->options.generation_ops;

		observe(md, &records[i]);
		if (due && !md->stw) {
			generation_close(md, false);
			generation_open(md);
		}
	}
	return 0;
}

static int feed_records(struct model *md, const struct log_record *record)
{
	const struct raw_record *records = record->data;
	size_t n = record->size / sizeof(*records);
	int ret = 0;

	/* What comes without its texts is no annotation. */
	for (size_t i = 0, next; i < n && ret == 0; i = next + 1) {
		for (next = i; next < n && !has_texts(records[next].site);)
			next++;
		if (next > i)
			ret = feed_some(md, records + i, next - i, NULL);
	}
	return ret;
}

static int feed_text(struct model *md, const struct raw_text *text)
{
	return has_texts(text->record.site) ? feed_some(md, &text->record, 1, text) : 0;
}

static void feed_target(struct model *md, const struct log_target *target)
{
	if (!md->has_target && target->flags & LOG_TARGET_THREADS) {
		md->threads = model_threads_new();
		md->oom = md->oom || !md->threads;
	}
	md->target = *target;
	md->clock = target->clock;
	md->has_target = true;
}

static void feed_reason(struct model *md, const struct log_reason *reason)
{
	const char *text = (const char *)(reason + 1);

	if (reason->table < REASON_TABLES && reason->index < MAX_REASONS)
		md->reasons[reason->table][reason->index] =
			strtab_add(md->options.strings, text, reason->len);
}

static uint64_t lost_records(const struct log_loss *loss)
{
	return loss->ring_full + loss->unreadable + loss->missed;
}

static void feed_note(struct model *md, const struct log_note *note)
{
	uint32_t text;

	if (note->flags & LOG_NOTE_RENEW) {
		md->renew_due = md->options.any_first;
		if (md->threads && md->renew_due)
			threads_forget_files(md);
		return;
	}
	text = strtab_add(md->options.strings, (const char *)(note + 1), note->len);
	md->spans = note->flags & LOG_NOTE_SPANS;
	if (!md->generation)
		return;
	/* What was seen before counts from the snapshot on, which follows. */
	if (note->flags & LOG_NOTE_SEEN && note->time > md->now)
		md->now = note->time;
	md->cause = INFERRED;
	if (note->flags & LOG_NOTE_NO_HEAP)
		end_sweeps(md);
	if (md->threads && note->flags & LOG_NOTE_NO_CALLS)
		threads_lose_calls(md);
	note_write(md, text);
	md->cause = SEEN;
	if (note->flags & (LOG_NOTE_GAP | LOG_NOTE_SEEN)) {
		generation_close(md, false);
		generation_open(md);
		/* The last records, and the first ones, are of some sites only. */
		md->phase = AFTER_GAP;
		md->early.n = 0;
		md->early.ntexts = 0;
		annotations_lost(md);
	}
}

static void feed_heap_live(struct model *md, const struct log_heap_live *live)
{
	md->live_due = md->live_due || live->bytes != md->heap_live;
	md->heap_live = live->bytes;
}

/* The file itself says what it lacks, and a new generation begins from here on. */
static void feed_loss(struct model *md, const struct log_loss *loss)
{
	char text[160];

	md->totals.loss.ring_full += loss->ring_full;
	md->totals.loss.stack_full += loss->stack_full;
	md->totals.loss.unreadable += loss->unreadable;
	md->totals.loss.missed += loss->missed;
	if (!md->generation || !lost_records(loss))
		return;
	snprintf(text, sizeof(text), "lost %llu records (ring full %llu, unreadable %llu, missed %llu)",
		 (unsigned long long)lost_records(loss), (unsigned long long)loss->ring_full,
		 (unsigned long long)loss->unreadable, (unsigned long long)loss->missed);
	annotations_lost(md);
	md->cause = REPAIRED;
	note_write(md, note_text(md, text));
	md->cause = SEEN;
	generation_close(md, false);
	generation_open(md);
}

static void feed_boundary(struct model *md, const struct log_record *record)
{
	const struct log_boundary *boundary = record->data;

	md->clock = boundary->clock;
	generation_boundary(md, boundary, (const struct log_m *)(boundary + 1));
}

static int dispatch(struct model *md, const struct log_record *record)
{
	switch (record->type) {
	case LOG_TARGET:
		feed_target(md, record->data);
		return 0;
	case LOG_REASON:
		feed_reason(md, record->data);
		return 0;
	case LOG_RECORDS:
		return feed_records(md, record);
	case LOG_TEXT:
		if (!md->threads)
			return feed_text(md, record->data);
		threads_record(md, record);
		return 0;
	case LOG_STACK:
		tables_add_stack(md, record->data);
		if (md->threads)
			threads_record(md, record);
		return 0;
	case LOG_SYMBOL:
	case LOG_FILE:
		if (md->threads)
			threads_record(md, record);
		return 0;
	case LOG_FUNCTION:
		functions_learn(md, record->data);
		return 0;
	case LOG_SNAPSHOT:
	case LOG_HEAP:
	case LOG_GS:
	case LOG_PS:
	case LOG_MS:
	case LOG_AREAS:
	case LOG_THREADS:
	case LOG_SNAPSHOT_END:
		return snapshot_record(md, record);
	case LOG_BOUNDARY:
		feed_boundary(md, record);
		return 0;
	case LOG_LOSS:
		feed_loss(md, record->data);
		return 0;
	case LOG_NOTE:
		feed_note(md, record->data);
		return 0;
	case LOG_HEAP_LIVE:
		feed_heap_live(md, record->data);
		return 0;
	default:
		return 0;
	}
}

int model_feed(struct model *md, const struct log_record *record, struct error *err)
{
	int ret = rawlog_check_record(record, err);

	if (!ret)
		ret = dispatch(md, record);
	if (!ret && md->oom)
		ret = -ENOMEM;
	if (ret == -ENOMEM)
		return error_set(err, ENOMEM, "out of memory while the trace was made");
	return ret ? ret : md->sink_error;
}

int model_finish(struct model *md, struct error *err)
{
	generation_close(md, true);
	md->generation = 0;
	if (md->oom)
		return error_set(err, ENOMEM, "out of memory while the trace was made");
	return md->sink_error;
}

const char *model_string(const struct model *md, uint32_t string)
{
	const struct strtab *strings = string & TEXT_ID ? md->annotations.texts : md->options.strings;

	string &= ~TEXT_ID;
	return string < strtab_count(strings) ? strtab_get(strings, string, NULL) : "";
}

void model_describe(struct model *md, uint32_t g, struct goroutine_stats *row)
{
	*row = (struct goroutine_stats){.startpc = 0};
	if (g == NO_G || g >= md->gs.n)
		return;
	row->startpc = md->gs.all[g]->startpc;
	row->name = threads_row_name(md, md->gs.all[g]);
}

bool model_is_own(const struct model *md, uint32_t g)
{
	return md->stand_in.g && md->stand_in.g->index == g;
}

uint64_t model_goid(const struct model *md, uint32_t g)
{
	return g < md->gs.n ? md->gs.goids[g] : 0;
}

const struct model_stats *model_stats(const struct model *md)
{
	return &md->totals;
}

const struct goroutine_stats *model_goroutine_stats(struct model *md, size_t *count)
{
	return stats_rows(md->stats, count);
}

unsigned model_threads(const struct model *md)
{
	return md->nms;
}

const struct tables *model_tables(const struct model *md)
{
	return &md->tables;
}

const struct log_target *model_target(const struct model *md)
{
	return md->has_target ? &md->target : NULL;
}
