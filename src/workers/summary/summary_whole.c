/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The lines of the summary about the program as a whole. */
#include "workers/summary/summary.h"

#include <string.h>

enum { SHOWN_BLOCKED = 4, REASONS = 64 };

/* --- what blocked them --- */

/* Returns the index of the longest wait that is not taken, or -1. */
static int next_reason(const struct goroutine_stats *row, const bool *taken)
{
	int best = -1;

	for (int i = 0; i < STAT_REASONS; i++) {
		if (taken[i] || row->waiting[i].ns == 0)
			continue;
		if (best < 0 || row->waiting[i].ns > row->waiting[best].ns)
			best = i;
	}
	return best;
}

struct text summary_reason(const struct summary *sum, uint32_t reason, unsigned width)
{
	size_t len;
	const char *name = strtab_get(model_tables(pipeline_model(sum->pipe))->strings, reason, &len);
	static const char unseen[] = "(reason not seen)";

	if (len == strlen("unspecified") && memcmp(name, "unspecified", len) == 0)
		return text_name(unseen, strlen(unseen), width);
	return text_name(name, len, width);
}

void summary_list_reasons(const struct summary *sum, const struct goroutine_stats *row, unsigned most,
			  struct text *cell)
{
	bool taken[STAT_REASONS] = {false};
	size_t at = 0;

	for (unsigned shown = 0; shown < most && at < sizeof(cell->bytes); shown++) {
		int i = next_reason(row, taken);

		if (i < 0)
			break;
		taken[i] = true;
		at += (size_t)snprintf(cell->bytes + at, sizeof(cell->bytes) - at, "%s%s %s",
				       shown ? ", " : "",
				       summary_reason(sum, row->waiting[i].reason, 32).bytes,
				       text_time(row->waiting[i].ns).bytes);
	}
}

struct reason_sum {
	uint32_t reason;
	uint64_t ns;
};

static void add_reason(struct reason_sum *sums, uint32_t reason, uint64_t ns)
{
	for (unsigned i = 0; i < REASONS; i++) {
		if (sums[i].reason && sums[i].reason != reason)
			continue;
		sums[i].reason = reason;
		sums[i].ns += ns;
		return;
	}
}

static struct reason_sum *greatest(struct reason_sum *sums)
{
	struct reason_sum *best = &sums[0];

	for (unsigned i = 1; i < REASONS; i++)
		best = sums[i].ns > best->ns ? &sums[i] : best;
	return best;
}

/* Prints shares of all blocked time: "chan receive 61.0 %, select 20.0 %". */
static void print_blocked(const struct summary *sum, FILE *out)
{
	size_t n;
	const struct goroutine_stats *rows =
		model_goroutine_stats(pipeline_model(sum->pipe), sum->style.sort, &n);
	struct reason_sum sums[REASONS] = {{0}};
	uint64_t all = 0;
	unsigned used = 0;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].system)
			continue;
		all += rows[i].waiting_ns;
		for (unsigned k = 0; k < STAT_REASONS && rows[i].waiting[k].ns; k++)
			add_reason(sums, rows[i].waiting[k].reason, rows[i].waiting[k].ns);
	}
	for (unsigned shown = 0; all && shown < SHOWN_BLOCKED; shown++) {
		struct reason_sum *next = greatest(sums);
		struct text name = summary_reason(sum, next->reason, 28);
		struct text part = text_percent((double)next->ns / (double)all);
		unsigned width = (unsigned)(strlen(name.bytes) + strlen(part.bytes)) + 3;

		if (!next->ns || (shown && used + width > summary_width(sum) - 16))
			break;
		fprintf(out, "%s%s %s", shown ? ", " : "  blocked by  ", name.bytes, part.bytes);
		used += width;
		next->ns = 0;
	}
	if (used)
		fputc('\n', out);
}

/* --- Ps, scheduling, GC --- */

static struct text summary_share(uint64_t part, uint64_t all)
{
	return text_percent(all ? (double)part / (double)all : 0);
}

