/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Copies of functions that are probed at their prologue. A copy has no prologue, and its arguments may be
 * anywhere, so it is probed where its code identifies the event and its object.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bpf/copy_place.h"
#include "bpf/record.h"
#include "code/isa/call_argument.h"
#include "code/isa/memory_jumps.h"
#include "target/planner.h"
#include "target/stack.h"

enum copy_place {
	COPY_CHANGE,   /* the change of the goroutine's status from `old` to `new` */
	COPY_CHECK,    /* the first check whether the tracer is on, with `argument` */
	COPY_TRACED,   /* the same, with the argument that the tracer's function `callee` would get */
	COPY_STATUS,   /* the comparison of the P's status */
	COPY_ADD,      /* the jump behind the first atomic addition */
	COPY_PROLOGUE, /* the prologue of the host: it is called with the same arguments, or they do not
			  matter */
	COPY_P_IDLE,   /* the change of the P's status to _Pidle, which the host makes before */
	COPY_NOTHING,  /* the event has been seen before */
};

/* Where a copy in this host is probed; the first row that fits. */
static const struct copy_rule {
	uint8_t site;
	uint8_t place;                  /* enum copy_place */
	const char *host;               /* the begin of its name, NULL: any */
	const char *callee, *callee_21; /* the latter in Go 1.21 */
	int8_t old, new;
	uint32_t argument;
} copy_rules[] = {
	{.site = SITE_READY, .place = COPY_CHANGE, .old = G_STATUS_WAITING, .new = G_STATUS_RUNNABLE},
	{.site = SITE_DESTROY, .place = COPY_CHANGE, .old = G_STATUS_RUNNING, .new = G_STATUS_DEAD},
	/* gopreempt_m is inlined into its callers even without a profile. */
	{.site = SITE_GOSCHED, .place = COPY_CHECK, .host = "runtime.gosched_m"},
	{.site = SITE_GOSCHED, .place = COPY_CHECK, .host = "runtime.goschedguarded_m"},
	{.site = SITE_GOSCHED, .place = COPY_CHECK, .argument = 1},
	/* gopreempt_m, up to 1.21 */
	{.site = SITE_GOYIELD, .place = COPY_CHECK},
	/* The scan bit, which is part of the new status, keeps the stack. */
	{.site = SITE_PREEMPTPARK, .place = COPY_CHANGE, .old = G_STATUS_RUNNING, .new = ANY_STATUS},
	{.site = SITE_ACQUIREP, .place = COPY_STATUS},
	{.site = SITE_RELEASEP, .place = COPY_STATUS},
	/* handoffp(releasep()): the P has just been released. */
	{.site = SITE_HANDOFFP, .place = COPY_NOTHING, .host = "runtime.mexit"},
	{.site = SITE_HANDOFFP, .place = COPY_NOTHING, .host = "runtime.stoplockedm"},
	{.site = SITE_HANDOFFP, .place = COPY_NOTHING, .host = "runtime.entersyscallblock"},
	/* The P of a system call is made idle, and handed off (Go 1.21 to 1.25). */
	{.site = SITE_HANDOFFP, .place = COPY_P_IDLE, .host = "runtime.retake"},
	{.site = SITE_HANDOFFP, .place = COPY_P_IDLE, .host = "runtime.forEachP"},
	/* A method that does the same for the same receiver, and a closure that does nothing else. */
	{.site = SITE_STEALP, .place = COPY_PROLOGUE, .host = "runtime.syscallingThread.gcstopP"},
	{.site = SITE_STEALP, .place = COPY_PROLOGUE, .host = "runtime.syscallingThread.takeP"},
	{.site = SITE_STEALP, .place = COPY_TRACED, .callee = "runtime.traceLocker.ProcSteal"},
	{.site = SITE_GCWAIT, .place = COPY_PROLOGUE, .host = "runtime.reentersyscall.func"},
	{.site = SITE_STW_BEGIN,
	 .place = COPY_TRACED,
	 .callee = "runtime.traceLocker.STWStart",
	 .callee_21 = "runtime.traceSTWStart"},
	{.site = SITE_PROCRESIZE,
	 .place = COPY_TRACED,
	 .callee = "runtime.traceLocker.Gomaxprocs",
	 .callee_21 = "runtime.traceGomaxprocs"},
	{.site = SITE_HEAP_ALLOC, .place = COPY_ADD},
	{.site = SITE_HEAP_RESET, .place = COPY_CHECK},
};

static const struct copy_rule *find_rule(uint8_t site, const char *host)
{
	for (unsigned i = 0; i < sizeof(copy_rules) / sizeof(copy_rules[0]); i++) {
		const struct copy_rule *rule = &copy_rules[i];

		if (rule->site == site && (!rule->host || strncmp(host, rule->host, strlen(rule->host)) == 0))
			return rule;
	}
	return NULL;
}

/* Whether the instruction is part of a copy of the rule's function. */
static bool is_in_copy(const struct planner *planner, const struct site_rule *rule, uint64_t address)
{
	struct logical_place place;

	target_logical_place(planner->target, address, &place);
	return logical_index(&place, rule->function) >= 0;
}

