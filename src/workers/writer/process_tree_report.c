/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "workers/writer/process_tree_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workers/summary/exit_status.h"
#include "workers/summary/summary.h"
#include "workers/summary/table.h"
#include "util/array.h"
#include "util/message.h"
#include "util/text.h"

enum { SHOWN = 24, COLUMNS = 7 };

/* --- when a process has ended --- */

static void process_rows_close_file(struct process_rows *rows, struct output *out, bool *cut)
{
	int rc = output_close(out);

	if (!rc)
		return;
	*cut = true;
	if (!rows->failure.text[0])
		error_set(&rows->failure, -rc, "cannot write %s: %s", output_name(out), strerror(-rc));
}

static uint64_t running_of(struct model *model)
{
	size_t n;
	const struct goroutine_stats *all = model_goroutine_stats(model, BY_RUNNING, &n);
	uint64_t sum = 0;

	for (size_t i = 0; all && i < n; i++)
		sum += all[i].running_ns;
	return sum;
}

static void add_losses(struct process_rows *rows, const struct summary *sum)
{
	struct log_loss loss = summary_losses(sum);

	if (log_loss_records(&loss) + loss.stack_full >=
	    log_loss_records(&rows->loss) + rows->loss.stack_full)
		rows->loss = loss;
	if (summary_lost_samples(sum) > rows->lost_samples)
		rows->lost_samples = summary_lost_samples(sum);
}

static void note_span(struct process_rows *rows, const struct model_stats *stats)
{
	if (!rows->first_ns || (stats->start_ns && stats->start_ns < rows->first_ns))
		rows->first_ns = stats->start_ns;
	if (stats->end_ns > rows->last_ns)
		rows->last_ns = stats->end_ns;
	if (stats->unwatched_ns > rows->unwatched_ns)
		rows->unwatched_ns = stats->unwatched_ns;
}

static void process_rows_fill_row(struct process_rows *rows, struct process_row *row,
				  const struct summary *sum)
{
	struct model *model = pipeline_model(sum->pipe);
	const struct model_stats *stats = model_stats(model);
	const struct log_end *end = pipeline_end(sum->pipe);

	row->pid = model_target(model) ? model_target(model)->pid : 0;
	row->threads = stats->goroutines;
	row->events = stats->ops;
	row->repaired = stats->repaired;
	row->running_ns = running_of(model);
	row->bytes = pipeline_trace_bytes(sum->pipe);
	row->lossy = summary_has_losses(sum);
	row->hits = end ? end->hits : 0;
	rows->by_size = rows->by_size || (end && end->reason == LOG_END_SIZE);
	if (end && end->probe_hit_ns)
		rows->hit_ns = end->probe_hit_ns;
	rows->format = pipeline_format(sum->pipe);
	add_losses(rows, sum);
	note_span(rows, stats);
}

/* Appends the process's JSON object, which is the same as for a single traced process. */
static void keep_json(struct process_rows *rows, const struct summary *sum)
{
	if (!rows->json_out)
		rows->json_out = open_memstream(&rows->json, &rows->json_size);
	if (rows->json_out)
		summary_print_json(sum, rows->json_out);
	else
		rows->oom = true;
}

static struct process_row *new_row(struct process_rows *rows)
{
	if (array_grow(&rows->rows, &rows->capacity, rows->n + 1, sizeof(*rows->rows)))
		return NULL;
	return &rows->rows[rows->n++];
}

/*
 * A process that ended after the probes were attached but before the first snapshot is not part of the trace:
 * its files and its row are removed.
 */
static bool ended_before_trace(const struct process_row *row, const struct ended_process *ended)
{
	const struct log_end *end = pipeline_end(ended->pipe);

	return !ended->trace->committed && !row->cut && end && end->reason == LOG_END_EXITED;
}

static void discard_files(const struct ended_process *ended)
{
	output_discard(ended->trace);
	if (ended->raw)
		output_discard(ended->raw);
}

