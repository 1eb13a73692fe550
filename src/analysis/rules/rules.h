/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The rules. Each looks at the figures of the whole trace and adds the findings that they support. A new rule
 * needs a file here, a line in this header and in findings.c, a test, and a row in docs/analysis.md.
 */
#ifndef GOTRACE_ANALYSIS_RULES_RULES_H
#define GOTRACE_ANALYSIS_RULES_RULES_H

#include "analysis/figures.h"
#include "analysis/state.h"

struct rule {
	const char *id;
	void (*apply)(struct analysis *a);
	unsigned needs; /* enum detail, as bits: does not apply where these were left out */
	bool of_go;     /* about the runtime of Go: not for threads */
};

void rule_trust(struct analysis *a);
void rule_stopped(struct analysis *a);
void rule_throttled(struct analysis *a);
/*
 * The share of the time in which threads of the program had a CPU or would have, but were throttled, 0 to 1.
 * Both times are sums over CPUs; the cgroup's other programs count, too, so it is at most what that is of the
 * trace.
 */
double throttled_share(const struct analysis *a);
void rule_procs_high(struct analysis *a);
void rule_procs_low(struct analysis *a);
void rule_affinity(struct analysis *a);
void rule_neighbour(struct analysis *a);
void rule_kernel_sleep(struct analysis *a);
void rule_idle_p(struct analysis *a);
void rule_assist(struct analysis *a);
/* Returns a stack at the place of most assists, which allocates most, and their share, 0 to 1; 0 = none. */
uint32_t assist_place(const struct analysis *a, double *share);
void rule_gc_often(struct analysis *a);
void rule_gc_limit(struct analysis *a);
void rule_stw_stop(struct analysis *a);
void rule_stw_often(struct analysis *a);
void rule_hog(struct analysis *a);
void rule_spin(struct analysis *a);
void rule_lock_io(struct analysis *a);
void rule_lock_long(struct analysis *a);
void rule_lock_convoy(struct analysis *a);
void rule_lock_timeout(struct analysis *a);
void rule_lock_syscall(struct analysis *a);
void rule_rw_writer(struct analysis *a);
void rule_mmap_lock(struct analysis *a);
void rule_gil(struct analysis *a);
void rule_leak(struct analysis *a);
void rule_burst(struct analysis *a);
void rule_slow_consumer(struct analysis *a);
void rule_pool_small(struct analysis *a);
void rule_outlier(struct analysis *a);
void rule_netpoll(struct analysis *a);
void rule_timer_late(struct analysis *a);
void rule_timer_storm(struct analysis *a);
void rule_retake(struct analysis *a);
void rule_herd(struct analysis *a);
void rule_straggler(struct analysis *a);
void rule_single_flight(struct analysis *a);
void rule_locked_thread(struct analysis *a);
void rule_dns(struct analysis *a);
void rule_cpu_place(struct analysis *a);
void rule_task_place(struct analysis *a);
void rule_slow_host(struct analysis *a);
void rule_busy_owner(struct analysis *a);
void rule_yield_spin(struct analysis *a);
void rule_leak_awake(struct analysis *a);
void rule_conn_churn(struct analysis *a);
void rule_thread_churn(struct analysis *a);
void rule_long_runs(struct analysis *a);
void rule_request_place(struct analysis *a);
void rule_limit_place(struct analysis *a);
void rule_call_place(struct analysis *a);
void rule_timer_bound(struct analysis *a);
void rule_hand_off(struct analysis *a);
void rule_stuck(struct analysis *a);
void rule_hung(struct analysis *a);
void rule_finalizer(struct analysis *a);
void rule_delayed_ack(struct analysis *a);
void rule_serial_loop(struct analysis *a);
void rule_long_turn(struct analysis *a);
void rule_poll_spin(struct analysis *a);
void rule_vm_gc(struct analysis *a);
void rule_database_lock(struct analysis *a);
void rule_executor(struct analysis *a);
/*
 * What a task of Tokio calls is above the scheduler, with Context::run_task or CurrentThread::block_on below;
 * a closure of spawn_blocking or block_in_place, whose threads have the same name, is not (tokio 1.54
 * src/runtime/scheduler/multi_thread/worker.rs, current_thread/mod.rs, blocking/task.rs).
 */
bool stack_is_in_task(const struct analysis *a, uint32_t stack);
void rule_descendants(struct analysis *a);
void rule_few_threads(struct analysis *a);
void rule_stampede(struct analysis *a);
void rule_page_faults(struct analysis *a);

/* --- evidence.c: shared by all rules --- */

/* The row's waits; of those for answers of net/http, of which two may be for one, each until its answer. */
const struct histogram *row_waits(const struct row *row);
/* Sets the figures, the stack, and the place of the longest wait. */
void finding_of_row(const struct analysis *a, struct finding *finding, const struct row *row);
/* Suggests `gotrace why` for what a goroutine does at a time, ns since the trace's start. */
void finding_next_why(const struct analysis *a, struct finding *finding, uint64_t goid, uint64_t at_ns);

/* --- answers.c --- */

/* LIKELY: each goroutine has a condition of its own, as those that are given work may have, too. */
enum answers { ANSWERS_UNLIKELY, ANSWERS_LIKELY, ANSWERS_CERTAIN };

