/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A loop takes connections or events one at a time, and what it calls for each of them blocks: the next
 * one waits, in another process or in the network, which ends waits without a waker. Such a loop hardly ever
 * waits for events, or is blocked for long now and then. It may be all that the program has to do, so it is
 * no more than information, unless it is the one goroutine that accepts connections, and most of them had
 * been waiting already.
 */
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"

/* One epoll_wait returns many events, so that few calls of it are enough. */
enum { MIN_N = 20, MIN_BATCHES = 3, MIN_LONG_N = 5, MOST_LOOPS = 16 };

#define LONG_NS  5000000
#define SHORT_NS 1000000 /* still noticed if it takes a tenth of the time */

/*
 * What the functions below a loop's own do, in ns. Of a thread that is alone in its group all counts: the
 * loop of a node, of Python or of a library has no function of its own on each stack.
 */
struct loop {
	uint32_t func;   /* string */
	uint64_t thread; /* group; 0 = by function */
	bool accepts;    /* it takes connections, by Go's Accept() */
	bool selects;    /* it takes them by select */
	bool epoll; /* it takes events by epoll: what it waits for in poll is an answer, as in a library */
	uint64_t takes, waits, waits_ns, blocked_ns;
	const struct row *most;    /* where it is blocked most */
	const struct row *longest; /* where it is blocked most of those that take long */
};

/* The function, or the system call as gotrace names it ("epoll_wait(5)"), waits for connections or events. */
static bool takes_events(const char *func)
{
	static const char *const calls[] = {"epoll_wait", "epoll_pwait", "epoll_pwait2", "poll",   "ppoll",
					    "select",     "pselect6",    "accept",       "accept4"};
	const char *dot = strncmp(func, "syscall.", 8) == 0 ? func + 8 : func;
	size_t n = strcspn(dot, "(");

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (strlen(calls[i]) == n && strncmp(calls[i], dot, n) == 0)
			return true;
	}
	/* "net.(*TCPListener).Accept" waits for the network in the runtime. */
	return strncmp(func, "net.(*", 6) == 0 && strstr(func, "Listener).Accept");
}

const char *stack_takes_by(const struct analysis *a, uint32_t stack)
{
	const struct stack_info *info = &a->stacks[stack];

	for (uint32_t i = 0; i < info->site && i < info->n; i++) {
		const char *func = name_text(a, a->frames[info->first + i].func);

		if (takes_events(func))
			return func;
	}
	return NULL;
}

bool stack_takes_work(const struct analysis *a, uint32_t stack)
{
	const char *by = stack_takes_by(a, stack);

	return by && (strstr(by, "epoll") || strstr(by, "ccept"));
}

static bool is_take(const struct loop *loop, const char *by)
{
	return by && (!loop->epoll || strstr(by, "epoll"));
}

/* Accept() makes other calls, too. */
static bool is_accept(const char *by)
{
	return strstr(by, "Listener).Accept");
}

/* The collector and the interpreter's lock have rules of their own. */
static bool row_is_blocked(const struct row *row)
{
	return activity_is_blocked(row->activity) && row->activity != ACT_GC && row->activity != ACT_GIL;
}

/* By the median, or where a tenth of the time is spent so, by the longest ones: some clients are slow. */
static bool row_is_long(const struct analysis *a, const struct row *row)
{
	double n = (double)row->hist.n;
	uint64_t usual = histogram_quantile(&row->hist, 0.5);

	if (row->hist.n < MIN_LONG_N)
		return false;
	return usual >= LONG_NS ||
	       (row->hist.sum * 10 >= watched_ns(a) &&
		(usual >= SHORT_NS || histogram_quantile(&row->hist, 1 - MIN_LONG_N / n) >= LONG_NS));
}

static bool is_in_loop(const struct analysis *a, const struct loop *loop, const struct row *row)
{
	return loop->thread ? top_first(row->functions)->key == loop->thread
			    : stack_calls(a, row->stack, name_text(a, loop->func));
}

static struct loop loop_of(const struct analysis *a, const struct row *take)
{
	uint64_t group = top_first(take->functions)->key;
	struct loop loop = {.func = stack_site(a, take->stack)->func,
			    .thread = is_of_threads(a) && a->groups[group].peak == 1 ? group : 0};
	const char *takes_by = stack_takes_by(a, take->stack);

	loop.accepts = stack_calls(a, take->stack, "net.(*TCPListener).Accept") ||
		       stack_calls(a, take->stack, "net.(*UnixListener).Accept");
	loop.selects = takes_by && strstr(takes_by, "select");
	loop.epoll = loop.thread && takes_by && strstr(takes_by, "epoll");
	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];
		const char *by;

		/* Threads that take turns wait for theirs, while another one takes events. */
		if (!row_is_blocked(row) || !is_in_loop(a, &loop, row) ||
		    a->stacks[row->stack].waits_for == ACT_COND)
			continue;
		by = row->activity == ACT_CHILD ? NULL : stack_takes_by(a, row->stack);
		if (is_take(&loop, by)) {
			if (row->activity != ACT_SYSCALL)
				loop.waits += row->hist.n;
			else if (!is_accept(by))
				loop.takes += row->hist.n + row->endless;
			loop.waits_ns += row->hist.sum + row->cut_ns;
			continue;
		}
		loop.blocked_ns += row->hist.sum;
		if (!loop.most || row->hist.sum > loop.most->hist.sum)
			loop.most = row;
		if (row_is_long(a, row) && (!loop.longest || row->hist.sum > loop.longest->hist.sum))
			loop.longest = row;
	}
	return loop;
}

