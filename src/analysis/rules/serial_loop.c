/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A loop takes connections or events one at a time, and what it calls for each of them blocks: the next
 * one waits, in another process or in the network, which ends waits without a waker. Such a loop hardly ever
 * waits for events. It may be all that the program has to do, so it is no more than information.
 */
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/intervals.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"

enum { MIN_N = 20, MOST_LOOPS = 16 };

/* What the functions below a loop's own do, in ns. */
struct loop {
	uint32_t func; /* string */
	uint64_t takes, waits_ns, blocked_ns;
	const struct row *most; /* where it is blocked most */
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

static bool is_take(const struct analysis *a, uint32_t stack)
{
	const struct stack_info *info = &a->stacks[stack];

	for (uint32_t i = 0; i < info->site && i < info->n; i++) {
		if (takes_events(name_text(a, a->frames[info->first + i].func)))
			return true;
	}
	return false;
}

static bool row_is_blocked(const struct row *row)
{
	return row->activity >= ACT_SYSCALL && row->activity < ACT_UNWATCHED && row->activity != ACT_GC;
}

static struct loop loop_of(const struct analysis *a, uint32_t func)
{
	struct loop loop = {.func = func};

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];

		if (!row_is_blocked(row) || !stack_calls(a, row->stack, name_text(a, func)))
			continue;
		if (is_take(a, row->stack)) {
			loop.takes += row->activity == ACT_SYSCALL ? row->hist.n : 0;
			loop.waits_ns += row->hist.sum + row->cut_ns;
			continue;
		}
		loop.blocked_ns += row->hist.sum;
		if (!loop.most || row->hist.sum > loop.most->hist.sum)
			loop.most = row;
	}
	return loop;
}

/* A loop that sleeps itself has a pace of its own. */
static bool applies(const struct analysis *a, const struct loop *loop)
{
	return loop->takes >= MIN_N && loop->most && loop->most->hist.n >= MIN_N &&
	       stack_site(a, loop->most->stack)->func != loop->func &&
	       loop->blocked_ns * 2 >= watched_ns(a) && loop->waits_ns * 10 < loop->blocked_ns &&
	       loop->most->hist.sum * 2 >= loop->blocked_ns;
}

static void describe_loop(struct analysis *a, const struct row *row, const struct loop *loop)
{
	struct finding *finding = finding_add(a, "serial-loop", share_of_tasks(a, (double)loop->blocked_ns));

	finding->level = LEVEL_INFO;
	finding_text(finding,
		     "%s takes one event at a time, and hardly waits for the next: what it calls is blocked "
		     "for %s, mostly %s in %s.",
		     label_stack(a, row->stack).text, label_time(loop->blocked_ns).text,
		     activity_name((enum activity)loop->most->activity),
		     label_stack(a, loop->most->stack).text);
	row_evidence(a, finding, loop->most);
	finding->total_ns = loop->blocked_ns;
}

static bool loop_is_known(const uint32_t *funcs, unsigned n, uint32_t func)
{
	for (unsigned i = 0; i < n; i++) {
		if (funcs[i] == func)
			return true;
	}
	return false;
}

void rule_serial_loop(struct analysis *a)
{
	uint32_t funcs[MOST_LOOPS];
	unsigned n = 0;

	for (size_t i = 1; i < a->nrows && n < MOST_LOOPS; i++) {
		const struct row *row = &a->rows[i];
		uint32_t func = stack_site(a, row->stack)->func;
		struct loop loop;

		if (row->activity != ACT_SYSCALL || !is_take(a, row->stack) || loop_is_known(funcs, n, func))
			continue;
		funcs[n++] = func;
		loop = loop_of(a, func);
		if (applies(a, &loop))
			describe_loop(a, row, &loop);
	}
}
