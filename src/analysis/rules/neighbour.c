/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Something else uses the CPUs: threads are ready, or seem to run, but have no CPU. It may run on another
 * virtual machine: the kernel then knows only how much time the hypervisor has stolen.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/cpu.h"
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

/* What a shorter wait takes is the time of a CPU to wake up, or to leave the thread before. */
#define LONG_WAIT_NS 500000

/* The quota of its cgroup took half of `off`, ns, or more. */
static bool is_throttled(const struct analysis *a, double off)
{
	return (double)a->options.host.throttled_ns >= off / 2;
}

/* For how long the CPUs that the program may use were idle, if they were as idle as the machine's; 0 = not
 * known. */
static double host_idle_ns(const struct analysis *a)
{
	const struct analysis_host *host = &a->options.host;

	return host->known
		       ? (1 - host->machine_busy - host->machine_stolen) * host->cpus * (double)watched_ns(a)
		       : 0;
}

/* What the hypervisor gave to others, of the CPUs that the program may use. */
static double stolen_ns(const struct analysis *a)
{
	const struct analysis_host *host = &a->options.host;

	return host->machine_stolen * host->cpus * (double)watched_ns(a);
}

static bool is_stolen(const struct analysis *a, double off)
{
	return stolen_ns(a) >= off / 2;
}

/* What the program did not use of the CPUs that it may use, ns: others can have used no more. */
static double unused_ns(const struct analysis *a, double used)
{
	const struct analysis_host *host = &a->options.host;

	return host->known ? fmax(host->cpus * (double)watched_ns(a) - used, 0) : INFINITY;
}

/* "bash (PID 4711, 1.20 s)" or "3 of bash (1.20 s in all)": the first of those that used CPUs, and the others
 * of its name that the trace has. They may use more than is missing here. A server of several processes is
 * its own neighbour. */
static struct label name_beside(const struct analysis *a, unsigned first)
{
	const char *name = a->beside[first].name;
	bool same = strncmp(name, a->executable, sizeof(a->executable) - 1) == 0;
	struct label label;
	uint64_t ns = 0;
	unsigned n = 0;

	for (unsigned i = first; i < a->nbeside; i++) {
		if (strcmp(a->beside[i].name, name))
			continue;
		n++;
		ns += a->beside[i].used_ns;
	}
	if (same)
		snprintf(label.text, sizeof(label.text), "%u other process%s named %s (%.10s in all)", n,
			 n == 1 ? "" : "es", name, label_time(ns).text);
	else if (n > 1)
		snprintf(label.text, sizeof(label.text), "%u of %s (%.10s in all)", n, name,
			 label_time(ns).text);
	else
		snprintf(label.text, sizeof(label.text), "%s (PID %u, %.10s)", name, a->beside[first].pid,
			 label_time(ns).text);
	return label;
}

/* What those used that the trace names, ns. */
static double named_ns(const struct analysis *a)
{
	double named = 0;

	for (unsigned i = 0; i < a->nbeside; i++)
		named += (double)a->beside[i].used_ns;
	return named;
}

/* What all others used, ns. */
static double beside_ns(const struct analysis *a)
{
	const struct analysis_host *host = &a->options.host;

	return host->machine_busy * host->cpus * (double)watched_ns(a) - (double)host->cpu_ns;
}

/*
 * What other processes used of CPUs, ns. The four greatest are counted on their own, because the program may
 * have only some of the machine's CPUs. What the others used in all says nothing where CPUs were idle for
 * half of the time: there was one for each of them.
 */
static double others_ns(const struct analysis *a)
{
	const struct analysis_host *host = &a->options.host;
	double others = beside_ns(a), named = named_ns(a);

	return others > named && host->machine_busy + host->machine_stolen >= 0.5 ? others : named;
}

/* Names one that used the CPUs, if the trace has it; those that have ended are not known: "other processes
 * used them, among them bash (PID 4711, 1.20 s)". */
