/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Whether running goroutines had a CPU. */
#include <string.h>

#include "workers/summary/summary.h"
#include "util/json.h"

/* Time off CPU is reported if it is at least 1/MIN_SHARE of the running time. */
enum { MIN_SHARE = 100, SHOWN_TAKERS = 3 };

static const char *const why_names[OFF_CPU_REASONS] = {
	[OFF_CPU_PREEMPTED] = "preempted",    [OFF_CPU_THROTTLED] = "throttled",
	[OFF_CPU_PAGE_FAULT] = "page faults", [OFF_CPU_ASLEEP] = "asleep in the kernel",
	[OFF_CPU_STOPPED] = "stopped",        [OFF_CPU_INTERRUPTS] = "interrupts",
};

static const char *const json_names[OFF_CPU_REASONS] = {
	[OFF_CPU_PREEMPTED] = "preempted_ns",   [OFF_CPU_THROTTLED] = "throttled_ns",
	[OFF_CPU_PAGE_FAULT] = "page_fault_ns", [OFF_CPU_ASLEEP] = "asleep_ns",
	[OFF_CPU_STOPPED] = "stopped_ns",       [OFF_CPU_INTERRUPTS] = "interrupts_ns",
};

static uint64_t off_cpu_sum(const uint64_t off_ns[OFF_CPU_REASONS])
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < OFF_CPU_REASONS; i++)
		sum += off_ns[i];
	return sum;
}

struct cpu_figures summary_cpu(const struct summary *sum)
{
	struct model *model = pipeline_model(sum->pipe);
	struct cpu_figures figures;
	const struct goroutine_stats *rows;
	size_t n;

	annotate_cpu_figures(model, &figures);
	rows = model_goroutine_stats(model, sum->style.sort, &n);
	for (size_t i = 0; i < n; i++)
		figures.running_ns += rows[i].running_ns;
	return figures;
}

bool summary_short_of_cpu(const struct summary *sum)
{
	const struct cpu_figures figures = summary_cpu(sum);
	uint64_t off = off_cpu_sum(figures.off_ns);

	return figures.known && off && off >= figures.running_ns / MIN_SHARE;
}

/* "cgroup cpu.max 30000 100000" */
static void print_quota(const struct cpu_figures *figures, FILE *out)
{
	const struct log_quota *quota = &figures->quota;

	if (figures->has_quota)
		fprintf(out,
			quota->version == 1 ? " (cgroup cpu.cfs_quota_us %llu of %llu)"
					    : " (cgroup cpu.max %llu %llu)",
			(unsigned long long)quota->quota_us, (unsigned long long)quota->period_us);
}

static struct text summary_name_of_string(const struct summary *sum, uint32_t string)
{
	size_t len;
	const char *name = strtab_get(model_tables(pipeline_model(sum->pipe))->strings, string, &len);

	return text_name(name, len, 32);
}

/* " by stress, kworker/0:1": as many as fit the line, of which `used` columns are. */
static void print_takers(const struct summary *sum, const struct cpu_figures *figures, unsigned used,
			 FILE *out)
{
	const char *between = " by ";

	for (unsigned i = 0; i < figures->ntakers && i < SHOWN_TAKERS; i++) {
		const struct cpu_taker *taker = &figures->takers[i];
		struct text name = summary_name_of_string(sum, taker->name);

		unsigned wider = used + (unsigned)(strlen(between) + strlen(name.bytes));

		if (!taker->name || taker->ns < figures->off_ns[OFF_CPU_PREEMPTED] / 10 ||
		    wider >= summary_width(sum))
			continue;
		used = wider;
		fprintf(out, "%s%s", between, name.bytes);
		between = ", ";
	}
}

static void print_reason(const struct summary *sum, const struct cpu_figures *figures, unsigned why,
			 FILE *out)
{
	int used = fprintf(out, "              %s %s", why_names[why], text_time(figures->off_ns[why]).bytes);

	if (why == OFF_CPU_THROTTLED)
		print_quota(figures, out);
	if (why == OFF_CPU_PREEMPTED)
		print_takers(sum, figures, (unsigned)used, out);
}

