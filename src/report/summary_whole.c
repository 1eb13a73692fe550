/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The lines of the summary about the program as a whole. */
#include "report/summary.h"

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

static struct text share(uint64_t part, uint64_t all)
{
	return text_percent(all ? (double)part / (double)all : 0);
}

static uint64_t watched_p_time(const struct whole_stats *whole)
{
	return whole->p_running_ns + whole->p_syscall_ns + whole->p_idle_ns;
}

static void print_ps(const struct whole_stats *whole, FILE *out)
{
	uint64_t all = watched_p_time(whole);

	if (!whole->gomaxprocs || !all)
		return;
	fprintf(out, "  GOMAXPROCS  %u; Ps were running %s of the time, in system calls %s\n",
		whole->gomaxprocs, share(whole->p_running_ns, all).bytes,
		share(whole->p_syscall_ns, all).bytes);
}

static void print_latency(const struct whole_stats *whole, FILE *out)
{
	if (whole->latency_count)
		fprintf(out, "  scheduling  waited for a %s: p50 %s, p99 %s, max %s\n",
			whole->gomaxprocs ? "P" : "CPU", text_time(whole->latency_p50_ns).bytes,
			text_time(whole->latency_p99_ns).bytes, text_time(whole->latency_max_ns).bytes);
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

static void print_gc(const struct summary *sum, const struct whole_stats *whole, FILE *out)
{
	const struct model_stats *stats = model_stats(pipeline_model(sum->pipe));
	uint64_t watched_ns = stats->end_ns - stats->start_ns - stats->unwatched_ns;

	if (whole->gc_cycles)
		fprintf(out, "  GC          %s cycles, %s of the time; workers %s of Ps, assists %s\n",
			text_count(whole->gc_cycles).bytes, share(whole->gc_ns, watched_ns).bytes,
			share(summary_gc_workers(sum), watched_p_time(whole)).bytes,
			text_time(whole->assists_ns).bytes);
	if (whole->stw_count)
		fprintf(out, "  pauses      the world was stopped %s times: %s in all, %s at most\n",
			text_count(whole->stw_count).bytes, text_time(whole->stw_ns).bytes,
			text_time(whole->stw_max_ns).bytes);
}

static void print_lives(const struct summary *sum, const struct whole_stats *whole, FILE *out)
{
	const struct model_stats *stats = model_stats(pipeline_model(sum->pipe));

	fprintf(out, "  %s %s at the start, %s at most, %s at the end; %s in all\n",
		summary_is_threads(sum) ? "threads    " : "goroutines ",
		text_count(whole->goroutines_at_start).bytes, text_count(whole->goroutines_peak).bytes,
		text_count(whole->goroutines_at_end).bytes, text_count(stats->goroutines).bytes);
}

void summary_print_whole(const struct summary *sum, FILE *out)
{
	struct whole_stats whole = *model_whole_stats(pipeline_model(sum->pipe));

	if (summary_is_threads(sum))
		whole.gomaxprocs = 0; /* not a property of the program */
	print_ps(&whole, out);
	summary_print_cpu(sum, out);
	print_lives(sum, &whole, out);
	print_latency(&whole, out);
	if (!summary_is_threads(sum))
		print_gc(sum, &whole, out);
	print_blocked(sum, out);
}
