/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "workers/summary/summary.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "workers/summary/table.h"
#include "util/utf8.h"

enum {
	SHOWN_ROWS = 8,        /* the whole summary fits on a screen of 24 lines */
	SHOWN_ROWS_STATS = 24, /* with --stats */
	SHOWN_REASONS = 3,
	WIDE = 110,       /* columns needed to show what blocked each row */
	TIME_COLUMN = 10, /* "1,234 ms" and the space before it */
	NAME_LEAST = 12,
	NAME_ENOUGH = 22, /* columns for the name beside the reasons */
	NAME_MOST = 48,
};

static const char *const sort_names[] = {
	[BY_RUNNING] = "running",
	[BY_RUNNABLE] = "runnable",
	[BY_BLOCKED] = "blocked",
	[BY_COUNT] = "count",
};

bool summary_sort_parse(const char *text, uint8_t *sort)
{
	for (uint8_t i = 0; i < sizeof(sort_names) / sizeof(sort_names[0]); i++) {
		if (strcmp(text, sort_names[i]) == 0) {
			*sort = i;
			return true;
		}
	}
	return false;
}

struct log_loss summary_losses(const struct summary *sum)
{
	const struct log_end *end = pipeline_end(sum->pipe);

	return end ? end->total : model_stats(pipeline_model(sum->pipe))->loss;
}

uint64_t summary_lost_samples(const struct summary *sum)
{
	const struct log_end *end = pipeline_end(sum->pipe);

	return end ? end->lost_samples : 0;
}

bool summary_has_losses(const struct summary *sum)
{
	struct log_loss loss = summary_losses(sum);

	return loss.ring_full || loss.stack_full || loss.unreadable || loss.missed ||
	       summary_lost_samples(sum);
}

const char *summary_end_name(const struct summary *sum)
{
	static const char *const names[] = {"cut", "stopped", "exited", "execed", "size", "error"};
	const struct log_end *end = pipeline_end(sum->pipe);

	return end && end->reason < sizeof(names) / sizeof(names[0]) ? names[end->reason] : names[0];
}

static const char *describe_end(const struct summary *sum)
{
	static const char *const lines[] = {
		"the log ends early",     "stopped as requested",
		"the program ended",      "the process started another program (exec)",
		"--max-size was reached", "stopped by an error",
	};
	const struct log_end *end = pipeline_end(sum->pipe);

	return end && end->reason < sizeof(lines) / sizeof(lines[0]) ? lines[end->reason] : lines[0];
}

/* Real-time signals have no names of their own, and the C library keeps two numbers for itself. */
static struct text killed_by(int number)
{
	const char *name = sigabbrev_np(number);
	struct text text;

	if (name)
		snprintf(text.bytes, sizeof(text.bytes), "killed by SIG%s", name);
	else if (number >= SIGRTMIN && number <= SIGRTMAX)
		snprintf(text.bytes, sizeof(text.bytes), "killed by SIGRTMIN+%d", number - SIGRTMIN);
	else
		snprintf(text.bytes, sizeof(text.bytes), "killed by signal %d", number);
	return text;
}

struct text summary_command_end(const struct summary *sum)
{
	struct text text;
	int status = sum->command_status;

	if (!sum->command_ended)
		snprintf(text.bytes, sizeof(text.bytes), "still running");
	else if (WIFSIGNALED(status))
		return killed_by(WTERMSIG(status));
	else
		snprintf(text.bytes, sizeof(text.bytes), "exited with status %d", WEXITSTATUS(status));
	return text;
}

/* "go 1.21", "v0" */
static struct text summary_format_of(const struct summary *sum)
{
	enum wire_format format = pipeline_format(sum->pipe);
	struct text text;

	snprintf(text.bytes, sizeof(text.bytes), "%s%s", format == WIRE_V0 ? "" : "go ",
		 wire_format_name(format));
	return text;
}

static void print_headline(const struct summary *sum, FILE *out)
{
	const struct model_stats *stats = model_stats(pipeline_model(sum->pipe));
	bool standard = strcmp(sum->trace, "-") == 0;

	fprintf(out, "gotrace: wrote %s: %s, %s (format %s)\n",
		standard ? "standard output" : text_path(sum->trace).bytes,
		text_time(stats->end_ns - stats->start_ns).bytes,
		text_bytes(pipeline_trace_bytes(sum->pipe)).bytes, summary_format_of(sum).bytes);
	if (sum->raw)
		fprintf(out, "  raw log     %s, %s%s\n", text_path(sum->raw).bytes,
			text_bytes(pipeline_raw_bytes(sum->pipe)).bytes,
			sum->raw_is_partial ? "; not complete" : "");
}

