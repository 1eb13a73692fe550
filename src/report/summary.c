/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "report/summary.h"

#include <string.h>
#include <sys/wait.h>

#include "report/table.h"

enum { SHOWN_FUNCTIONS = 12, SHOWN_REASONS = 3, NAME_WIDTH = 48 };

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
		"the log ends early",     "stopped as asked",
		"the program ended",      "the process started another program (exec)",
		"--max-size was reached", "an error ended it",
	};
	const struct log_end *end = pipeline_end(sum->pipe);

	return end && end->reason < sizeof(lines) / sizeof(lines[0]) ? lines[end->reason] : lines[0];
}

struct text summary_command_end(const struct summary *sum)
{
	struct text text;
	int status = sum->command_status;

	if (!sum->command_ended)
		snprintf(text.bytes, sizeof(text.bytes), "still runs");
	else if (WIFSIGNALED(status))
		snprintf(text.bytes, sizeof(text.bytes), "killed by SIG%s", sigabbrev_np(WTERMSIG(status)));
	else
		snprintf(text.bytes, sizeof(text.bytes), "exited with status %d", WEXITSTATUS(status));
	return text;
}

/* "go 1.21", "v0" */
static struct text format_of(const struct summary *sum)
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

	fprintf(out, "gotrace: wrote %s: %s of trace, %s events in %s generations, %s (format %s)\n",
		standard ? "standard output" : text_path(sum->trace).bytes,
		text_time(stats->end_ns - stats->start_ns).bytes, text_count(stats->ops).bytes,
		text_count(stats->generations).bytes, text_bytes(pipeline_trace_bytes(sum->pipe)).bytes,
		format_of(sum).bytes);
	if (sum->raw)
		fprintf(out, "  raw log     %s, %s\n", text_path(sum->raw).bytes,
			text_bytes(pipeline_raw_bytes(sum->pipe)).bytes);
}

/* Else it is a Go program, and they are goroutines. */
static bool is_threads(const struct summary *sum)
{
	const struct log_target *target = model_target(pipeline_model(sum->pipe));

	return target && target->flags & LOG_TARGET_THREADS;
}

static void print_target(const struct summary *sum, FILE *out)
{
	const struct log_target *target = model_target(pipeline_model(sum->pipe));

	if (!target)
		return;
	fprintf(out, "  target      PID %u, %s, %s\n", target->pid,
		text_name(target->comm, strnlen(target->comm, sizeof(target->comm)), 16).bytes,
		is_threads(sum) ? "as threads"
				: text_name(target->go_version,
					    strnlen(target->go_version, sizeof(target->go_version)), 32)
					  .bytes);
	if (sum->command)
		fprintf(out, "  program     %s: %s\n", text_path(sum->command).bytes,
			summary_command_end(sum).bytes);
}

static void print_counts(const struct summary *sum, FILE *out)
{
	const struct model_stats *stats = model_stats(pipeline_model(sum->pipe));
	struct log_loss loss = summary_losses(sum);

	fprintf(out, "  ended       %s\n", describe_end(sum));
	fprintf(out, "  %s %s seen\n", is_threads(sum) ? "threads    " : "goroutines ",
		text_count(stats->goroutines).bytes);
	fprintf(out, "  inferred    %s events (normal: places without a probe), repaired %s\n",
		text_count(stats->inferred).bytes, text_count(stats->repaired).bytes);
	if (stats->inferred_starts)
		fprintf(out, "  starts      %s of %s goroutine starts inferred\n",
			text_count(stats->inferred_starts).bytes,
			text_count(stats->by_kind[OP_GO_START]).bytes);
	if (stats->by_kind[OP_CPU_SAMPLE])
		fprintf(out, "  CPU samples %s\n", text_count(stats->by_kind[OP_CPU_SAMPLE]).bytes);
	fprintf(out,
		"  lost        ring full %s, stacks %s, unreadable %s, missed by the kernel %s, CPU samples "
		"%s\n",
		text_count(loss.ring_full).bytes, text_count(loss.stack_full).bytes,
		text_count(loss.unreadable).bytes, text_count(loss.missed).bytes,
		text_count(summary_lost_samples(sum)).bytes);
}

static void print_cost(const struct summary *sum, FILE *out)
{
	const struct model_stats *stats = model_stats(pipeline_model(sum->pipe));
	const struct log_end *end = pipeline_end(sum->pipe);
	uint64_t span = stats->end_ns - stats->start_ns;

	if (!end || end->probe_hit_ns == 0 || span == 0)
		return;
	fprintf(out, "  cost        %s hits of about %s: %s of one core, spent in the target\n",
		text_count(end->hits).bytes, text_time(end->probe_hit_ns).bytes,
		text_percent((double)end->hits * (double)end->probe_hit_ns / (double)span).bytes);
}

