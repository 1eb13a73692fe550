/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/model.h"

#include <errno.h>
#include <stdlib.h>

#include "model/gap.h"
#include "model/generation.h"
#include "model/own_log.h"
#include "model/stats.h"
#include "model/step.h"

/* A generation is closed early at this many ops besides statuses, to bound memory. */
enum { MAX_GENERATION_OPS = 1 << 18 };

struct model *model_new(const struct model_options *options)
{
	struct model *md = calloc(1, sizeof(*md));

	if (!md)
		return NULL;
	md->options = *options;
	if (!md->options.generation_ops || md->options.generation_ops > MAX_GENERATION_OPS)
		md->options.generation_ops = MAX_GENERATION_OPS;
	md->front = &go_front_end; /* until LOG_TARGET */
	md->reasons.strings = options->strings;
	md->view = (struct model_view){.model = md,
				       .ops = &md->ops,
				       .entities = &md->entities,
				       .stacks = &md->stacks,
				       .strings = options->strings,
				       .generation = &md->generation,
				       .target = &md->target,
				       .any_first = options->any_first};
	md->stats = stats_new();
	md->texts = strtab_new();
	if (!md->stats || !stack_table_init(&md->stacks) || !entities_init(&md->entities) || !md->texts) {
		model_free(md);
		return NULL;
	}
	return md;
}

bool model_annotate(struct model *md, const struct annotator *const *table, struct annotations *state)
{
	return annotators_open(&md->annotators, table, state);
}

struct annotations *model_annotations(const struct model *md)
{
	return md->annotators.state;
}

struct model_view *model_view(struct model *md)
{
	return &md->view;
}

uint32_t model_text_id(struct model *md, const char *text, size_t len)
{
	uint32_t id = strtab_add(md->texts, text, len);

	if (!id && len)
		md->oom = true;
	return id ? id | TEXT_ID : 0;
}

void model_end_call(struct model *md, struct g *g)
{
	md->front->end_call(md, g);
}

void model_count_off_cpu(struct model *md, uint32_t g, uint64_t ns)
{
	if (stats_off_cpu(md->stats, md, g, ns))
		md->oom = true;
}

void model_free(struct model *md)
{
	if (!md)
		return;
	md->front->close(md);
	entities_free(&md->entities);
	stack_table_free(&md->stacks);
	stats_free(md->stats);
	snapshot_free(&md->snapshot);
	strtab_free(md->texts);
	early_free(&md->early);
	op_list_free(&md->ops);
	own_logs_free(&md->own_logs);
	annotators_free(&md->annotators);
	free(md);
}

static bool is_out_of_memory(const struct model *md)
{
	return md->oom || md->view.oom || md->ops.oom || md->entities.oom || md->stacks.oom;
}

/* Nothing precedes the first record of a program that gotrace started: no snapshot to wait for. */
static void model_start_from_nothing(struct model *md, const struct raw_record *first)
{
	md->phase = RUNNING;
	md->ops.last_time = first->time;
	md->totals.start_ns = first->time;
	md->front->start_spawned(md, first);
	generation_open(md);
}

