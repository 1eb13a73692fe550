/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The report as JSON, the most important items first, up to the size limit (docs/report-schema.md). */
#include <stdlib.h>
#include <string.h>

#include "analysis/cpu.h"
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/kinds.h"
#include "analysis/tables.h"
#include "analysis/names.h"
#include "analysis/order.h"
#include "analysis/state.h"
#include "analysis/top.h"
#include "analysis/words.h"
#include "util/json.h"
#include "trace/ops/own_logs.h"
#include "util/utf8.h"

enum { DEFAULT_BYTES = 64 << 10, FRAMES = 12, MAX_TEXT = 200, TAIL_BYTES = 1024 };

struct json_report {
	const struct analysis *a;
	struct json json;
	size_t left;    /* bytes that may still be written */
	unsigned items; /* limit per list; 0 = none */
};

static void report_json_text(struct json *json, const char *name, const char *text)
{
	json_string(json, name, text, (size_t)text_fit(text, MAX_TEXT));
}

static void report_json_frames(struct json *json, const struct analysis *a, const char *name, uint32_t stack)
{
	const struct stack_info *info = &a->stacks[stack < a->nstacks ? stack : 0];

	json_open(json, name, '[');
	for (uint32_t i = 0; i < info->n && i < FRAMES; i++) {
		const struct code_place *frame = &a->frames[info->first + i];
		char text[MAX_TEXT + 64];

		snprintf(text, sizeof(text), "%.*s %.*s:%u",
			 text_fit(name_text(a, frame->func), MAX_TEXT - 100), name_text(a, frame->func),
			 text_fit(name_text(a, frame->file), 100), name_text(a, frame->file), frame->line);
		report_json_text(json, NULL, text);
	}
	json_close(json, ']');
}

static void put_histogram(struct json *json, const struct histogram *hist)
{
	json_number(json, "n", hist->n);
	json_number(json, "total_ns", hist->sum);
	json_number(json, "p50_ns", histogram_quantile(hist, 0.5));
	json_number(json, "p99_ns", histogram_quantile(hist, 0.99));
	json_number(json, "max_ns", hist->max);
}

static void put_spent(struct json *json, const char *name, const uint64_t spent[ACT_COUNT])
{
	json_open(json, name, '{');
	for (unsigned i = 1; i < ACT_COUNT; i++) {
		if (spent[i])
			json_number(json, activity_name((enum activity)i), spent[i]);
	}
	json_close(json, '}');
}

static uint64_t from_begin(const struct analysis *a, uint64_t time)
{
	return time > a->begin ? time - a->begin : 0;
}

/* --- rows --- */

static void report_json_group(struct json *json, const struct analysis *a, uint32_t i)
{
	const struct group *group = &a->groups[i];

	report_json_text(json, "function", name_text(a, group->func));
	report_json_text(json, "file", name_text(a, group->file));
	json_number(json, "line", group->line);
	json_bool(json, "system", group->system);
	json_number(json, "alive_at_start", group->at_start);
	json_number(json, "peak", group->peak);
	json_number(json, "alive_at_end", group->alive);
	json_number(json, "created", group->created);
	json_number(json, "ended", group->ended);
	put_spent(json, "states_ns", group->spent);
	if (group->creator)
		report_json_frames(json, a, "created_by", group->creator);
}

static void report_json_row(struct json *json, const struct analysis *a, uint32_t i)
{
	const struct row *row = &a->rows[i];
	const struct pair *pair = row_ended_by(a, i);

	json_text(json, "for", activity_name((enum activity)row->activity));
	put_histogram(json, &row->hist);
	json_number(json, "cut_n", row->cut_n);
	json_number(json, "cut_ns", row->cut_ns);
	json_number(json, "cut_max_ns", row->cut_max);
	json_number(json, "max_at_ns", from_begin(a, row->max_at));
	json_number(json, "max_goroutine", row->max_g);
	json_number(json, "no_waker", row->no_waker);
	report_json_text(json, "where", label_stack(a, row->stack).text);
	report_json_frames(json, a, "stack", row->stack);
	if (pair) {
		report_json_text(json, "ended_in", label_stack(a, pair->stack).text);
		json_number(json, "ended_by_n", pair->n);
		json_number(json, "ended_by_ns", pair->ns);
		report_json_frames(json, a, "ended_by", pair->stack);
		put_spent(json, "waker_meanwhile_ns", pair->meanwhile);
	}
}