static uint64_t lost_events(const struct summary *sum)
{
	struct log_loss loss = summary_losses(sum);

	return log_loss_records(&loss);
}

/* Reports whether the trace is complete, and why it ended. */
static void print_wholeness(const struct summary *sum, FILE *out)
{
	uint64_t lost = lost_events(sum);

	fprintf(out, "  trace       ");
	if (lost)
		fprintf(out, "%s events lost", text_count(lost).bytes);
	else if (summary_has_losses(sum))
		fprintf(out, "all events; some stacks or CPU samples lost");
	else if (sum->cut)
		fprintf(out, "cut short");
	else if (model_stats(pipeline_model(sum->pipe))->incomplete)
		fprintf(out, "nothing lost of what was observed");
	else if (model_stats(pipeline_model(sum->pipe))->repaired)
		fprintf(out, "no loss was noticed%s, but events were repaired",
			summary_unwatched(sum) ? " while watched" : "");
	else if (summary_unwatched(sum))
		fprintf(out, "nothing lost while watched");
	else
		fprintf(out, summary_leaves_out(sum) ? "nothing lost of what was recorded"
						     : "whole: nothing lost");
	fprintf(out, "; %s\n", describe_end(sum));
}

static void print_repairs(const struct summary *sum, FILE *out)
{
	const struct model_stats *stats = model_stats(pipeline_model(sum->pipe));

	if (stats->repaired)
		fprintf(out, "  repaired    %s of %s events: they were not seen, but later ones imply them\n",
			text_count(stats->repaired).bytes, text_count(stats->ops).bytes);
}

static void print_target(const struct summary *sum, FILE *out)
{
	const struct log_target *target = model_target(pipeline_model(sum->pipe));

	if (!target)
		return;
	fprintf(out, "  target      PID %u, %s, %s\n", target->pid,
		text_name(target->comm, strnlen(target->comm, sizeof(target->comm)), 16).bytes,
		summary_is_threads(sum)
			? "as threads"
			: text_name(target->go_version,
				    strnlen(target->go_version, sizeof(target->go_version)), 32)
				  .bytes);
	if (sum->layout)
		fprintf(out, "  release     not known to this gotrace: %s\n", sum->layout);
	if (sum->command)
		fprintf(out, "  program     %s: %s\n", text_path(sum->command).bytes,
			summary_command_end(sum).bytes);
}

static void summary_print_losses(const struct summary *sum, FILE *out)
{
	struct log_loss loss = summary_losses(sum);

	fprintf(out,
		"  lost        ring full %s, stacks %s, unreadable %s, missed by the kernel %s, CPU samples "
		"%s\n",
		text_count(loss.ring_full).bytes, text_count(loss.stack_full).bytes,
		text_count(loss.unreadable).bytes, text_count(loss.missed).bytes,
		text_count(summary_lost_samples(sum)).bytes);
}

/* Prints figures about tracing itself. */
static void print_stats(const struct summary *sum, FILE *out)
{
	const struct model_stats *stats = model_stats(pipeline_model(sum->pipe));
	const struct log_end *end = pipeline_end(sum->pipe);

	fprintf(out, "  events      %s in %s generations\n", text_count(stats->ops).bytes,
		text_count(stats->generations).bytes);
	fprintf(out, "  inferred    %s events (normal: transitions without a probe)\n",
		text_count(stats->inferred).bytes);
	if (stats->inferred_starts)
		fprintf(out, "  starts      %s of %s goroutine starts inferred\n",
			text_count(stats->inferred_starts).bytes,
			text_count(stats->by_kind[OP_GO_START]).bytes);
	if (end && end->late)
		fprintf(out, "  late        %s records left their ring after later ones of other CPUs\n",
			text_count(end->late).bytes);
	if (stats->by_kind[OP_CPU_SAMPLE])
		fprintf(out, "  CPU samples %s\n", text_count(stats->by_kind[OP_CPU_SAMPLE]).bytes);
}

uint64_t summary_unwatched(const struct summary *sum)
{
	return model_stats(pipeline_model(sum->pipe))->unwatched_ns;
}

void summary_print_unwatched(const struct summary *sum, FILE *out, const char *lead)
{
	const struct model_stats *stats = model_stats(pipeline_model(sum->pipe));

	if (stats->unwatched_ns)
		fprintf(out, "%snot watched: %s of %s%s\n", lead, text_time(stats->unwatched_ns).bytes,
			text_time(stats->end_ns - stats->start_ns).bytes,
			sum->exact ? ", though --detail=exact was given" : " (the trace says when and why)");
}