static int plan_add(struct planner *planner, const struct site_rule *rule, const struct code *code)
{
	struct atomic_add adds[MAX_MATCHES];
	int n = code_atomic_adds(code, adds, MAX_MATCHES);
	const uint64_t cookie = 0;

	for (int i = 0; i < n && i < MAX_MATCHES; i++) {
		if (is_in_copy(planner, rule, code->address + adds[i].offset) && adds[i].jump)
			return planner_add(planner, rule, code, adds[i].jump, &cookie);
	}
	return planner_refuse(planner, rule, code, 0, "no atomic addition in its copy here");
}

static int plan_status(struct planner *planner, const struct site_rule *rule, const struct code *code)
{
	struct comparison found[MAX_MATCHES];
	int n = code_comparisons(code, (int32_t)planner->target->layout.p_status, found, MAX_MATCHES);

	for (int i = 0; i < n && i < MAX_MATCHES; i++) {
		const uint64_t cookie = found[i].base;

		/* A release is that of the M's own P. */
		if (is_in_copy(planner, rule, code->address + found[i].jump))
			return planner_add(planner, rule, code, found[i].jump,
					   rule->site == SITE_RELEASEP ? NULL : &cookie);
	}
	return planner_refuse(planner, rule, code, 0, "its copy here does not compare the status of a P");
}

static int plan_p_idle(struct planner *planner, const struct site_rule *rule, const struct code *code)
{
	enum { P_IDLE = 0 }; /* _Pidle, runtime/runtime2.go */
	struct exchange found[MAX_MATCHES];
	int n = code_exchanges(code, (int32_t)planner->target->layout.p_status, found, MAX_MATCHES);
	unsigned before = planner->plan->n;

	for (int i = 0; i < n && i < MAX_MATCHES; i++) {
		const uint64_t cookie = found[i].base;
		int rc;

		if (found[i].new != P_IDLE || !found[i].jump)
			continue;
		rc = planner_add(planner, rule, code, found[i].jump, &cookie);
		if (rc)
			return rc;
	}
	return planner->plan->n > before ? 0
					 : planner_refuse(planner, rule, code, 0,
							  "no exchange makes a P idle before its copy here");
}

/* The cookie for an argument of the tracer's function, as it is at the check. */
static int traced_argument(const struct planner *planner, const struct code *code, size_t check,
			   const struct copy_rule *copy, uint64_t *cookie)
{
	/* From 1.22 on, a traceLocker of two words is the first argument (runtime/traceruntime.go). */
	enum { RAX = 0, RCX = 1 };
	bool is_21 = planner->target->go_minor == 21;
	struct value_origin origin;
	struct code function;

	if (target_code(planner->target, is_21 ? copy->callee_21 : copy->callee, &function) ||
	    code_call_argument(code, check, function.address, is_21 ? RAX : RCX, &origin))
		return -ENOENT;
	switch (origin.kind) {
	case ORIGIN_REGISTER:
		*cookie = COPY_IN_REGISTER | origin.number;
		return 0;
	case ORIGIN_SLOT:
		*cookie = COPY_IN_SLOT | (uint64_t)origin.number << COPY_UPPER;
		return 0;
	default:
		*cookie = (uint64_t)(uint32_t)origin.constant << COPY_UPPER;
		return 0;
	}
}

static int plan_first_check(struct planner *planner, const struct site_rule *rule, const struct code *code,
			    const struct copy_rule *copy)
{
	uint64_t cookie = (uint64_t)copy->argument << COPY_UPPER;
	struct flag_check checks[MAX_MATCHES];
	struct site_rule any = *rule;
	int n;

	any.total = 0;
	n = planner_checks(planner, &any, code, checks);
	if (n < 0)
		return n;
	/* The same line may be there more than once: the host contains several copies. */
	for (int i = 0; i < n && checks[i].line == checks[0].line; i++) {
		int rc = copy->place == COPY_TRACED
				 ? traced_argument(planner, code, checks[i].offset, copy, &cookie)
				 : 0;

		if (rc)
			return planner_refuse(planner, rule, code, checks[i].offset,
					      "its copy here does not show its argument");
		rc = planner_add(planner, rule, code, checks[i].offset, &cookie);
		if (rc)
			return rc;
	}
	return 0;
}

static int plan_host(struct planner *planner, const struct site_rule *rule, const struct code *code)
{
	size_t offset;

	if (code_prologue(code, &offset))
		return planner_refuse(planner, rule, code, 0, "its copy is in a function without a frame");
	return planner_add(planner, rule, code, offset, NULL);
}

int plan_copy(struct planner *planner, const struct site_rule *rule, const struct code *code,
	      const char *host)
{
	const struct copy_rule *copy = find_rule(rule->site, host);
	struct site_rule change = *rule;

	if (!copy)
		return planner_refuse_copy(planner, rule, host);
	switch (copy->place) {
	case COPY_CHANGE:
		change.old_status = copy->old;
		change.new_status = copy->new;
		return plan_changes(planner, &change, code, true);
	case COPY_CHECK:
	case COPY_TRACED:
		return plan_first_check(planner, rule, code, copy);
	case COPY_STATUS:
		return plan_status(planner, rule, code);
	case COPY_ADD:
		return plan_add(planner, rule, code);
	case COPY_P_IDLE:
		return plan_p_idle(planner, rule, code);
	case COPY_PROLOGUE:
		return plan_host(planner, rule, code);
	default:
		return 0;
	}
}