static const char *reason(const struct analysis *a, const char *them, double off, char text[200])
{
	bool own = a->nbeside && strcmp(a->beside[0].name, ENDED_CHILDREN) == 0;

	if (is_throttled(a, off))
		return "its CPU quota ran out";
	if (is_stolen(a, off) && stolen_ns(a) >= others_ns(a))
		snprintf(text, 200, "the hypervisor gave %s to other machines (steal)", them);
	else if (!a->nbeside && a->options.host.known)
		snprintf(text, 200, "other processes used %s", them);
	else if (a->options.host.known && named_ns(a) < 0.2 * beside_ns(a))
		snprintf(text, 200, "other processes used %s, many small ones or ones that have ended", them);
	else if (own && a->nbeside == 1)
		snprintf(text, 200, "its own children, which have ended, used %s (%.10s in all)", them,
			 label_time(a->beside[0].used_ns).text);
	else if (own)
		snprintf(text, 200,
			 "its own children (%.10s in all) and other processes used %s, among them %.100s",
			 label_time(a->beside[0].used_ns).text, them, name_beside(a, 1).text);
	else if (!a->nbeside)
		snprintf(text, 200, "other processes used %s, or a CPU quota ran out", them);
	else
		snprintf(text, 200, "other processes used %s, among them %.100s", them,
			 name_beside(a, 0).text);
	return text;
}

static void name_others(const struct analysis *a, struct finding *finding)
{
	char text[200] = "";

	for (unsigned i = 0; i < a->nbeside; i++) {
		const struct beside_log *one = &a->beside[i];
		size_t n = strlen(text);

		/* The children that have ended have the program's PID. */
		if (strcmp(one->name, ENDED_CHILDREN) == 0)
			snprintf(text + n, sizeof(text) - n, "%sits ended children %.10s", i ? ", " : "",
				 label_time(one->used_ns).text);
		else
			snprintf(text + n, sizeof(text) - n, "%s%s (PID %u) %.10s", i ? ", " : "", one->name,
				 one->pid, label_time(one->used_ns).text);
	}
	if (a->nbeside)
		finding_evidence(finding, "%s", text);
}

/*
 * Whether others used CPUs long enough to take half of `off`, ns. Where the program's CPUs are idle for most
 * of the time, its threads took the CPU from each other, or a CPU woke up.
 */
static bool others_took(const struct analysis *a, double off)
{
	const struct analysis_host *host = &a->options.host;
	double others = others_ns(a), all = host->cpus * (double)watched_ns(a);

	return !host->known || is_throttled(a, off) || is_stolen(a, off) ||
	       (others >= off / 2 && others + (double)host->cpu_ns >= 0.3 * all);
}

/*
 * The waits for a CPU are long, and not only many: each wake-up takes some time. One wait in a thousand can
 * be as long as all the others; then the machine must be known to be busy.
 */
static bool waits_are_long(const struct analysis *a, double used)
{
	return histogram_quantile(&a->latency, 0.99) >= LONG_WAIT_NS ||
	       (a->options.host.known &&
		(double)histogram_sum_from(&a->latency, LONG_WAIT_NS) >= 0.25 * used);
}

/* What the program used by the kernel's count, without what was stolen from it; else by the threads' states.
 */
static double used_cpus_ns(const struct analysis *a)
{
	return a->options.host.cpu_ns ? (double)a->options.host.cpu_ns : busy_ns(a);
}

static void name_machine(const struct analysis *a, struct finding *finding)
{
	const struct analysis_host *host = &a->options.host;

	if (host->machine_stolen >= 0.01)
		finding_evidence(finding,
				 "the machine's CPUs were %.0f %% busy, and %.0f %% of their time was stolen",
				 100 * host->machine_busy, 100 * host->machine_stolen);
	else if (host->known)
		finding_evidence(finding, "the machine's CPUs were %.0f %% busy", 100 * host->machine_busy);
	name_others(a, finding);
}

