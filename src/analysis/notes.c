/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What gotrace's own logs say: of the machine, of what was left out, of gaps. */
#include "analysis/step.h"

#include <stdio.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/instances.h"
#include "analysis/tables.h"
#include "trace/ops/gap_log.h"
#include "trace/ops/own_logs.h"

/* What the trace itself says of the machine. */
static void host_log(struct analysis *a, const char *category, const char *text)
{
	struct otel_resource resource = {0};
	struct kernel_log kernel;
	struct beside_log beside;
	struct descendants_log descendants;
	struct stopped_log stopped;
	struct host_log host;

	if (strcmp(category, OWN_LOG_CATEGORY) != 0)
		return;
	if (host_log_parse(category, text, &host)) {
		a->host_log = host;
		a->nbeside = 0;
	}
	if (kernel_log_parse(category, text, &kernel))
		a->kernel_log = kernel;
	if (resource_log_take(category, text, &resource) && resource.values[RESOURCE_EXECUTABLE][0])
		snprintf(a->executable, sizeof(a->executable), "%.15s", resource.values[RESOURCE_EXECUTABLE]);
	if (a->nbeside < MAX_BESIDE && beside_log_parse(category, text, &beside))
		a->beside[a->nbeside++] = beside;
	if (descendants_log_parse(category, text, &descendants))
		a->descendants = descendants;
	if (stopped_log_parse(category, text, &stopped))
		a->stopped = stopped;
}

void note_step(struct analysis *a, const struct op *op, struct goroutine *g)
{
	size_t category_len, len;
	const char *category = tables_string(a->gen->tables, op->string, &category_len);
	const char *text = tables_string(a->gen->tables, op->string2, &len);
	enum gap_log kind = gap_log_kind(category, category_len, text, len);
	uint64_t repaired, lost;

	if (loss_log_parse(category, text, &lost) && lost <= UINT32_MAX)
		a->lost += lost;
	if (repair_log_parse(category, text, &repaired) && repaired <= UINT32_MAX)
		a->repaired += repaired;
	host_log(a, category, text);
	if (g)
		lock_log(a, g, category, text);
	if (kind != GAP_LOG_NONE)
		integrate(a, a->now);
	if (ledger_step(&a->ledger, op))
		a->oom = true;
	if (kind == GAP_LOG_BEGINS && a->ledger.gap_since == op->time)
		a->gap_by_limit = gap_log_is_by_limit(text, len);
}

static void take_limit(struct analysis_host *host, const struct host_log *log)
{
	host->known = true;
	host->cpus = log->cpus;
	host->quota_cpus = log->period_us ? (double)log->quota_us / (double)log->period_us : 0;
	host->quota_period = log->period_us * 1000;
	host->throttled = log->throttled;
	host->throttled_ns = log->throttled_ns;
	host->cpu_ns = log->used_ns;
}

static uint64_t part_of(uint64_t ns, double part)
{
	return (uint64_t)((double)ns * part);
}

void notes_take_host(struct analysis *a)
{
	const struct host_log *log = &a->host_log;
	struct analysis_host *host = &a->options.host;
	/* The file may be a piece, or have gaps. */
	double part = host_log_part(log, watched_ns(a));

	if (!log->cpus)
		return;
	if (!host->known)
		take_limit(host, log);
	host->machine_busy = log->busy_percent / 100.0;
	host->machine_stolen = log->stolen_percent / 100.0;
	host->waited_ns = part_of(log->waited_ns, part);
	host->throttled = part_of(host->throttled, part);
	host->throttled_ns = part_of(host->throttled_ns, part);
	host->cpu_ns = part_of(host->cpu_ns, part);
	for (unsigned i = 0; i < a->nbeside; i++)
		a->beside[i].used_ns = part_of(a->beside[i].used_ns, part);
	a->descendants.used_ns = part_of(a->descendants.used_ns, part);
	a->stopped.ns = part_of(a->stopped.ns, part);
}
