/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The CPUs of a Go program's threads (--os), as an annotator. */
#include <stdio.h>
#include <stdlib.h>

#include "annotate/annotations.h"
#include "annotate/cpu/off_cpu.h"
#include "trace/ops/own_logs.h"
#include "trace/ops/own_names.h"

static bool cpu_open(struct annotations *all)
{
	all->off_cpu = calloc(1, sizeof(*all->off_cpu));
	if (all->off_cpu) {
		all->off_cpu->view = all->view;
		all->off_cpu->region_ns = all->options.off_cpu_ns;
	}
	return all->off_cpu;
}

static void cpu_free(struct annotations *all)
{
	if (all->off_cpu)
		off_cpu_free(all->off_cpu);
	free(all->off_cpu);
}

static void cpu_observe(struct annotations *all, const struct probe_hit *hit)
{
	if (hit->rec->site == SITE_OFF_CPU)
		off_cpu_take(all->off_cpu, hit->rec);
	else
		off_cpu_take_move(all->off_cpu, hit->rec);
}

/* What is short of the limit records no threads without a CPU (capture/probe_set.c). */
static bool leaves_out(const struct log_note *note)
{
	unsigned missing;
	char text[64];

	snprintf(text, sizeof(text), "%.*s", note->len < sizeof(text) ? (int)note->len : 0,
		 (const char *)(note + 1));
	return left_out_log_parse(OWN_LOG_CATEGORY, text, &missing) && (missing & DETAIL_FRAMES);
}

static void cpu_learn(struct annotations *all, const struct log_record *record)
{
	const struct log_note *note = record->data;

	if (record->type == LOG_THREAD_TIMES)
		off_cpu_take_times(all->off_cpu, record->data);
	else if (record->type == LOG_QUOTA)
		off_cpu_take_quota(all->off_cpu, record);
	else if (note->flags & LOG_NOTE_RESUMED)
		all->off_cpu->watched_since = note->time;
	else if (leaves_out(note))
		all->off_cpu->left_out = true;
}

static void cpu_close(struct annotations *all)
{
	off_cpu_divide(all->off_cpu);
	off_cpu_log_cpus(all->off_cpu);
}

const struct annotator cpu_annotator = {
	.open = cpu_open,
	.free = cpu_free,
	.sites = {SITE_OFF_CPU, SITE_CPU},
	.observe = cpu_observe,
	.records = {LOG_THREAD_TIMES, LOG_QUOTA, LOG_NOTE},
	.learn = cpu_learn,
	.close = cpu_close,
};
