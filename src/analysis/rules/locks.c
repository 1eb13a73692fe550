/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Shared by the rules about locks. */
#include <math.h>
#include <string.h>

#include "analysis/cpu.h"
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/handlers.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"
#include "analysis/words.h"
#include "code/symbol/library.h"

/* A thread of OpenMP's team comes to the end of a region. Who unlocks for the program does so in its code. */
static bool is_met_in_openmp(const struct analysis *a, const struct resource *res)
{
	uint32_t stack = (uint32_t)top_first(res->released)->key;

	return stack && strncmp(name_text(a, stack_site(a, stack)->func), "libgomp.so", 10) == 0;
}

bool lock_is_contended(const struct analysis *a, const struct resource *res, double *impact)
{
	*impact = share_of_tasks(a, (double)res->waits.sum);
	return res->lock && res->waits.n >= 5 && res->releases && *impact >= 0.005 &&
	       !is_met_in_openmp(a, res);
}

/* One lock for all threads of the process, whose waits have rules of their own. */
static bool is_of_process(const struct analysis *a, const struct resource *res)
{
	uint32_t index = (uint32_t)(res - a->resources);

	return index == a->mmap_lock || index == a->gil;
}

bool lock_matters(const struct analysis *a, const struct resource *res, double *impact)
{
	return lock_is_contended(a, res, impact) && !is_of_process(a, res);
}

/*
 * Long holds by one goroutine are a fault, however many others there are. Rare long holds by any of them may
 * be due to a lost CPU; frequent ones are a fault.
 */
static bool is_no_accident(const struct resource *res, uint64_t ns, uint64_t n)
{
	bool one = top_sure(top_first(res->holders)) * 2 >= res->charged_ns;

	return ns * 2 >= res->charged_ns && n * (one ? 200 : 20) >= res->releases;
}

bool lock_is_held_long(const struct resource *res)
{
	return is_no_accident(res, res->long_ns, res->long_n);
}

bool lock_is_held_some_time(const struct resource *res)
{
	return is_no_accident(res, res->medium_ns, res->medium_n);
}

static double share(const struct resource *res, uint64_t part)
{
	uint64_t all = 0;

	/* A wait for a CPU or a P says nothing about what the holder does. */
	for (unsigned i = 0; i < ACT_COUNT; i++)
		all += i == ACT_RUNNABLE ? 0 : res->meanwhile[i];
	return all ? (double)part / (double)all : 0;
}

double lock_share_io(const struct resource *res)
{
	const uint64_t *did = res->meanwhile;

	return share(res,
		     did[ACT_NETWORK] + did[ACT_SYSCALL] + did[ACT_DISK] + did[ACT_FILE] + did[ACT_SLEEP]);
}

double lock_share_calls(const struct resource *res)
{
	return res->releases ? (double)res->calls / (double)res->releases : 0;
}

bool lock_is_for_calls(const struct resource *res, double impact)
{
	return impact >= 0.05 && lock_share_calls(res) >= 0.5;
}

bool lock_is_for_io(const struct resource *res)
{
	return res->io_calls * 2 >= res->calls;
}

/* Shorter waits are no reason to look at what the holder does. */
enum { MIN_WAIT_NS = 1000000 };

bool lock_is_across_io(const struct resource *res, double impact)
{
	bool is_long = lock_is_held_long(res);

	/* Each hold waits for the disk, however fast it is; but that is not why a few are long. */
	if (lock_is_for_calls(res, impact) && lock_is_for_io(res) && (!is_long || lock_share_io(res) >= 0.05))
		return true;
	return res->waits.max >= MIN_WAIT_NS && lock_share_io(res) >= 0.5 && is_long;
}

/* What is charged to the place where the lock is mostly released, from any stack. */
static uint64_t charged_to_first(const struct analysis *a, const struct resource *res)
{
	uint32_t first = (uint32_t)top_first(res->released)->key;
	uint64_t ns = 0;

	for (unsigned i = 0; i < TOPS; i++) {
		if (stacks_share_site(a, (uint32_t)res->released[i].key, first))
			ns += res->released[i].weight;
	}
	return ns;
}