/* Running time of the garbage collector's mark workers. */
uint64_t summary_gc_workers(const struct summary *sum)
{
	static const char worker[] = "runtime.gcBgMarkWorker";
	size_t n, len;
	const struct goroutine_stats *rows =
		model_goroutine_stats(pipeline_model(sum->pipe), sum->style.sort, &n);

	for (size_t i = 0; i < n; i++) {
		const char *name = pipeline_function_name(sum->pipe, &rows[i], &len);

		if (len == strlen(worker) && memcmp(name, worker, len) == 0)
			return rows[i].running_ns;
	}
	return 0;
}

/* Running time of all goroutines but the mark workers. */
uint64_t summary_code(const struct summary *sum)
{
	size_t n;
	const struct goroutine_stats *rows =
		model_goroutine_stats(pipeline_model(sum->pipe), sum->style.sort, &n);
	uint64_t ns = 0;

	for (size_t i = 0; i < n; i++)
		ns += rows[i].running_ns;
	return ns - summary_gc_workers(sum);
}

static void print_ps(const struct summary *sum, const struct program_stats *program, FILE *out)
{
	uint64_t all = program->procs_ns, code = summary_code(sum), gc = summary_gc_workers(sum);

	if (program->gomaxprocs && all)
		fprintf(out, "  GOMAXPROCS  %u; Ps %s busy (code %s, GC %s, system calls %s)\n",
			program->gomaxprocs, summary_share(code + gc + program->p_syscall_ns, all).bytes,
			summary_share(code, all).bytes, summary_share(gc, all).bytes,
			summary_share(program->p_syscall_ns, all).bytes);
}

static void summary_print_latency(const struct program_stats *program, FILE *out)
{
	if (program->latency_count)
		fprintf(out, "  scheduling  waited for a %s: p50 %s, p99 %s, max %s\n",
			program->gomaxprocs ? "P" : "CPU", text_time(program->latency_p50_ns).bytes,
			text_time(program->latency_p99_ns).bytes, text_time(program->latency_max_ns).bytes);
}

static void summary_print_gc(const struct summary *sum, const struct program_stats *program, FILE *out)
{
	const struct model_stats *stats = model_stats(pipeline_model(sum->pipe));
	uint64_t watched_ns = stats->end_ns - stats->start_ns - stats->unwatched_ns;

	if (program->gc_cycles)
		fprintf(out, "  GC          %s cycles, %s of the time; workers %s of Ps, assists %s\n",
			text_count(program->gc_cycles).bytes, summary_share(program->gc_ns, watched_ns).bytes,
			summary_share(summary_gc_workers(sum), program->procs_ns).bytes,
			text_time(program->assists_ns).bytes);
	if (program->stw_count)
		fprintf(out, "  pauses      the world was stopped %s times: %s in all, %s at most\n",
			text_count(program->stw_count).bytes, text_time(program->stw_ns).bytes,
			text_time(program->stw_max_ns).bytes);
}

static void print_lives(const struct summary *sum, const struct program_stats *program, FILE *out)
{
	fprintf(out, "  %s %s at the start, %s at most, %s at the end; %s in all\n",
		summary_is_threads(sum) ? "threads    " : "goroutines ",
		text_count(program->goroutines_at_start).bytes, text_count(program->goroutines_peak).bytes,
		text_count(program->goroutines_at_end).bytes, text_count(program->goroutines).bytes);
}

void summary_print_whole(const struct summary *sum, FILE *out)
{
	struct program_stats program = *model_program_stats(pipeline_model(sum->pipe));

	if (summary_is_threads(sum))
		program.gomaxprocs = 0; /* not a property of the program */
	print_ps(sum, &program, out);
	summary_print_cpu(sum, out);
	print_lives(sum, &program, out);
	summary_print_latency(&program, out);
	if (!summary_is_threads(sum))
		summary_print_gc(sum, &program, out);
	print_blocked(sum, out);
}