static void report_json_lock(struct json *json, const struct analysis *a, uint32_t i)
{
	const struct resource *res = &a->resources[i];

	put_histogram(json, &res->waits);
	json_number(json, "max_at_ns", from_begin(a, res->max_at));
	json_number(json, "max_goroutine", res->max_g);
	json_number(json, "max_waker", res->max_waker);
	json_number(json, "most_waiting", res->most_waiting);
	json_number(json, "held_p50_ns", histogram_quantile(&res->min_holds, 0.5));
	json_number(json, "held_max_ns", res->min_holds.max);
	json_number(json, "releases", res->releases);
	json_number(json, "releases_by_waiters", res->by_waiters);
	put_spent(json, "holder_meanwhile_ns", res->meanwhile);
	report_json_frames(json, a, "waits", (uint32_t)top_first(res->waited)->key);
	report_json_frames(json, a, "released", (uint32_t)top_first(res->released)->key);
	if (top_first(res->did)->n)
		report_json_frames(json, a, "holder_in", (uint32_t)(top_first(res->did)->key >> 8));
}

static void put_tops(struct json *json, const struct analysis *a, const char *name,
		     const struct top tops[TOPS])
{
	const struct top *first = top_first(tops);

	if (first->n && first->key)
		report_json_frames(json, a, name, (uint32_t)first->key);
}