bool summary_leaves_out(const struct summary *sum)
{
	const struct model_stats *stats = model_stats(pipeline_model(sum->pipe));

	return stats->no_calls_ns || stats->few_frames_ns;
}

static void print_left_out(const struct summary *sum, FILE *out)
{
	const struct model_stats *stats = model_stats(pipeline_model(sum->pipe));

	if (!summary_leaves_out(sum))
		return;
	fprintf(out, "  left out    ");
	if (stats->no_calls_ns)
		fprintf(out, "system calls for %s, ", text_time(stats->no_calls_ns).bytes);
	fprintf(out, "frames of deep stacks for %s: over the limit on overhead\n",
		text_time(stats->few_frames_ns).bytes);
}

void summary_print_incomplete(const struct summary *sum, FILE *out, const char *lead)
{
	const struct model_stats *stats = model_stats(pipeline_model(sum->pipe));
	size_t len;
	const char *note =
		strtab_get(model_tables(pipeline_model(sum->pipe))->strings, stats->incomplete_note, &len);
	char *whole = stats->incomplete ? strndup(note, len) : NULL;

	if (whole) {
		text_make_printable(whole);
		fprintf(out, "%sincomplete  %s\n", lead, whole);
	}
	free(whole);
}

static void summary_print_cost(const struct summary *sum, FILE *out)
{
	const struct model_stats *stats = model_stats(pipeline_model(sum->pipe));
	const struct log_end *end = pipeline_end(sum->pipe);
	uint64_t span = stats->end_ns - stats->start_ns;

	if (!end || end->probe_hit_ns == 0 || span == 0)
		return;
	fprintf(out, "  cost        %s hits of about %s: %s of one core, in the target\n",
		text_count(end->hits).bytes, text_time(end->probe_hit_ns).bytes,
		text_percent((double)end->hits * (double)end->probe_hit_ns / (double)span).bytes);
}

/* Prints the part of the cost that --alloc adds. */
static void print_memory(const struct summary *sum, FILE *out)
{
	const struct model_stats *stats = model_stats(pipeline_model(sum->pipe));
	const struct log_end *end = pipeline_end(sum->pipe);
	uint64_t span = stats->end_ns - stats->start_ns;
	uint64_t spans = stats->by_kind[OP_MSPAN_ALLOC] + stats->by_kind[OP_MSPAN_FREE];
	uint64_t stacks = stats->by_kind[OP_GO_STACK_ALLOC] + stats->by_kind[OP_GO_STACK_FREE];

	if (!end || end->probe_hit_ns == 0 || span == 0 || spans + stacks == 0)
		return;
	fprintf(out,
		"  memory      %s spans and %s stacks allocated or freed: %s of one core, included above\n",
		text_count(spans).bytes, text_count(stacks).bytes,
		text_percent((double)(spans + stacks) * (double)end->probe_hit_ns / (double)span).bytes);
}

/* The columns to be shown. */
struct columns {
	bool cpu;      /* time on a CPU, if running goroutines often had none */
	bool wait;     /* time without a CPU; not on a narrow terminal */
	bool reasons;  /* what blocked them, if there is space */
	unsigned name; /* index of the function's column; the reasons follow it */
	size_t space;  /* for the reasons, in bytes */
};

/* Fills in as many reasons as fit, and at least one. */
static void fill_reasons(const struct summary *sum, const struct goroutine_stats *row, size_t space,
			 struct text *cell)
{
	for (unsigned n = SHOWN_REASONS; n > 0; n--) {
		summary_list_reasons(sum, row, n, cell);
		if (strlen(cell->bytes) <= space)
			return;
	}
}

static void summary_fill_row(const struct summary *sum, const struct goroutine_stats *row,
			     const struct columns *columns, struct text *cells)
{
	uint64_t off = row->off_cpu_ns < row->running_ns ? row->off_cpu_ns : row->running_ns;
	unsigned i = 0;

	cells[i++] = text_count(row->count);
	cells[i++] = text_time(row->running_ns);
	if (columns->cpu)
		cells[i++] = text_time(row->running_ns - off);
	if (columns->wait)
		cells[i++] = text_time(off);
	cells[i++] = text_time(row->runnable_ns);
	cells[i++] = text_time(row->syscall_ns);
	cells[i++] = text_time(row->waiting_ns);
	if (columns->reasons)
		fill_reasons(sum, row, columns->space, &cells[columns->name + 1]);
}