/* In an idle program it is not worth a word. */
static bool is_little(const struct analysis *a, double off)
{
	return off < 0.005 * p_time(a);
}

/*
 * In how much of the time threads were ready, with a CPU that the program did not use, ns. That may be one
 * that it must not use.
 */
static double ready_ns(const struct analysis *a)
{
	return fmin((double)a->queued_idle_ns, unused_ns(a, used_cpus_ns(a)));
}

/* Of that, what is due to long waits: short ones are not due to other processes. */
static double long_ready_ns(const struct analysis *a)
{
	return fmin((double)histogram_sum_from(&a->latency, LONG_WAIT_NS), ready_ns(a));
}

/* Threads that wait for each other, because the program uses all CPUs, do not count. */
static void of_ready_threads(struct analysis *a)
{
	double off = long_ready_ns(a), used = used_cpus_ns(a), all = ready_ns(a);
	struct finding *finding;
	char text[200];
	bool few; /* short waits: the sentence is about all of them */

	if (off <= 0 || is_little(a, off) || off < 0.1 * used || !waits_are_long(a, used) ||
	    !others_took(a, off))
		return;
	few = off >= 0.8 * all;
	finding = finding_add(a, "neighbour", off / p_time(a));
	/* An idle program is late for nothing. And where CPUs were idle for longer, a thread that was ready
	 * for one had only just been woken, or waited to be moved there. */
	if (used < 0.005 * p_time(a) ||
	    (host_idle_ns(a) > 2 * off && !is_throttled(a, off) && stolen_ns(a) < off))
		finding_at_most(finding, LEVEL_INFO);
	finding_text(finding,
		     "For %s%s a thread was ready to run while the program left a CPU unused: %s. The "
		     "program used "
		     "CPUs for %s.",
		     label_time((uint64_t)(few ? all : off)).text, few ? "" : ", in waits of 0.5 ms or more,",
		     reason(a, "it", off, text), label_time((uint64_t)used).text);
	finding->total_ns = (uint64_t)(few ? all : off);
	/* Nobody can act on a few ms a second, which each virtual machine loses. */
	if (is_stolen(a, off) && !is_throttled(a, off) && off < 0.05 * (double)watched_ns(a))
		finding_at_most(finding, LEVEL_INFO);
	name_machine(a, finding);
	finding_next(finding, "top");
}

/* Uses the process's CPU time, which is exact, but includes the runtime's own threads. off: what others took.
 */
static void by_clock(struct analysis *a, double on, double off)
{
	struct finding *finding = finding_add(a, "neighbour", off / p_time(a));
	char text[200];

	finding_text(finding,
		     is_of_threads(a) ? "Threads had CPUs for %s, and used them for %s of it: %s."
				      : "Goroutines had a P for %s, and a CPU for %s of it: %s.",
		     label_time((uint64_t)on).text, label_time((uint64_t)used_cpus_ns(a)).text,
		     reason(a, "the rest", off, text));
	finding->total_ns = (uint64_t)off;
	name_machine(a, finding);
	finding_next(finding, "top");
}

static bool is_much(const struct analysis *a, double on, double off)
{
	return on > 0 && off >= 0.2 * on && off >= 0.05 * p_time(a);
}

/* The kernel shows a thread on its CPU while the hypervisor has taken that away. */
static void neighbour_of_threads(struct analysis *a)
{
	double on = busy_ns(a), off = on - used_cpus_ns(a);

	if (off > ready_ns(a) && is_much(a, on, off) && is_stolen(a, off))
		by_clock(a, on, off);
	else
		of_ready_threads(a);
}

/*
 * What goroutines can be seen to have lost, ns: those that ran, and had no CPU (regions, or the CPU time that
 * is missing), and those that were ready with a P that nobody used. The threads that wait for the network,
 * look for work or watch over others lose time, too, but hardly any of it is a goroutine's.
 */