/* As with a single process, a file without a complete generation is not a trace. */
static void close_files(struct process_rows *rows, struct process_row *row, struct ended_process *ended)
{
	if (ended->raw)
		process_rows_close_file(rows, ended->raw, &row->cut);
	if (ended->trace->committed) {
		row->path = strdup(output_name(ended->trace));
		process_rows_close_file(rows, ended->trace, &row->cut);
	} else {
		output_discard(ended->trace);
	}
}

void process_rows_add(struct process_rows *rows, struct ended_process *ended)
{
	struct process_row *row = new_row(rows);
	const struct error *failures[] = {pipeline_trace_error(ended->pipe), pipeline_raw_error(ended->pipe)};
	struct summary sum = {.pipe = ended->pipe,
			      .trace = ended->trace->path,
			      .raw = ended->raw ? ended->raw->path : NULL,
			      .name = ended->comm,
			      .executable = ended->exe};

	if (!row) {
		rows->oom = true;
		output_discard(ended->trace);
		if (ended->raw)
			output_close(ended->raw);
		return;
	}
	for (unsigned i = 0; i < 2; i++) {
		if (!failures[i]->text[0])
			continue;
		row->cut = true;
		if (!rows->failure.text[0])
			rows->failure = *failures[i];
	}
	sum.cut = failures[0]->text[0] ? failures[0]->text : NULL;
	sum.raw_is_partial = failures[1]->text[0];
	snprintf(row->comm, sizeof(row->comm), "%s", ended->comm);
	process_rows_fill_row(rows, row, &sum);
	if (ended_before_trace(row, ended)) {
		discard_files(ended);
		rows->n--;
		return;
	}
	sum.exit_status = row->cut || row->lossy ? STATUS_CUT : STATUS_WHOLE;
	close_files(rows, row, ended);
	if (ended->json && row->path)
		keep_json(rows, &sum);
}

/* --- at the end --- */

static int by_running(const void *a, const void *b)
{
	const struct process_row *one = a, *two = b;

	if (one->running_ns != two->running_ns)
		return one->running_ns > two->running_ns ? -1 : 1;
	return one->pid < two->pid ? -1 : one->pid > two->pid;
}

static void process_rows_print_row(struct text_table *table, const struct process_row *row)
{
	struct text *cells = text_table_row(table);

	if (!cells)
		return;
	snprintf(cells[0].bytes, sizeof(cells[0].bytes), "%u", row->pid);
	cells[1] = text_name(row->comm, strlen(row->comm), 16);
	cells[2] = text_count(row->threads);
	cells[3] = text_time(row->running_ns);
	cells[4] = text_count(row->events);
	cells[5] = text_bytes(row->bytes);
	if (row->path)
		cells[6] = text_name(row->path, strlen(row->path), 100);
	else
		text_table_set(&cells[6], "(no trace)");
}

static void process_rows_print_rows(const struct process_rows *rows, FILE *out)
{
	static const char *const heads[COLUMNS] = {"PID",    "name", "threads", "running",
						   "events", "size", "file"};
	struct text_table table;
	struct text *cells;

	text_table_init(&table, COLUMNS, 1u << 1 | 1u << 6);
	cells = text_table_row(&table);
	for (unsigned i = 0; i < COLUMNS; i++)
		text_table_set(&cells[i], heads[i]);
	for (size_t i = 0; i < rows->n && i < SHOWN; i++)
		process_rows_print_row(&table, &rows->rows[i]);
	text_table_print(&table, out, "  ");
	if (rows->n > SHOWN)
		fprintf(out, "  ... and %s more (--json lists all)\n", text_count(rows->n - SHOWN).bytes);
}

static void process_rows_print_cost(const struct process_rows *rows, uint64_t hits, FILE *out)
{
	uint64_t span = rows->last_ns - rows->first_ns;

	if (!rows->hit_ns || !span)
		return;
	fprintf(out, "  cost        %s hits of about %s: %s of one core, spent in the processes\n",
		text_count(hits).bytes, text_time(rows->hit_ns).bytes,
		text_percent((double)hits * (double)rows->hit_ns / (double)span).bytes);
}