/* Prints the longest first, one per line because names may be long. */
static void summary_print_reasons(const struct summary *sum, struct cpu_figures figures, uint64_t least,
				  FILE *out)
{
	for (;;) {
		unsigned best = 0;

		for (unsigned i = 1; i < OFF_CPU_REASONS; i++)
			best = figures.off_ns[i] > figures.off_ns[best] ? i : best;
		if (!figures.off_ns[best] || figures.off_ns[best] < least)
			return;
		print_reason(sum, &figures, best, out);
		fputc('\n', out);
		figures.off_ns[best] = 0;
	}
}

/*
 * How long running goroutines had a CPU, ns: no longer than the threads had one by the kernel's count, as
 * short times without one are not recorded. Threads that have come and gone are not in that count.
 */
static uint64_t on_cpu_ns(const struct cpu_figures *figures)
{
	uint64_t off = off_cpu_sum(figures->off_ns);
	uint64_t on = figures->running_ns > off ? figures->running_ns - off : 0;

	return figures->on_cpu_ns < on && figures->on_cpu_ns * 2 > on ? figures->on_cpu_ns : on;
}

void summary_print_cpu(const struct summary *sum, FILE *out)
{
	const struct cpu_figures figures = summary_cpu(sum);
	uint64_t running = figures.running_ns, on = on_cpu_ns(&figures);
	const char *most = figures.left_out ? "at most " : "";

	if (!figures.known || !running)
		return;
	/* What the limit on overhead has left out may be most of what they lost. */
	if (!summary_short_of_cpu(sum)) {
		if (!figures.left_out)
			fprintf(out, "  CPU         running goroutines had a CPU for %s of the time\n",
				text_percent((double)on / (double)running).bytes);
		return;
	}
	fprintf(out, "  CPU         goroutines 'running' for %s had a CPU for %s%s of it:\n",
		text_time(running).bytes, most, text_time(on).bytes);
	summary_print_reasons(sum, figures, running / MIN_SHARE / 2, out);
}

/* --- JSON --- */

static void put_off(struct json *json, const uint64_t off_ns[OFF_CPU_REASONS])
{
	for (unsigned i = 0; i < OFF_CPU_REASONS; i++)
		json_number(json, json_names[i], off_ns[i]);
}

static void put_takers(struct json *json, const struct summary *sum, const struct cpu_figures *figures)
{
	json_open(json, "preempted_by", '{');
	for (unsigned i = 0; i < figures->ntakers; i++)
		json_number(json, summary_name_of_string(sum, figures->takers[i].name).bytes,
			    figures->takers[i].ns);
	json_close(json, '}');
}

static void put_quota(struct json *json, const struct cpu_figures *figures)
{
	if (!figures->has_quota)
		return;
	json_open(json, "quota", '{');
	json_text(json, "cgroup", figures->cgroup);
	json_number(json, "version", figures->quota.version);
	json_number(json, "quota_us", figures->quota.quota_us);
	json_number(json, "period_us", figures->quota.period_us);
	json_number(json, "periods", figures->periods);
	json_number(json, "throttled_periods", figures->throttled_periods);
	json_number(json, "throttled_ns", figures->throttled_ns);
	json_close(json, '}');
}

static void summary_put_threads(struct json *json, const struct cpu_figures *figures)
{
	json_open(json, "threads", '[');
	for (unsigned i = 0; i < figures->nthreads; i++) {
		const struct thread_cpu *thread = &figures->threads[i];

		json_open(json, NULL, '{');
		json_number(json, "tid", thread->tid);
		if (thread->has_times) {
			json_number(json, "on_cpu_ns", thread->on_cpu_ns);
			json_number(json, "wait_ns", thread->wait_ns);
		}
		put_off(json, thread->off_ns);
		json_close(json, '}');
	}
	json_close(json, ']');
}

void summary_put_cpu(const struct summary *sum, struct json *json)
{
	const struct cpu_figures figures = summary_cpu(sum);

	if (!figures.known)
		return;
	json_open(json, "cpu", '{');
	json_number(json, "running_ns", figures.running_ns);
	json_number(json, "off_cpu_ns", off_cpu_sum(figures.off_ns));
	put_off(json, figures.off_ns);
	put_takers(json, sum, &figures);
	json_number(json, "threads_on_cpu_ns", figures.on_cpu_ns);
	json_number(json, "threads_wait_ns", figures.wait_ns);
	put_quota(json, &figures);
	summary_put_threads(json, &figures);
	json_close(json, '}');
}
