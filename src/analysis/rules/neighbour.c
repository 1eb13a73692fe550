/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Something else uses the CPUs: threads are ready, or seem to run, but have no CPU. */
#include <math.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

/* gotrace takes 99 samples per second of CPU time; Go's profiler takes about as many. */
#define SAMPLE_NS 10100000.0

static void of_threads(struct analysis *a)
{
	double waited = (double)a->total_spent[ACT_RUNNABLE], running = user_running_ns(a);
	struct finding *finding;

	if (running <= 0 || waited < 0.1 * running)
		return;
	/* If there are more threads than CPUs, they wait for each other. */
	finding = finding_add(a, "neighbour", utilisation(a) > 0.9 ? 0 : share_of_tasks(a, waited));
	finding_text(finding,
		     "Threads waited %s for a CPU, and ran for %s: other programs used the CPUs, or a CPU "
		     "quota ran out.",
		     label_time((uint64_t)waited).text, label_time((uint64_t)running).text);
	finding->total_ns = (uint64_t)waited;
	finding_evidence(finding, "CPUs %.0f %% used by this program; latency p99 %s, max %s",
			 100 * utilisation(a), label_time(histogram_quantile(&a->latency, 0.99)).text,
			 label_time(a->latency.max).text);
	finding_next(finding, "gotrace -p PID --as c");
}

/* Uses the process's CPU time, which is exact, but includes the runtime's own threads. */
static void by_clock(struct analysis *a, double on_ps)
{
	double got = (double)a->options.host.cpu_ns, off = on_ps - got;
	struct finding *finding;

	if (on_ps <= 0 || off < 0.2 * on_ps || off < 0.05 * p_time(a))
		return;
	finding = finding_add(a, "neighbour", off / p_time(a));
	finding_text(finding, "Goroutines had a P for %s, and a CPU for %s of it: %s.",
		     label_time((uint64_t)on_ps).text, label_time((uint64_t)got).text,
		     a->options.host.throttled ? "its CPU quota ran out" : "other programs used it");
	finding->total_ns = (uint64_t)off;
	finding_evidence(finding, "the machine's CPUs were %.0f %% busy", 100 * a->options.host.machine_busy);
	finding_next(finding, "gotrace -p PID --as c");
}

void rule_neighbour(struct analysis *a)
{
	double on_ps = (double)(a->used_ns[P_CODE] + a->used_ns[P_GC]), want = on_ps / SAMPLE_NS;
	double got = (double)a->samples, off;
	struct finding *finding;

	if (is_of_threads(a)) {
		of_threads(a);
		return;
	}
	if (a->options.host.cpu_ns) {
		by_clock(a, on_ps);
		return;
	}
	if (!a->samples) {
		finding_not_applicable(a, "neighbour", "there are no CPU samples");
		return;
	}
	if (want < 20 || got + 3 * sqrt(want) > 0.7 * want)
		return;
	off = (1 - got / want) * on_ps;
	finding = finding_add(a, "neighbour", off / p_time(a));
	finding_text(finding,
		     "Goroutines had a P for %s, and a CPU for %s of it: a quota, or other programs, took "
		     "the rest.",
		     label_time((uint64_t)on_ps).text, label_time((uint64_t)(got * SAMPLE_NS)).text);
	finding->total_ns = (uint64_t)off;
	finding_evidence(finding, "%llu CPU samples, %.0f expected", (unsigned long long)a->samples, want);
	finding_next(finding, "gotrace -p PID --as c");
}