static void print_summary(struct process_rows *rows, const struct process_tree_report *report, FILE *out)
{
	uint64_t events = 0, repaired = 0, bytes = 0, hits = 0, largest = 0;
	size_t files = 0;

	for (size_t i = 0; i < rows->n; i++) {
		files += rows->rows[i].path != NULL;
		events += rows->rows[i].events;
		repaired += rows->rows[i].repaired;
		bytes += rows->rows[i].bytes;
		largest = rows->rows[i].bytes > largest ? rows->rows[i].bytes : largest;
		hits += rows->rows[i].hits;
	}
	fprintf(out, "gotrace: wrote %s trace%s: %s, %s events, %s (format go %s)\n", text_count(files).bytes,
		files == 1 ? "" : "s", text_time(rows->last_ns - rows->first_ns).bytes,
		text_count(events).bytes, text_bytes(bytes).bytes, wire_format_name(rows->format));
	if (repaired)
		fprintf(out,
			"  repaired    %s of these events: they were not seen, but later ones imply them\n",
			text_count(repaired).bytes);
	if (report->command) {
		struct summary sum = {.command_ended = report->command_ended,
				      .command_status = report->command_status};

		fprintf(out, "  program     %s: %s\n", text_path(report->command).bytes,
			summary_command_end(&sum).bytes);
	}
	if (rows->unwatched_ns)
		fprintf(out, "  not watched: %s of %s (the traces say when and why)\n",
			text_time(rows->unwatched_ns).bytes, text_time(rows->last_ns - rows->first_ns).bytes);
	process_rows_print_cost(rows, hits, out);
	qsort(rows->rows, rows->n, sizeof(*rows->rows), by_running);
	process_rows_print_rows(rows, out);
	fprintf(out, "  open with   go tool trace FILE%s\n",
		largest > SUMMARY_LARGE_BYTES
			? "; split files over 14 MB: gotrace cut FILE --split 10M -o PIECE"
			: "");
}

static bool has_losses(const struct process_rows *rows)
{
	const struct log_loss *loss = &rows->loss;

	return loss->ring_full || loss->stack_full || loss->unreadable || loss->missed || rows->lost_samples;
}

static void process_rows_print_losses(const struct process_rows *rows)
{
	const struct log_loss *loss = &rows->loss;

	if (has_losses(rows))
		message("lost: ring full %llu, stacks %llu, unreadable %llu, missed %llu, CPU "
			"samples %llu",
			(unsigned long long)loss->ring_full, (unsigned long long)loss->stack_full,
			(unsigned long long)loss->unreadable, (unsigned long long)loss->missed,
			(unsigned long long)rows->lost_samples);
	if (rows->left_out)
		message("%llu processes were not traced: too many at once, or out of memory or disk "
			"space",
			(unsigned long long)rows->left_out);
}

static int process_rows_print_json(struct process_rows *rows)
{
	if (rows->json_out && fclose(rows->json_out))
		rows->oom = true;
	rows->json_out = NULL;
	if (rows->json)
		fwrite(rows->json, 1, rows->json_size, stdout);
	return fflush(stdout) || ferror(stdout) ? -EIO : 0;
}

int process_rows_report(struct process_rows *rows, const struct process_tree_report *report, bool json)
{
	bool cut = report->cut || rows->left_out || rows->oom || rows->by_size || has_losses(rows);
	bool any = false;
	struct error none;

	for (size_t i = 0; i < rows->n; i++) {
		any = any || rows->rows[i].path;
		cut = cut || rows->rows[i].cut;
	}
	if (rows->failure.text[0])
		message_error(&rows->failure);
	if (!any) {
		error_set(&none, ENODATA, "no trace was written: %s",
			  report->cut ? report->cut : "no complete generation was recorded");
		message_error(&none);
		return STATUS_NONE;
	}
	if (json && process_rows_print_json(rows)) {
		error_set(&none, EIO, "cannot write the summary: %s", strerror(errno));
		message_error(&none);
		cut = true;
	}
	process_rows_print_losses(rows);
	if (!json && !report->quiet)
		print_summary(rows, report, stderr);
	return cut ? STATUS_CUT : STATUS_WHOLE;
}