static void fill_heads(const struct summary *sum, const struct columns *columns, struct text *cells)
{
	unsigned i = 0;

	text_table_set(&cells[i++], "count");
	text_table_set(&cells[i++], "running");
	if (columns->cpu)
		text_table_set(&cells[i++], "on CPU");
	if (columns->wait)
		text_table_set(&cells[i++], "CPU wait");
	text_table_set(&cells[i++], "runnable");
	text_table_set(&cells[i++], summary_is_threads(sum) ? "in calls" : "syscalls");
	text_table_set(&cells[i++], "blocked");
	if (columns->reasons)
		text_table_set(&cells[columns->name + 1], "blocked by");
}

/* The function's column takes the remaining width. */
static void fill_names(const struct summary *sum, const struct goroutine_stats *rows, unsigned column,
		       struct text_table *table)
{
	int left = (int)summary_width(sum) - (int)text_table_width(table) - 2;
	unsigned width = left < NAME_LEAST ? NAME_LEAST : left > NAME_MOST ? NAME_MOST : (unsigned)left;

	for (unsigned i = 1; i < table->rows; i++)
		table->cells[i][column] = pipeline_function(sum->pipe, &rows[i - 1], width);
	text_table_set(&table->cells[0][column], summary_is_threads(sum) ? "thread" : "function");
}

static size_t space_for_reasons(const struct summary *sum, const struct columns *columns)
{
	size_t others = columns->name * TIME_COLUMN + NAME_ENOUGH + 2;

	return summary_width(sum) > others ? summary_width(sum) - others : 0;
}

static void summary_print_rows(const struct summary *sum, FILE *out)
{
	struct columns columns = {.cpu = summary_short_of_cpu(sum)};
	size_t n, most = sum->style.stats ? SHOWN_ROWS_STATS : SHOWN_ROWS;
	const struct goroutine_stats *rows =
		model_goroutine_stats(pipeline_model(sum->pipe), sum->style.sort, &n);
	struct text_table table;

	if (!rows || n == 0)
		return;
	columns.reasons = summary_width(sum) >= WIDE || sum->style.stats;
	columns.wait = columns.cpu && columns.reasons;
	columns.name = 5 + columns.cpu + columns.wait;
	columns.space = space_for_reasons(sum, &columns);
	text_table_init(&table, columns.name + 1 + columns.reasons,
			1u << columns.name | 1u << (columns.name + 1));
	fill_heads(sum, &columns, text_table_row(&table));
	for (size_t i = 0; i < n && i < most; i++)
		summary_fill_row(sum, &rows[i], &columns, text_table_row(&table));
	fill_names(sum, rows, columns.name, &table);
	fprintf(out, "\n%s by %s", summary_is_threads(sum) ? "Threads" : "Goroutines",
		sort_names[sum->style.sort]);
	if (n > most)
		fprintf(out, ", the first %zu of %s rows", most, text_count(n).bytes);
	fprintf(out, ":\n");
	text_table_print(&table, out, "  ");
}

static void print_if_large(const struct summary *sum, const char *file, FILE *out)
{
	uint64_t bytes = pipeline_trace_bytes(sum->pipe);

	if (bytes > SUMMARY_LARGE_BYTES)
		fprintf(out,
			"%s is too much for it to show well; split the trace:  gotrace cut %s --split 10M -o "
			"PIECE\n",
			text_bytes(bytes).bytes, file);
}

static void print_how_to_open(const struct summary *sum, FILE *out)
{
	enum wire_format format = pipeline_format(sum->pipe);
	struct text_path file = text_path(strcmp(sum->trace, "-") == 0 ? "FILE" : sum->trace);

	if (format == WIRE_V0)
		fprintf(out, "\nNo release of Go can open this format, which is older than Go 1.5.\n");
	else if (format < WIRE_GO111)
		fprintf(out, "\nOpen it with Go %s to 1.22:  go tool trace %s%s\n", wire_format_name(format),
			format == WIRE_GO15 ? "BINARY " : "", file.bytes);
	else
		fprintf(out, "\nOpen it with Go %s or newer:  go tool trace %s\n", wire_format_name(format),
			file.bytes);
	print_if_large(sum, file.bytes, out);
}

void summary_print(const struct summary *sum, FILE *out)
{
	print_headline(sum, out);
	print_wholeness(sum, out);
	if (sum->style.stats || summary_has_losses(sum))
		summary_print_losses(sum, out);
	print_repairs(sum, out);
	summary_print_unwatched(sum, out, "  ");
	print_left_out(sum, out);
	summary_print_incomplete(sum, out, "  ");
	if (sum->cut)
		fprintf(out, "  cut         %s\n", sum->cut);
	print_target(sum, out);
	summary_print_whole(sum, out);
	summary_print_cost(sum, out);
	print_memory(sum, out);
	if (sum->style.stats)
		print_stats(sum, out);
	summary_print_rows(sum, out);
	print_how_to_open(sum, out);
}