/* A single hold is a habit only if it is a good part of the trace: its thread may have lost the CPU. */
static bool is_habit(const struct analysis *a, const struct resource *res)
{
	return res->medium_n > 1 || res->min_holds.max * 20 >= watched_ns(a);
}

bool lock_is_long(const struct analysis *a, const struct resource *res)
{
	return is_habit(a, res) && res->given_up_ns * 5 < res->waits.sum && res->waits.max >= MIN_WAIT_NS &&
	       lock_share_io(res) < 0.5 && lock_is_held_some_time(res) &&
	       charged_to_first(a, res) * 2 >= res->charged_ns;
}

/* What is known of the holders' time, ns. What one waits for inside pthread_cond_signal is that those that it
 * woke get a CPU. */
static uint64_t holders_ns(const struct resource *res)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < ACT_COUNT; i++)
		all += i == ACT_OTHER ? 0 : res->meanwhile[i];
	return all;
}

/* The share of the holders' time in which they did not wait for a CPU, 0 to 1. */
static double held_with_cpu(const struct resource *res)
{
	uint64_t all = holders_ns(res);

	return all ? 1 - (double)res->meanwhile[ACT_RUNNABLE] / (double)all : 1;
}

/* The lock of an interpreter is held by whatever the program does, so that its holder mostly has or wants a
 * CPU: there is no other cause to look for. */
static enum waited_for lock_held_up(const struct analysis *a, const struct resource *res)
{
	double enough = res == &a->resources[a->gil] ? 0.7 : 0.3;
	uint64_t all = holders_ns(res);

	if (!all)
		return WAITED_FOR_UNKNOWN;
	if ((res->meanwhile[ACT_GC] + res->meanwhile[ACT_ASSIST]) * 2 >= all)
		return WAITED_FOR_GC;
	return held_with_cpu(res) < enough ? WAITED_FOR_CPU : WAITED_FOR_OTHERS;
}

struct label lock_waiter(const struct analysis *a, const struct resource *res)
{
	return label_stack(a, (uint32_t)top_first(res->waited)->key);
}

struct label lock_waiters(const struct analysis *a, const struct resource *res)
{
	struct label label = lock_waiter(a, res);
	uint32_t func = stack_site(a, (uint32_t)top_first(res->waited)->key)->func;
	size_t n = strlen(label.text);
	uint64_t named = 0;

	for (unsigned i = 0; i < TOPS; i++) {
		if (stack_site(a, (uint32_t)res->waited[i].key)->func == func)
			named += top_sure(&res->waited[i]);
	}
	if (named * 4 < res->waits.sum * 3)
		snprintf(label.text + n, sizeof(label.text) - n, " and others");
	return label;
}

/* A library's unlock has no caller on the stack if the compiler has made a jump of the call. What the holder
 * did meanwhile shows who it is. */
struct label lock_holder(const struct analysis *a, const struct resource *res)
{
	uint32_t released = (uint32_t)top_first(res->released)->key;
	uint32_t did = (uint32_t)(top_first(res->did)->key >> 8);

	return label_stack(a, is_of_threads(a) && did && !stack_is_in_program(a, released) &&
					      stack_is_in_program(a, did)
				      ? did
				      : released);
}

/* Returns NULL if there are no waits in that activity with that stack. */
static const struct row *locks_row_of(const struct analysis *a, unsigned activity, uint64_t stack)
{
	const uint32_t *known = map64_get(&a->row_of, stack << 8 | activity);

	return known ? &a->rows[*known] : NULL;
}

/* The lock is of the receiver alone: rx.lock().unwrap().recv() in Rust. Each thread's stack is another one.
 */
static bool holder_waits_for_work(const struct analysis *a, const struct resource *res)
{
	const struct top *did = top_first(res->did);
	unsigned activity = (unsigned)(did->key & 0xff);
	uint32_t stack = (uint32_t)(did->key >> 8);

	return activity >= ACT_COND && activity <= ACT_SELECT &&
	       share(res, res->meanwhile[activity]) >= 0.5 &&
	       stacks_share_site(a, stack, (uint32_t)top_first(res->waited)->key) &&
	       strstr(name_text(a, stack_leaf(a, stack)->func), "Receiver<");
}