static void put_holders(struct json *json, const struct lock *lock)
{
	json_open(json, "holders", '[');
	for (unsigned i = 0; i < TOPS; i++) {
		if (!lock->holders[i].n)
			continue;
		json_open(json, NULL, '{');
		json_number(json, "goroutine", lock->holders[i].key);
		json_number(json, "waits_ns", top_sure(&lock->holders[i]));
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void put_address(struct json *json, const struct analysis *a, uint32_t i)
{
	const struct lock *lock = &a->locks[i];
	char address[24];

	snprintf(address, sizeof(address), "0x%llx", (unsigned long long)lock->address);
	json_text(json, "kind", lock_form_name(lock->form));
	json_text(json, "address", address);
	put_histogram(json, &lock->waits);
	json_number(json, "max_at_ns", from_begin(a, lock->max_at));
	json_number(json, "max_goroutine", lock->max_g);
	json_number(json, "max_waker", lock->max_waker);
	json_number(json, "most_waiting", lock->most_waiting);
	json_number(json, "contended_ns", lock->contended_ns);
	json_number(json, "readers", lock->readers);
	json_number(json, "readers_ns", lock->readers_ns);
	put_tops(json, a, "waits", lock->waited);
	if (!lock_is_held(lock)) {
		put_tops(json, a, "ended_by", lock->released);
		return;
	}
	json_number(json, "releases", lock->releases);
	json_number(json, "held_ns", lock->charged_ns);
	json_number(json, "taken_known", lock->known);
	put_holders(json, lock);
	put_tops(json, a, "taken", lock->taken);
	put_tops(json, a, "released", lock->released);
}

static void put_instances(struct json *json, const struct analysis *a, uint32_t i)
{
	const struct instances *all = &a->instances[i];

	report_json_text(json, "name", name_text(a, all->name));
	put_histogram(json, &all->hist);
	put_spent(json, "states_ns", all->spent);
	json_open(json, "slowest", '[');
	for (unsigned j = 0; j < all->nslowest; j++) {
		json_open(json, NULL, '{');
		json_number(json, "begin_ns", from_begin(a, all->slowest[j].begin));
		json_number(json, "duration_ns", all->slowest[j].ns);
		json_number(json, "goroutine", all->slowest[j].goid);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void report_json_label(struct json *json, const struct analysis *a, uint32_t i)
{
	put_instances(json, a, i);
	json_number(json, "cut", a->instances[i].cut);
}

static void put_leak(struct json *json, const struct analysis *a, uint32_t i)
{
	const struct group *group = &a->groups[i];
	const struct top *where = top_first(group->suspect_stacks);

	report_json_text(json, "function", name_text(a, group->func));
	json_number(json, "waiting", group->suspects);
	json_number(json, "created", group->created);
	json_number(json, "ended", group->ended);
	json_text(json, "for", activity_name((enum activity)(where->key & 0xff)));
	report_json_frames(json, a, "waits", (uint32_t)(where->key >> 8));
	report_json_frames(json, a, "created_by", group->creator);
}

static void put_cpu(struct json *json, const struct analysis *a, uint32_t i)
{
	const struct cpu_row *row = &a->cpu.rows[i];
	uint32_t stack = (uint32_t)top_first(row->stacks)->key;
	const struct code_place *site = stack_site(a, stack);

	report_json_text(json, "function", name_text(a, row->func));
	report_json_text(json, "file", name_text(a, site->file));
	json_number(json, "line", site->line);
	json_number(json, "self_samples", row->self);
	json_number(json, "total_samples", row->total);
	json_number(json, "self_ns", (uint64_t)((double)row->self * cpu_sample_ns(a)));
	json_number(json, "total_ns", (uint64_t)((double)row->total * cpu_sample_ns(a)));
	report_json_text(json, "where", cpu_place(a, i).text);
	if (top_first(row->groups)->n)
		report_json_text(json, "goroutine",
				 name_text(a, a->groups[top_first(row->groups)->key].func));
	if (top_first(row->tasks)->n)
		report_json_text(json, "task", name_text(a, (uint32_t)top_first(row->tasks)->key));
	report_json_frames(json, a, "stack", stack);
}

typedef void (*put_item)(struct json *json, const struct analysis *a, uint32_t i);

static const put_item putters[TABLE_COUNT] = {
	[TABLE_GOROUTINES] = report_json_group,
	[TABLE_WAITS] = report_json_row,
	[TABLE_LOCKS] = report_json_lock,
	[TABLE_SYSCALLS] = report_json_row,
	[TABLE_TASKS] = put_instances,
	[TABLE_REGIONS] = put_instances,
	[TABLE_LEAKS] = put_leak,
	[TABLE_ASSISTS] = report_json_row,
	[TABLE_ADDRESSES] = put_address,
	[TABLE_LABELS] = report_json_label,
	[TABLE_CPU] = put_cpu,
};

static void report_json_finding(struct json *json, const struct analysis *a, uint32_t i)
{
	const struct finding *finding = &a->findings[i];

	json_text(json, "id", finding->id);
	json_text(json, "level", finding_level(finding));
	json_real(json, "impact", finding->impact);
	json_text(json, "text", finding->text);
	json_open(json, "evidence", '{');
	json_number(json, "n", finding->n);
	json_number(json, "total_ns", finding->total_ns);
	json_number(json, "p50_ns", finding->p50_ns);
	json_number(json, "p99_ns", finding->p99_ns);
	json_number(json, "max_ns", finding->max_ns);
	json_number(json, "first_ns", finding->first_ns);
	json_number(json, "worst_ns", finding->worst_ns);
	json_number(json, "goroutine", finding->worst_goid);
	report_json_frames(json, a, "stack", finding->stack);
	report_json_frames(json, a, "waker_stack", finding->waker_stack);
	json_open(json, "lines", '[');
	for (unsigned j = 0; j < finding->nevidence; j++)
		report_json_text(json, NULL, finding->evidence[j]);
	json_close(json, ']');
	json_close(json, '}');
	json_text(json, "explained_by", finding->explained_by);
	json_text(json, "next", finding->next);
}

/* --- lists, up to the limit --- */

static bool put_one(struct json_report *report, put_item put, uint32_t i)
{
	char *text = NULL;
	size_t size = 0;
	struct json json = {.out = open_memstream(&text, &size)};
	bool fits;

	if (!json.out)
		return false;
	json_open(&json, NULL, '{');
	put(&json, report->a, i);
	json_close(&json, '}');
	fclose(json.out);
	fits = size < report->left;
	if (fits) {
		if (report->json.more)
			fputc(',', report->json.out);
		fwrite(text, 1, size, report->json.out);
		report->json.more = true;
		report->left -= size + 1;
	}
	free(text);
	return fits;
}

static void put_list(struct json_report *report, const char *name, put_item put, const uint32_t *order,
		     size_t n, size_t share)
{
	size_t done = 0, before = report->left, keep = before > share ? before - share : 0;

	json_open(&report->json, name, '{');
	json_open(&report->json, "rows", '[');
	report->left -= keep;
	while (done < n && (!report->items || done < report->items) &&
	       put_one(report, put, order ? order[done] : (uint32_t)done))
		done++;
	report->left += keep;
	json_close(&report->json, ']');
	json_number(&report->json, "omitted", n - done);
	json_close(&report->json, '}');
}

static void report_json_trace(struct json_report *report)
{
	const struct analysis *a = report->a;
	struct json *json = &report->json;

	json_open(json, "trace", '{');
	report_json_text(json, "name", a->options.name ? a->options.name : "");
	json_number(json, "duration_ns", a->end - a->begin);
	json_number(json, "not_watched_ns", a->unwatched_ns);
	json_number(json, "no_syscalls_ns", a->ledger.no_calls_ns);
	json_number(json, "lost", a->lost);
	json_number(json, "tracing_ns", a->options.host.tracing_ns);
	json_number(json, "events", a->ops);
	json_number(json, "inferred", a->inferred);
	json_number(json, "repaired", a->repaired);
	json_text(json, "of", words_of(a)->many);
	json_number(json, "procs", a->most_procs);
	json_number(json, "alive_at_start", a->alive_start);
	json_number(json, "alive_at_end", a->alive);
	json_number(json, "created", a->created);
	json_number(json, "ended", a->ended);
	json_number(json, "cpu_samples", a->samples);
	json_number(json, "cpu_samples_scheduler", a->cpu.scheduler);
	put_spent(json, "states_ns", a->total_spent);
	json_close(json, '}');
}

static void report_json_procs(struct json_report *report)
{
	static const char *const uses[P_USE_COUNT] = {NULL,         "code_ns",      "gc_ns",
						      "syscall_ns", "searching_ns", "idle_ns"};
	struct json *json = &report->json;

	json_open(json, "procs", '{');
	json_number(json, "all_ns", report->a->procs_ns);
	for (unsigned i = 1; i < P_USE_COUNT; i++)
		json_number(json, uses[i], report->a->used_ns[i]);
	json_close(json, '}');
}

static void put_latency(struct json_report *report)
{
	static const char *const causes[DELAY_COUNT] = {"world_stopped_ns", "wake_up_ns", "gc_ns", "no_p_ns"};
	static const char *const origins[ORIGIN_COUNT] = {"created", "woken", "preempted", "yielded",
							  "syscall"};
	struct json *json = &report->json;

	json_open(json, "latency", '{');
	put_histogram(json, &report->a->latency);
	for (unsigned i = 0; i < DELAY_COUNT; i++)
		json_number(json, causes[i], (uint64_t)report->a->latency_by[i]);
	json_open(json, "after", '{');
	for (unsigned i = 0; i < ORIGIN_COUNT; i++) {
		json_open(json, origins[i], '{');
		put_histogram(json, &report->a->latency_from[i]);
		json_close(json, '}');
	}
	json_close(json, '}');
	json_close(json, '}');
}

static void report_json_gc(struct json_report *report)
{
	const struct gc_figures *gc = &report->a->gc;
	struct json *json = &report->json;

	json_open(json, "gc", '{');
	json_number(json, "cycles", gc->cycles);
	json_number(json, "cycles_ns", gc->cycles_ns);
	json_number(json, "heap_max_bytes", gc->heap_max);
	json_number(json, "goal_max_bytes", gc->goal_max);
	json_number(json, "assist_ns", report->a->total_spent[ACT_ASSIST]);
	json_open(json, "pauses", '{');
	put_histogram(json, &gc->pauses);
	json_close(json, '}');
	json_open(json, "stopping", '{');
	put_histogram(json, &gc->stops);
	json_close(json, '}');
	json_close(json, '}');
}

static void put_not_applicable(struct json_report *report)
{
	unsigned all = report->a->nnot_applicable,
		 n = report->items && report->items < all ? report->items : all;

	json_open(&report->json, "not_applicable", '[');
	for (unsigned i = 0; i < n; i++) {
		json_open(&report->json, NULL, '{');
		json_text(&report->json, "id", report->a->not_applicable[i].id);
		json_text(&report->json, "why", report->a->not_applicable[i].why);
		json_close(&report->json, '}');
	}
	json_close(&report->json, ']');
	json_number(&report->json, "not_applicable_omitted", all - n);
}

/* Only traces made with --locks have addresses of locks, and few by other tools have CPU samples. */
static bool has_table(const struct analysis *a, enum table table)
{
	if (table == TABLE_CPU)
		return a->cpu.nrows > 1;
	return table != TABLE_ADDRESSES || a->nlocks > 1;
}

static void put_tables(struct json_report *report)
{
	json_open(&report->json, "tables", '{');
	for (unsigned i = 0; i < TABLE_COUNT; i++) {
		size_t n;
		uint32_t *order;

		if (!has_table(report->a, (enum table)i))
			continue;
		order = order_table(report->a, (enum table)i, SORT_TOTAL, &n);
		put_list(report, table_name((enum table)i), putters[i], order, n,
			 report->left / (TABLE_COUNT - i));
		free(order);
	}
	json_close(&report->json, '}');
}

void report_json(struct analysis *a, FILE *out, const struct report_style *style)
{
	struct json_report report = {.a = a, .json = {.out = out}, .items = style->max_items};
	size_t most = style->max_bytes ? style->max_bytes : DEFAULT_BYTES;

	/* The other parts take about 4 KiB, and 64 bytes for each rule that did not apply. */
	size_t fixed = 4 * TAIL_BYTES + 64 * (size_t)a->nnot_applicable;

	report.left = most > fixed + TAIL_BYTES ? most - fixed : TAIL_BYTES;
	json_open(&report.json, NULL, '{');
	json_number(&report.json, "schema", 1);
	report_json_trace(&report);
	put_list(&report, "findings", report_json_finding, NULL, a->nfindings, report.left / 2);
	put_not_applicable(&report);
	report_json_procs(&report);
	put_latency(&report);
	report_json_gc(&report);
	put_tables(&report);
	json_close(&report.json, '}');
	fputc('\n', out);
}