/* Whether those that wait in this row have asked for something, and wait for the answer. */
enum answers row_is_for_answers(const struct analysis *a, const struct row *row);
/*
 * Whether those that wait in the row are given work by the waker. Who answers questions does not wait for one
 * while somebody still waits for an answer; who gives out work waits for its end while others have none.
 */
bool row_is_for_work(const struct analysis *a, const struct row *row, const struct pair *pair);

/* --- known_waits.c --- */

/* Says what is waited for at the finding's stack, if that is a well-known limit of a library, and what sets
 * it. activity: the finding's; in others, such as network, it does not wait for the limit. */
void known_wait_evidence(const struct analysis *a, struct finding *finding, unsigned activity);

/* --- leak.c --- */

/* The number of the group's goroutines rises in each tenth of the trace but one or two, and not ever less. */
bool group_grows_throughout(const struct analysis *a, const struct group *group);

/* --- outlier.c --- */

/* Suggests `gotrace why` for tasks or regions of this name. */
void instances_suggest_why(const struct analysis *a, struct finding *finding, const struct instances *all);

/* --- serial_loop.c --- */

/* The call by which a stack of a wait for the network waits for connections or events; NULL if it does not.
 */
const char *stack_takes_by(const struct analysis *a, uint32_t stack);
/* Whether that is a call of servers: epoll_wait or accept. Libraries poll() for an answer. */
bool stack_takes_work(const struct analysis *a, uint32_t stack);
/* Whether each of the group belongs to a connection that the program accepts, and may live as long as it. */
bool group_is_of_connections(const struct analysis *a, const struct group *group);

/* --- slow_consumer.c --- */

/* Whether its waits are those of writers to a pipe that is full. */
bool row_is_pipe_write(const struct analysis *a, const struct row *row);

/* --- pairs.c: shared by the rules about waits --- */

/* Returns the row's pair with the most time, or pairs[0] if there is none. */
const struct pair *pair_heaviest(const struct analysis *a, uint32_t row);
/* The share of the others' waits, 0 to 1, in which the waker itself did not wait for work. */
double pair_busy_share(const struct pair *pair);
/* The same, without what others decide: waits for the network, and for a P or CPU. */
double pair_own_share(const struct pair *pair);
/* What the waker mostly did meanwhile: "network in main.fetch (main.go:7)". */
struct label pair_did(const struct analysis *a, const struct pair *pair);
/*
 * More of those that others wait for would not help if they mostly compute, or wait for a P or CPU, and all
 * of these are busy. Makes the finding info then, and says so.
 */
void short_of_cpu_evidence(const struct analysis *a, struct finding *finding,
			   const uint64_t meanwhile[ACT_COUNT]);
/* Returns the stack in which one that did this mostly waited for others; 0 if it mostly did something else.
 */
uint32_t did_wait(const struct top did[TOPS], const uint64_t meanwhile[ACT_COUNT]);
/* Adds count, percentiles, worst wait, stack, and the command that shows more. */
void row_evidence(const struct analysis *a, struct finding *finding, const struct row *row);

/* Names the program's own functions that call the place of a stack, "called by main.load (main.go:7), by
 * ...", because that may be a helper with many callers. */
void callers_evidence(const struct analysis *a, struct finding *finding, const char *called, uint32_t stack);

/* --- locks.c: shared by the rules about locks --- */

/* True if waits for the lock cost enough for a finding. Sets *impact to their share of task time. */
bool lock_is_contended(const struct analysis *a, const struct resource *res, double *impact);
/* The same of the program's own locks. */
bool lock_matters(const struct analysis *a, const struct resource *res, double *impact);
/* Shares of what holders did while others waited. */
double lock_share_io(const struct resource *res);
double lock_share_calls(const struct resource *res);
/* At least half of the holds make calls, and the waits cost 5 % of task time. */
bool lock_is_for_calls(const struct resource *res, double impact);
/* It is held across I/O, or long by one that computes; both may be true. */
bool lock_is_across_io(const struct resource *res, double impact);
bool lock_is_long(const struct analysis *a, const struct resource *res);
/* At least half of those calls do I/O. */
bool lock_is_for_io(const struct resource *res);
/*
 * Most of the waiting is for holds of 500 us (100 us) or more, and those are not rare accidents, as when a
 * holder loses its CPU.
 */
bool lock_is_held_long(const struct resource *res);
bool lock_is_held_some_time(const struct resource *res);
/* Adds count, percentiles, worst wait, stacks, and the command that shows more. */
void lock_evidence(struct analysis *a, struct finding *finding, const struct resource *res);
/*
 * All monitors of code that a compiler has made at run time look like one, and are given back without waking
 * anyone at times: who holds one, and for how long, is not certain.
 */
bool lock_is_of_unnamed_code(const struct analysis *a, const struct resource *res);
struct label lock_waiter(const struct analysis *a, const struct resource *res);
/* The same, "and others" if less than three quarters of the waits are in its function. */
struct label lock_waiters(const struct analysis *a, const struct resource *res);
/* Returns `lock`, "a lock" or the like; another word where threads wait for a futex that may be none. */
const char *lock_called(const struct analysis *a, const struct resource *res, const char *lock);
struct label lock_holder(const struct analysis *a, const struct resource *res);
#endif