/* Whether the holders mostly wait for the next connection or event, as uWSGI's threads do in turn. */
static bool holder_takes_work(const struct analysis *a, const struct resource *res)
{
	uint64_t takes = 0, all = activities_ns(res->meanwhile);

	for (unsigned i = 0; i < TOPS; i++) {
		const struct top *did = &res->did[i];

		if (did->n && stack_takes_work(a, (uint32_t)(did->key >> 8)))
			takes += did->weight;
	}
	return takes * 2 > all;
}

/*
 * Workers that take turns to wait for work with a lock (the thread pool of Rust's book): those that wait for
 * the lock would have no work, either.
 */
static bool holder_is_idle(const struct analysis *a, const struct resource *res)
{
	uint32_t stack = did_wait(res->did, res->meanwhile);
	unsigned activity = (unsigned)(top_first(res->did)->key & 0xff);
	const struct row *work = locks_row_of(a, activity, stack);
	const struct row *behind = locks_row_of(a, ACT_LOCK, top_first(res->waited)->key);

	return stack && activity >= ACT_COND && activity != ACT_SEND && work && behind &&
	       top_first(work->functions)->key == top_first(behind->functions)->key &&
	       row_is_for_answers(a, work) != ANSWERS_CERTAIN;
}

bool lock_is_of_unnamed_code(const struct analysis *a, const struct resource *res)
{
	const struct code_place *site = stack_site(a, (uint32_t)top_first(res->waited)->key);

	return strcmp(name_text(a, site->func), UNNAMED_CODE) == 0;
}

/* Whether the holders mostly wait until a file is on disk. */
static bool holder_syncs(const struct analysis *a, const struct resource *res)
{
	uint64_t syncs = 0;

	for (unsigned i = 0; i < TOPS; i++) {
		const char *call = io_call_name(a->stacks[res->did[i].key >> 8].io_call);

		if (res->did[i].n && call && strstr(call, "sync"))
			syncs += res->did[i].weight;
	}
	return share(res, syncs) >= 0.5;
}

/* Threads of a library, or that begin or end, wait for each other: no function of the program's is delayed.
 */
static bool is_beside_program(const struct analysis *a, const struct resource *res)
{
	return is_of_threads(a) && !is_of_process(a, res) &&
	       !stack_is_in_program(a, (uint32_t)top_first(res->waited)->key);
}

/* A futex of no known lock may be anything: a thread parks, a virtual machine stops its threads. */
static bool may_be_no_lock(const struct analysis *a, const struct resource *res)
{
	uint32_t stack = (uint32_t)top_first(res->waited)->key;

	return is_of_threads(a) && !is_of_process(a, res) && !a->stacks[stack].primitive &&
	       !stack_waits_for_lock(a, stack);
}

const char *lock_called(const struct analysis *a, const struct resource *res, const char *lock)
{
	return may_be_no_lock(a, res) ? "what may be a lock" : lock;
}

/* Where the holders run, by the CPU samples of their group, if these are mostly at one place; else where the
 * lock is given back. */
static struct label holder_runs(const struct analysis *a, const struct resource *res)
{
	const struct top *first = top_first(res->holder_groups);
	const struct group *group = &a->groups[first->n && first->key < a->ngroups ? first->key : 0];
	uint32_t row = cpu_first(group->cpu);
	double most = (double)top_first(group->cpu)->weight * cpu_sample_ns(a);

	return row && most >= 0.5 * (double)group->spent[ACT_CODE] ? cpu_place(a, row) : lock_holder(a, res);
}

/* What the holders did most but to want a CPU; NULL if that is nothing, or has no place. */
static const struct top *did_with_cpu(const struct resource *res)
{
	const struct top *most = NULL;

	for (unsigned i = 0; i < TOPS; i++) {
		const struct top *did = &res->did[i];

		if (did->n && did->key >> 8 && (did->key & 0xff) != ACT_RUNNABLE &&
		    (!most || did->weight > most->weight))
			most = did;
	}
	return most;
}