/* A record with texts comes alone, with `text`; otherwise text is NULL. */
static int feed_some(struct model *md, const struct raw_record *records, size_t n,
		     const struct raw_text *text)
{
	if (md->phase == BEFORE_SNAPSHOT && (md->target.flags & LOG_TARGET_SPAWNED) && n)
		model_start_from_nothing(md, &records[0]);
	if (md->phase != RUNNING && text && early_keep_text(&md->early, text))
		return -ENOMEM;
	if (md->phase != RUNNING)
		return early_keep(&md->early, records, n);
	md->text = text;
	for (size_t i = 0; i < n; i++) {
		bool due = md->generation.boundary_due ||
			   md->ops.n + md->view.pending - md->ops.statuses >= md->options.generation_ops;

		md->front->observe(md, &records[i]);
		if (due && !md->gc.stw) {
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

	/* Skip records that come without their texts: they are no annotations. */
	for (size_t i = 0, next; i < n && ret == 0; i = next + 1) {
		for (next = i; next < n && !raw_has_texts(&records[next]);)
			next++;
		if (next > i)
			ret = feed_some(md, records + i, next - i, NULL);
	}
	return ret;
}

static int feed_text(struct model *md, const struct raw_text *text)
{
	return raw_has_texts(&text->record) ? feed_some(md, &text->record, 1, text) : 0;
}

static bool is_with_values(const struct raw_text *text)
{
	return text->record.flags & RAW_VALUES;
}

static void feed_target(struct model *md, const struct log_target *target)
{
	if (!md->has_target) {
		md->front = target->flags & LOG_TARGET_THREADS ? &threads_front_end : &go_front_end;
		md->oom = md->oom || !md->front->open(md);
	}
	md->target = *target;
	md->generation.clock = target->clock;
	md->has_target = true;
}

static void feed_note(struct model *md, const struct log_record *record)
{
	const struct log_note *note = record->data;

	if (note->flags & LOG_NOTE_RENEW) {
		md->generation.renew_due = md->options.any_first;
		if (md->generation.renew_due)
			md->front->files_renewed(md);
		return;
	}
	md->starts_only = note->flags & LOG_NOTE_SPANS;
	if (note->flags & LOG_NOTE_INCOMPLETE && md->totals.incomplete++ == 0)
		md->totals.incomplete_note =
			strtab_add(md->options.strings, (const char *)(note + 1), note->len);
	if (!md->generation.number)
		return;
	/* Earlier observations take effect with the snapshot that follows. */
	if (note->flags & (LOG_NOTE_GAP | LOG_NOTE_RESUMED | LOG_NOTE_DATED) && note->time > md->ops.now)
		md->ops.now = note->time;
	if (note->flags & LOG_NOTE_RESUMED)
		gap_end(md, note->time);
	md->ops.provenance = INFERRED;
	if (note->flags & LOG_NOTE_NO_HEAP)
		step_end_sweeps(md);
	md->front->set_calls(md, !(note->flags & LOG_NOTE_NO_CALLS));
	annotators_learn(&md->annotators, record);
	gap_note(md, note);
	if (note->flags & LOG_NOTE_GAP)
		gap_begin(md, note->time);
	md->ops.provenance = OBSERVED;
	if (note->flags & (LOG_NOTE_GAP | LOG_NOTE_RESUMED)) {
		generation_close(md, false);
		generation_open(md);
		/* The last records before a gap and the first ones after it are of some sites only. */
		md->phase = AFTER_GAP;
		early_clear(&md->early);
		md->view.losses++;
	}
}

static void feed_heap_live(struct model *md, const struct log_heap_live *live)
{
	md->gc.live_due = md->gc.live_due || live->bytes != md->gc.heap_live;
	md->gc.heap_live = live->bytes;
}

/* Counts the loss and begins a new generation. */
static void feed_loss(struct model *md, const struct log_record *record)
{
	const struct log_loss *loss = record->data;

	md->totals.loss.ring_full += loss->ring_full;
	md->totals.loss.stack_full += loss->stack_full;
	md->totals.loss.unreadable += loss->unreadable;
	md->totals.loss.missed += loss->missed;
	if (!md->generation.number || !log_loss_records(loss))
		return;
	md->view.losses++;
	md->ops.provenance = INFERRED;
	annotators_learn(&md->annotators, record);
	md->ops.provenance = OBSERVED;
	generation_close(md, false);
	generation_open(md);
}

static void feed_boundary(struct model *md, const struct log_record *record)
{
	const struct log_boundary *boundary = record->data;

	md->generation.clock = boundary->clock;
	generation_boundary(md, boundary, (const struct log_m *)(boundary + 1));
}

static void observe_early(struct model *md, size_t from)
{
	const struct early_records *early = &md->early;
	size_t text = 0;

	md->phase = RUNNING;
	for (size_t i = 0; i < early->n; i++) {
		const struct raw_record *rec = &early->records[i];

		md->text = raw_has_texts(rec) ? early_next_text(early, &text) : NULL;
		if (i >= from)
			md->front->observe(md, rec);
	}
	early_free(&md->early);
}

/* The snapshot gives the state at the first marker; later records are among the early ones. */
static void take_snapshot(struct model *md)
{
	const struct log_snapshot *info = &md->snapshot.info;
	const struct early_records *early = &md->early;
	size_t from, to;

	if (md->phase != BEFORE_SNAPSHOT) {
		md->front->resync(md);
		observe_early(md, early_find_marker(early, info->marker_before, early->n));
		return;
	}
	from = early_find_marker(early, info->marker_before, 0);
	to = early_find_marker(early, info->marker_after, early->n);
	md->front->start(md, from, to);
	md->ops.last_time = from < early->n ? early->records[from].time : info->time_before;
	md->totals.start_ns = md->ops.last_time;
	generation_open(md);
	observe_early(md, from);
}

static int feed_snapshot(struct model *md, const struct log_record *record)
{
	int ret = snapshot_take(&md->snapshot, record);

	if (ret <= 0)
		return ret;
	take_snapshot(md);
	snapshot_free(&md->snapshot);
	return 0;
}

/* Whether annotators learn of the record from its own function, at the right time. */
static bool is_for_trace(const struct log_record *record)
{
	return record->type == LOG_NOTE || record->type == LOG_LOSS || record->type == LOG_END;
}

static int dispatch(struct model *md, const struct log_record *record)
{
	if (!is_for_trace(record))
		annotators_learn(&md->annotators, record);
	switch (record->type) {
	case LOG_TARGET:
		feed_target(md, record->data);
		return 0;
	case LOG_REASON:
		reasons_add(&md->reasons, record->data);
		return 0;
	case LOG_PARK_SKIPS:
		reasons_learn_skips(&md->reasons, record);
		return 0;
	case LOG_RECORDS:
		return feed_records(md, record);
	case LOG_TEXT:
		if (md->front->annotates || is_with_values(record->data))
			return feed_text(md, record->data);
		md->front->learn_name(md, record);
		return 0;
	case LOG_STACK:
		stack_table_add(&md->stacks, record->data, string_id(md, CUT_FRAME));
		md->front->learn_name(md, record);
		return 0;
	case LOG_SYMBOL:
	case LOG_FILE:
		md->front->learn_name(md, record);
		return 0;
	case LOG_SNAPSHOT:
	case LOG_HEAP:
	case LOG_GS:
	case LOG_PS:
	case LOG_MS:
	case LOG_AREAS:
	case LOG_THREADS:
	case LOG_SNAPSHOT_END:
		return feed_snapshot(md, record);
	case LOG_BOUNDARY:
		feed_boundary(md, record);
		return 0;
	case LOG_LOSS:
		feed_loss(md, record);
		return 0;
	case LOG_NOTE:
		feed_note(md, record);
		return 0;
	case LOG_END:
		gap_end_of_trace(md, record);
		return 0;
	case LOG_HEAP_LIVE:
		feed_heap_live(md, record->data);
		return 0;
	default:
		return 0;
	}
}

static void model_count(struct model *md)
{
	md->totals.goroutines = md->entities.created;
	md->totals.inferred = md->ops.inferred;
	md->totals.repaired = md->ops.repaired;
}

int model_feed(struct model *md, const struct log_record *record, struct error *err)
{
	int ret = rawlog_check_record(record, err);

	if (!ret)
		ret = dispatch(md, record);
	model_count(md);
	if (!ret && is_out_of_memory(md))
		ret = -ENOMEM;
	if (ret == -ENOMEM)
		return error_set(err, ENOMEM, "out of memory while building the trace");
	return ret ? ret : md->sink_error;
}

int model_finish(struct model *md, struct error *err)
{
	generation_close(md, true);
	md->generation.number = 0;
	model_count(md);
	if (is_out_of_memory(md))
		return error_set(err, ENOMEM, "out of memory while building the trace");
	return md->sink_error;
}

const char *model_string(const struct model *md, uint32_t string)
{
	const struct strtab *strings = string & TEXT_ID ? md->texts : md->options.strings;

	string &= ~TEXT_ID;
	return string < strtab_count(strings) ? strtab_get(strings, string, NULL) : "";
}

void model_describe(struct model *md, uint32_t g, struct goroutine_stats *row)
{
	*row = (struct goroutine_stats){.startpc = 0};
	if (g == NO_G || g >= md->entities.gs.n)
		return;
	row->startpc = md->entities.gs.all[g]->startpc;
	row->name = stats_row_name(md, md->entities.gs.all[g]);
	row->system = md->options.is_system && md->options.is_system(md->options.ctx, row);
}

bool model_is_own(const struct model *md, uint32_t g)
{
	return md->synthetic.g && md->synthetic.g->index == g;
}

uint64_t model_goid(const struct model *md, uint32_t g)
{
	return g < md->entities.gs.n ? md->entities.gs.goids[g] : 0;
}

const struct model_stats *model_stats(const struct model *md)
{
	return &md->totals;
}

const struct goroutine_stats *model_goroutine_stats(struct model *md, enum stat_order order, size_t *count)
{
	return stats_rows(md->stats, order, count);
}

const struct program_stats *model_program_stats(const struct model *md)
{
	return stats_program(md->stats);
}

unsigned model_threads(const struct model *md)
{
	return md->entities.nms;
}

const struct tables *model_tables(const struct model *md)
{
	return &md->tables;
}

const struct log_target *model_target(const struct model *md)
{
	return md->has_target ? &md->target : NULL;
}
