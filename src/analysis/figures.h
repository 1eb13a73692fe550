/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Figures of the whole trace, and labels, for the rules and the tables. */
#ifndef GOTRACE_ANALYSIS_FIGURES_H
#define GOTRACE_ANALYSIS_FIGURES_H

#include "analysis/state.h"

uint64_t watched_ns(const struct analysis *a);
double p_time(const struct analysis *a);              /* ns: integral of GOMAXPROCS over time */
bool is_of_threads(const struct analysis *a);         /* the trace is not of goroutines */
uint64_t activities_ns(const uint64_t ns[ACT_COUNT]); /* the sum of all activities */
uint64_t activities_watched_ns(const uint64_t ns[ACT_COUNT]);
double assist_share(const struct analysis *a); /* of the running time, 0 to 1 */
double busy_ns(const struct analysis *a); /* time of Ps or CPUs with code, the collector, or system calls */
/* Goroutines that have a P, and seem to run, have no CPU for half of that time, by the kernel's count. */
bool runs_without_cpu(const struct analysis *a);
double utilisation(const struct analysis *a);      /* of the Ps, 0 to 1 */
double gc_live_share(const struct gc_figures *gc); /* of the heap's goal, in use after a cycle; 0: unknown */
/* Whether a memory limit sets the goal: GOGC is off, or hardly any of the goal is garbage; or GOGC is less
 * than 20. */
bool gc_may_be_limited(const struct gc_figures *gc);
double user_running_ns(const struct analysis *a);
double annotated_ns(const struct analysis *a, enum instance_kind kind); /* sum over all instances */
double share_of_tasks(const struct analysis *a, double lost_ns); /* of task time, else of P time; 0 to 1 */
const char *short_function(const char *func);                    /* without the package path */
bool place_has_line(const struct code_place *at);
struct label {
	char text[160];
};
/* The function's name without the package's path, and of C++ without arguments: "f(int) const" -> "f". */
struct label label_name(const struct analysis *a, uint32_t string);
struct label label_text(const char *func, bool of_threads);
/* "main.load (main.go:40)" */
struct label label_place(const struct analysis *a, const struct code_place *at);
/* "main.load (main.go:40) in sql.(*DB).Query": the program's own code, and the library function it is in */
struct label label_stack(const struct analysis *a, uint32_t stack);
/* A place in the program, and the library function (a string) that it calls; 0: none. */
struct label label_in(const struct analysis *a, const struct code_place *at, uint32_t called);
struct label label_near(const struct analysis *a, uint32_t stack);
struct label label_time(uint64_t ns);
/* "1.60 ms (p50)"; where some take far longer, the mean. */
struct label label_usual(const struct histogram *times);
struct label label_number(double number); /* "2.5", "1234": three digits, or as many as an integer has */
/* How much of the whole the largest part is, as a word before that part: "all", "mostly", "most often". */
const char *how_much(uint64_t part, uint64_t all);
struct label label_pid(const struct analysis *a); /* "4711"; "PID" if it is not known */
struct label label_lock(const struct lock *lock); /* "mutex 0xc000012340" */
struct label label_function(const struct analysis *a, uint32_t string);
/* Prints the lines of report_text() above the findings. */
void report_head(struct analysis *a, FILE *out);

#endif