void lock_evidence(struct analysis *a, struct finding *finding, const struct resource *res)
{
	const struct top *did = top_first(res->did), *other;
	/* Who has the interpreter runs all of the program, and not what releases it. */
	bool is_run = res == &a->resources[a->gil] && (did->key & 0xff) == ACT_CODE;
	bool is_ready = did->key == ACT_RUNNABLE; /* without a place: it wants a CPU anywhere */
	double share = handler_share(a, (uint32_t)top_first(res->waited)->key, res->waits.sum);
	enum waited_for held_up = lock_held_up(a, res);

	/* What it would be if they always had a CPU; where that is little, who used the CPUs explains it. */
	if (held_up == WAITED_FOR_OTHERS)
		share = fmin(share, finding->impact * held_with_cpu(res));
	if (share < finding->impact)
		finding_weigh(finding, share);
	/* A log on disk is written under a lock: a few percent are how such programs work. */
	if (holder_takes_work(a, res) || holder_is_idle(a, res) || holder_waits_for_work(a, res) ||
	    may_be_no_lock(a, res) || is_beside_program(a, res) ||
	    (lock_is_of_unnamed_code(a, res) && !holder_syncs(a, res)))
		finding_at_most(finding, LEVEL_INFO);
	else if (finding->impact < 0.05)
		finding->level = LEVEL_INFO; /* more if others wait behind it */
	finding->held_up = held_up;
	finding->n = res->waits.n;
	finding->total_ns = res->waits.sum;
	finding->p50_ns = histogram_quantile(&res->waits, 0.5);
	finding->p99_ns = histogram_quantile(&res->waits, 0.99);
	finding->max_ns = res->waits.max;
	finding->first_ns = res->first - a->begin;
	finding->worst_ns = res->max_at - a->begin;
	finding->worst_goid = res->max_g;
	finding->stack = (uint32_t)top_first(res->waited)->key;
	finding->waker_stack = (uint32_t)top_first(res->released)->key;
	finding->next_stack = did_wait(res->did, res->meanwhile);
	finding_evidence(finding, "n %llu, total %s, p50 %s, p99 %s, max %s at %s (%s%s%s)",
			 (unsigned long long)res->waits.n, label_time(res->waits.sum).text,
			 label_time(finding->p50_ns).text, label_time(finding->p99_ns).text,
			 label_time(res->waits.max).text, label_time(finding->worst_ns).text,
			 label_who(a, res->max_g).text, res->max_waker ? ", by " : "",
			 res->max_waker ? label_who(a, res->max_waker).text : "");
	finding_evidence(finding, "held %s p50, %s max; meanwhile mostly %s%s%s",
			 label_time(histogram_quantile(&res->min_holds, 0.5)).text,
			 label_time(res->min_holds.max).text, activity_name((enum activity)(did->key & 0xff)),
			 is_run || is_ready ? "" : " in ",
			 is_run || is_ready              ? ""
			 : did->key >> 8                 ? label_stack(a, (uint32_t)(did->key >> 8)).text
			 : (did->key & 0xff) == ACT_CODE ? holder_runs(a, res).text
							 : lock_holder(a, res).text);
	if (stack_mentions(a, finding->stack, "runtime.stopTheWorld"))
		finding_evidence(
			finding, "each waits for its turn to stop the world%s",
			stack_mentions(a, finding->stack, "runtime.ReadMemStats")
				? "; runtime/metrics reads most of what ReadMemStats does, without a stop"
				: "");
	other = (did->key & 0xff) == ACT_RUNNABLE ? did_with_cpu(res) : NULL;
	if (other)
		finding_evidence(finding, "and then %s in %s",
				 activity_name((enum activity)(other->key & 0xff)),
				 label_stack(a, (uint32_t)(other->key >> 8)).text);
	finding_evidence(finding, "released at %s",
			 label_stack(a, (uint32_t)top_first(res->released)->key).text);
	finding_next_why(a, finding, res->max_g, finding->worst_ns + res->waits.max / 2);
}