/* A loop that sleeps itself has a pace of its own. A loop within the loop (node's execSync) waits for a
 * child. */
static bool has_own_pace(const struct analysis *a, const struct loop *loop, const struct row *blocked)
{
	return blocked->activity != ACT_CHILD && stack_site(a, blocked->stack)->func == loop->func;
}

static bool hardly_waits(const struct analysis *a, const struct loop *loop)
{
	return loop->most && !has_own_pace(a, loop, loop->most) &&
	       loop->most->hist.sum * 2 >= loop->blocked_ns && loop->most->hist.n >= MIN_N &&
	       loop->blocked_ns * 2 >= watched_ns(a) && loop->waits_ns * 10 < loop->blocked_ns;
}

static bool blocks_long(const struct analysis *a, const struct loop *loop)
{
	return loop->longest && !has_own_pace(a, loop, loop->longest) &&
	       loop->longest->hist.sum * 50 >= watched_ns(a);
}

/* A select that never waits only looks, as that of a transcoder for keys. */
static bool only_looks(const struct loop *loop)
{
	return loop->selects && !loop->waits;
}

/* Go calls accept4 before it waits for a connection, and again after it. */
static uint64_t accepted(const struct loop *loop)
{
	return loop->takes > loop->waits ? loop->takes - loop->waits : 0;
}

static uint64_t accepted_at_once(const struct loop *loop)
{
	return accepted(loop) > loop->waits ? accepted(loop) - loop->waits : 0;
}

/* New connections wait while the loop is blocked: it is alone, and has not had to wait for most of them. */
static bool keeps_out(const struct analysis *a, const struct row *take, const struct loop *loop)
{
	return loop->accepts && a->groups[top_first(take->functions)->key].peak == 1 &&
	       accepted_at_once(loop) * 2 >= accepted(loop);
}

static void describe_loop(struct analysis *a, const struct row *row, const struct loop *loop)
{
	struct finding *finding = finding_add(a, "serial-loop", share_of_tasks(a, (double)loop->blocked_ns));
	const char *what = loop->accepts ? "connection" : "event";
	bool always = hardly_waits(a, loop);
	const struct row *blocked = always ? loop->most : loop->longest;

	if (keeps_out(a, row, loop))
		finding_evidence(finding, "%llu of %llu connections had been waiting when it accepted them",
				 (unsigned long long)accepted_at_once(loop),
				 (unsigned long long)accepted(loop));
	else
		finding_at_most(finding, LEVEL_INFO);
	if (always)
		finding_text(finding,
			     "%s takes one %s at a time, and hardly waits for the next: what it calls is "
			     "blocked for %s, mostly %s in %s.",
			     label_stack(a, row->stack).text, what, label_time(loop->blocked_ns).text,
			     activity_name((enum activity)blocked->activity),
			     label_stack(a, blocked->stack).text);
	else
		finding_text(finding,
			     "%s takes one %s at a time, and none while what it calls is blocked: %llu "
			     "times %s, %s in %s.",
			     label_stack(a, row->stack).text, what, (unsigned long long)blocked->hist.n,
			     label_usual(&blocked->hist).text,
			     activity_name((enum activity)blocked->activity),
			     label_stack(a, blocked->stack).text);
	row_evidence(a, finding, blocked);
	known_wait_evidence(a, finding, blocked->activity);
	callers_evidence(a, finding, "called by", blocked->stack);
	finding->total_ns = loop->blocked_ns;
}

static bool loop_is_known(const struct loop *known, unsigned n, uint32_t func)
{
	for (unsigned i = 0; i < n; i++) {
		if (known[i].func == func)
			return true;
	}
	return false;
}

/* One thread may take events in functions of several libraries, as an interpreter's does. */
static bool is_of_known_thread(const struct loop *known, unsigned n, const struct loop *loop)
{
	for (unsigned i = 0; i < n; i++) {
		if (loop->thread && known[i].thread == loop->thread)
			return true;
	}
	return false;
}

void rule_serial_loop(struct analysis *a)
{
	struct loop known[MOST_LOOPS];
	unsigned n = 0;

	for (size_t i = 1; i < a->nrows && n < MOST_LOOPS; i++) {
		const struct row *row = &a->rows[i];
		struct loop *loop = &known[n];

		if (row->activity != ACT_SYSCALL || !stack_takes_by(a, row->stack) ||
		    loop_is_known(known, n, stack_site(a, row->stack)->func))
			continue;
		*loop = loop_of(a, row);
		if (!is_of_known_thread(known, n++, loop) &&
		    loop->takes >= (loop->epoll ? MIN_BATCHES : MIN_N) && !only_looks(loop) &&
		    (hardly_waits(a, loop) || blocks_long(a, loop)))
			describe_loop(a, row, loop);
	}
}