static double goroutines_lost_ns(const struct analysis *a)
{
	double on_ps = (double)(a->used_ns[P_CODE] + a->used_ns[P_GC]);
	double missing = on_ps - (double)a->options.host.cpu_ns - (double)a->slept_ns;

	return fmax((double)a->preempted_ns, missing) + (double)a->queued_idle_ns;
}

/*
 * Goroutines wait for a CPU in all their states: the thread that makes a system call for one, polls the
 * network or looks for work has no CPU, either. Several threads may wait for the same CPU, and for each
 * other.
 */
static bool of_go_threads(struct analysis *a)
{
	const struct analysis_host *host = &a->options.host;
	double waited = (double)host->waited_ns, used = (double)host->cpu_ns, off = others_ns(a);
	double idle = host_idle_ns(a);
	struct finding *finding;
	struct label used_by_others = label_time((uint64_t)off);
	char text[200], them[sizeof(used_by_others.text) + 16];

	if (off > waited)
		off = waited;
	/* Each wake-up takes some time, also on an idle CPU. */
	if (off < 0.2 * used || off < 0.05 * p_time(a) || idle * 2 > waited || !others_took(a, waited))
		return false;
	snprintf(them, sizeof(them), "CPUs for %s", used_by_others.text);
	finding = finding_add(a, "neighbour", fmin(off, goroutines_lost_ns(a)) / p_time(a));
	finding_text(finding,
		     "Threads of the program had CPUs for %s, and were ready without one for %s: %s.",
		     label_time((uint64_t)used).text, label_time((uint64_t)waited).text,
		     reason(a, them, waited, text));
	finding->total_ns = (uint64_t)off;
	if (a->preempted_ns)
		finding_evidence(
			finding,
			"goroutines lost the CPU for %s while they ran; one was ready, and a P idle, "
			"for %s; latency p99 %s",
			label_time(a->preempted_ns).text, label_time(a->queued_idle_ns).text,
			label_time(histogram_quantile(&a->latency, 0.99)).text);
	name_machine(a, finding);
	finding_next(finding, "top");
	return true;
}

/* Go's profiler may have been on for a part of the trace. */
static bool samples_cover(const struct analysis *a)
{
	uint64_t part = (a->end - a->begin) / 5;

	return a->first_sample <= a->begin + part && a->last_sample + part >= a->end;
}

void rule_neighbour(struct analysis *a)
{
	double on_ps = (double)(a->used_ns[P_CODE] + a->used_ns[P_GC]), want = on_ps / cpu_sample_ns(a);
	double got = (double)a->samples, off;
	struct finding *finding;

	if (is_of_threads(a)) {
		neighbour_of_threads(a);
		return;
	}
	if (of_go_threads(a))
		return;
	if (a->options.host.cpu_ns) {
		off = on_ps - (double)a->options.host.cpu_ns - (double)a->slept_ns;
		if (is_much(a, on_ps, off) && others_took(a, off))
			by_clock(a, on_ps, off);
		return;
	}
	if (!a->samples) {
		finding_not_applicable(a, "neighbour", "there are no CPU samples");
		return;
	}
	if (!samples_cover(a)) {
		finding_not_applicable(a, "neighbour", "there are CPU samples of a part of the trace only");
		return;
	}
	off = (1 - got / want) * on_ps;
	/* The rate of the samples need not be the usual one. Where a trace says when goroutines lost their
	 * CPU, that must agree. */
	if (want < 20 || got + 3 * sqrt(want) > 0.7 * want ||
	    (a->preempted_ns && off > 2 * (double)a->preempted_ns))
		return;
	finding = finding_add(a, "neighbour", off / p_time(a));
	finding_text(finding,
		     "Goroutines had a P for %s, and a CPU for %s of it: a quota, or other processes, took "
		     "the rest.",
		     label_time((uint64_t)on_ps).text, label_time((uint64_t)(got * cpu_sample_ns(a))).text);
	finding->total_ns = (uint64_t)off;
	finding_evidence(finding, "%llu CPU samples, %.0f expected", (unsigned long long)a->samples, want);
	finding_next(finding, "top");
}