/* What --alloc adds to that. */
static void print_memory(const struct summary *sum, FILE *out)
{
	const struct model_stats *stats = model_stats(pipeline_model(sum->pipe));
	const struct log_end *end = pipeline_end(sum->pipe);
	uint64_t span = stats->end_ns - stats->start_ns;
	uint64_t spans = stats->by_kind[OP_SPAN_ALLOC] + stats->by_kind[OP_SPAN_FREE];
	uint64_t stacks = stats->by_kind[OP_GO_STACK_ALLOC] + stats->by_kind[OP_GO_STACK_FREE];

	if (!end || end->probe_hit_ns == 0 || span == 0 || spans + stacks == 0)
		return;
	fprintf(out, "  memory      %s spans and %s stacks came or went: %s of one core, of that\n",
		text_count(spans).bytes, text_count(stacks).bytes,
		text_percent((double)(spans + stacks) * (double)end->probe_hit_ns / (double)span).bytes);
}

/* The index of the greatest not yet taken reason, or -1. */
static int next_reason(const struct goroutine_stats *row, const bool *taken)
{
	int best = -1;

	for (int i = 0; i < STAT_REASONS; i++) {
		if (taken[i] || !row->waiting[i].reason || row->waiting[i].ns == 0)
			continue;
		if (best < 0 || row->waiting[i].ns > row->waiting[best].ns)
			best = i;
	}
	return best;
}

static void list_reasons(const struct summary *sum, const struct goroutine_stats *row, struct text *cell)
{
	const struct tables *tables = model_tables(pipeline_model(sum->pipe));
	bool taken[STAT_REASONS] = {false};
	size_t at = 0, len;

	for (int shown = 0; shown < SHOWN_REASONS && at < sizeof(cell->bytes); shown++) {
		int i = next_reason(row, taken);
		const char *name;

		if (i < 0)
			break;
		taken[i] = true;
		name = strtab_get(tables->strings, row->waiting[i].reason, &len);
		at += (size_t)snprintf(cell->bytes + at, sizeof(cell->bytes) - at, "%s%s %s",
				       shown ? ", " : "", text_name(name, len, 32).bytes,
				       text_time(row->waiting[i].ns).bytes);
	}
}

static void print_functions(const struct summary *sum, FILE *out)
{
	static const char *const heads[] = {"count",   "running",  "runnable",  "syscalls",
					    "blocked", "function", "blocked by"};
	size_t n;
	const struct goroutine_stats *rows = model_goroutine_stats(pipeline_model(sum->pipe), &n);
	struct table table;
	struct text *cells;

	if (!rows || n == 0)
		return;
	table_init(&table, 7, 1u << 5 | 1u << 6);
	cells = table_row(&table);
	for (unsigned i = 0; i < 7; i++)
		table_set(&cells[i], heads[i]);
	for (size_t i = 0; i < n && i < SHOWN_FUNCTIONS; i++) {
		cells = table_row(&table);
		cells[0] = text_count(rows[i].count);
		cells[1] = text_time(rows[i].running_ns);
		cells[2] = text_time(rows[i].runnable_ns);
		cells[3] = text_time(rows[i].syscall_ns);
		cells[4] = text_time(rows[i].waiting_ns);
		cells[5] = pipeline_function(sum->pipe, &rows[i], NAME_WIDTH);
		list_reasons(sum, &rows[i], &cells[6]);
	}
	fprintf(out, "\nBusiest %s%s:\n", is_threads(sum) ? "threads" : "goroutine functions",
		n > SHOWN_FUNCTIONS ? " (the first of them)" : "");
	table_print(&table, out, "  ");
}

static void print_how_to_open(const struct summary *sum, FILE *out)
{
	enum wire_format format = pipeline_format(sum->pipe);
	struct text_path file = text_path(strcmp(sum->trace, "-") == 0 ? "FILE" : sum->trace);

	if (format == WIRE_V0)
		fprintf(out, "\nNo release of Go opens this format, which is older than Go 1.5.\n");
	else if (format < WIRE_GO111)
		fprintf(out, "\nOpen it with Go %s to 1.22:  go tool trace %s%s\n", wire_format_name(format),
			format == WIRE_GO15 ? "BINARY " : "", file.bytes);
	else
		fprintf(out, "\nOpen it with Go %s or newer:  go tool trace %s\n", wire_format_name(format),
			file.bytes);
}

void summary_print(const struct summary *sum, FILE *out)
{
	print_headline(sum, out);
	print_target(sum, out);
	print_counts(sum, out);
	print_cost(sum, out);
	print_memory(sum, out);
	if (sum->cut)
		fprintf(out, "  cut         %s\n", sum->cut);
	print_functions(sum, out);
	print_how_to_open(sum, out);
}
