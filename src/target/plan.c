/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Turns the release's rules into probes in this binary, each verified by its bytes. */
#include "target/planner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/isa/jumps.h"
#include "target/labels.h"
#include "target/memory.h"
#include "target/remote.h"
#include "target/stack.h"

/* The first release whose copies are known (sites and places: plan_copies.c, plan_changes.c). */
#define FIRST_COPIES 21

static int plan_prologue(struct planner *planner, const struct site_rule *rule, const struct code *code)
{
	size_t offset;

	if (planner->target->go_minor <= ABI0_LAST && code_stack_check(code, &offset))
		return planner_refuse(planner, rule, code, 0, "no stack check");
	/* A trap on a jump costs a tenth less than one on a push, which writes to the stack. */
	if (rule->on_g0 && code_stack_jump(code, &offset) == 0)
		return planner_add(planner, rule, code, offset, NULL);
	if (planner->target->go_minor > ABI0_LAST && code_prologue(code, &offset))
		return planner_refuse(planner, rule, code, 0,
				      code->arm64 ? "neither a stack check nor a frame"
						  : "no `push %rbp` behind a stack check");
	return planner_add(planner, rule, code, offset, NULL);
}

static bool contradicts(int64_t seen, int8_t expected)
{
	return seen != CONSTANT_UNKNOWN && expected != ANY_STATUS && seen != expected;
}

/* Checks that the statuses visible at the call match the rule. At least one must be visible. */
static int check_statuses(const struct planner *planner, const struct site_rule *rule,
			  const struct code *code, const struct call_site *call)
{
	bool expects = rule->old_status != ANY_STATUS || rule->new_status != ANY_STATUS;
	bool sees = (rule->old_status != ANY_STATUS && call->args[1] != CONSTANT_UNKNOWN) ||
		    (rule->new_status != ANY_STATUS && call->args[2] != CONSTANT_UNKNOWN);
	char why[128];

	if ((!expects || sees) && !contradicts(call->args[1], rule->old_status) &&
	    !contradicts(call->args[2], rule->new_status))
		return 0;
	snprintf(why, sizeof(why), "it changes the status from %lld to %lld, expected %d to %d",
		 (long long)call->args[1], (long long)call->args[2], rule->old_status, rule->new_status);
	return planner_refuse(planner, rule, code, call->offset, why);
}

static bool is_chosen(const struct site_rule *rule, int i)
{
	return rule->which == ALL_MATCHES || rule->which == i;
}

static bool site_rule_has_statuses(const struct site_rule *rule, const struct call_site *call)
{
	return (rule->old_status == ANY_STATUS || call->args[1] == rule->old_status) &&
	       (rule->new_status == ANY_STATUS || call->args[2] == rule->new_status);
}

static int plan_calls(struct planner *planner, const struct site_rule *rule, const struct code *code)
{
	unsigned before = planner->plan->n;
	struct call_site calls[MAX_MATCHES];
	struct code callee;
	int n = 0, rc;

	if (target_code(planner->target, rule->callee, &callee))
		n = 0;
	else if (planner->target->go_minor <= ABI0_LAST)
		n = code_stack_calls(code, callee.address, calls, MAX_MATCHES);
	else
		n = code_calls(code, callee.address, calls, MAX_MATCHES);
	rc = planner_check_total(planner, rule, code, n, "calls");
	for (int i = 0; rc == 0 && i < n; i++) {
		if (rule->which == BY_STATUS ? !site_rule_has_statuses(rule, &calls[i]) : !is_chosen(rule, i))
			continue;
		rc = check_statuses(planner, rule, code, &calls[i]);
		if (rc == 0)
			rc = planner_add(planner, rule, code, calls[i].offset, NULL);
	}
	if (rc == 0 && planner->plan->n == before)
		rc = planner_refuse(planner, rule, code, 0, "no call changes a status as expected");
	return rc;
}

/*
 * If gcPaceScavenger is inlined in gcControllerCommit, the goal is still in its register right after
 * `trigger, heapGoal := gcController.trigger()`.
 */
static int plan_heap_goal(struct planner *planner, const struct site_rule *rule, const struct code *code)
{
	struct call_results results = {.words = 1u << 1};
	struct code trigger;
	size_t offset;

	if (target_code(planner->target, "runtime.(*gcControllerState).trigger", &trigger))
		return -ENOENT;
	results.callee = trigger.address;
	return code_jump_after_call(code, &results, &offset) ||
	       planner_add(planner, rule, code, offset, NULL);
}

/* Probes the calls that a copy of the rule's function makes. */
static int plan_calls_in_copy(struct planner *planner, const struct site_rule *rule, const struct code *code,
			      const char *host)
{
	struct call_site calls[MAX_MATCHES];
	unsigned before = planner->plan->n;
	struct logical_place place;
	struct code callee;
	int n = 0, rc = 0;

	if (target_code(planner->target, rule->callee, &callee) == 0)
		n = code_calls(code, callee.address, calls, MAX_MATCHES);
	for (int i = 0; rc == 0 && i < n && i < MAX_MATCHES; i++) {
		target_logical_place(planner->target, code->address + calls[i].offset, &place);
		if (place.n && strcmp(place.frames[0].name, rule->function) == 0)
			rc = planner_add(planner, rule, code, calls[i].offset, NULL);
	}
	if (rc == 0 && planner->plan->n == before &&
	    (rule->site != SITE_HEAP_GOAL || plan_heap_goal(planner, rule, code)))
		rc = planner_refuse_copy(planner, rule, host);
	return rc;
}

static int plan_checks(struct planner *planner, const struct site_rule *rule, const struct code *code)
{
	struct flag_check checks[MAX_MATCHES];
	int n = planner_checks(planner, rule, code, checks), line = -1, rc = n < 0 ? n : 0;

	for (int i = 0; rc == 0 && i < n; i++) {
		line += i == 0 || checks[i].line != checks[i - 1].line;
		if (is_chosen(rule, line))
			rc = planner_add(planner, rule, code, checks[i].offset, NULL);
	}
	return rc;
}

static int plan_guards(struct planner *planner, const struct site_rule *rule, const struct code *code)
{
	size_t offsets[MAX_MATCHES];
	struct code callee;
	int n = 0, rc;

	if (target_code(planner->target, rule->callee, &callee) == 0)
		n = code_guards(code, callee.address, rule->event, offsets, MAX_MATCHES);
	rc = planner_check_total(planner, rule, code, n, "jumps around a call");
	for (int i = 0; rc == 0 && i < n; i++) {
		if (is_chosen(rule, i))
			rc = planner_add(planner, rule, code, offsets[i], NULL);
	}
	return rc;
}

static int plan_trace_guards(struct planner *planner, const struct site_rule *rule, const struct code *code)
{
	struct trace_callee callee_of_trace = {.event = rule->event};
	struct code own, any;
	size_t offsets[MAX_MATCHES];
	int n, rc;

	if (target_code(planner->target, rule->callee, &own) == 0)
		callee_of_trace.own = own.address;
	if (target_code(planner->target, "runtime.traceEvent", &any) == 0)
		callee_of_trace.any = any.address;
	n = code_trace_guards(code, &callee_of_trace, offsets, MAX_MATCHES);
	rc = planner_check_total(planner, rule, code, n, "calls of the tracer");
	for (int i = 0; rc == 0 && i < n; i++) {
		if (is_chosen(rule, i))
			rc = planner_add(planner, rule, code, offsets[i], NULL);
	}
	return rc;
}

/* Probes the rule's function in its own code. */
static int plan_own(struct planner *planner, const struct site_rule *rule, const struct code *code)
{
	bool by_status = planner->target->go_minor >= FIRST_COPIES && rule->callee &&
			 strcmp(rule->callee, "runtime.casgstatus") == 0;
	int rc;

	switch (rule->place) {
	case PLACE_PROLOGUE:
		return plan_prologue(planner, rule, code);
	case PLACE_CALL:
		if (by_status)
			return plan_changes(planner, rule, code, false);
		rc = plan_calls(planner, rule, code);
		return rc == -ENOTSUP && rule->site == SITE_HEAP_GOAL &&
				       plan_heap_goal(planner, rule, code) == 0
			       ? 0
			       : rc;
	case PLACE_GUARD:
		return plan_guards(planner, rule, code);
	case PLACE_TRACE_GUARD:
		return plan_trace_guards(planner, rule, code);
	case PLACE_REGION:
		return plan_regions(planner, rule, code);
	default:
		return plan_checks(planner, rule, code);
	}
}

/* Probes a copy of the rule's function in the code of another function. */
static int plan_in_host(struct planner *planner, const struct site_rule *rule, const struct code *code,
			const char *host)
{
	if (planner->target->go_minor < FIRST_COPIES || code->arm64)
		return planner_refuse_copy(planner, rule, host);
	if (rule->place == PLACE_CALL && strcmp(rule->callee, "runtime.casgstatus") == 0)
		return plan_changes(planner, rule, code, true);
	if (rule->place == PLACE_CALL)
		return plan_calls_in_copy(planner, rule, code, host);
	if (rule->place == PLACE_CHECK)
		return plan_checks(planner, rule, code);
	if (rule->place == PLACE_PROLOGUE)
		return plan_copy(planner, rule, code, host);
	return planner_refuse_copy(planner, rule, host);
}

static int plan_copies(struct planner *planner, const struct site_rule *rule)
{
	struct copy_search search = copies_begin(planner->target, rule->function);
	uint64_t entry, end;
	const char *host;
	struct code code;
	int rc = 0;

	while (rc == 0 && copies_next(planner->target, &search, &entry, &end, &host)) {
		if (target_code_at(planner->target, entry, end, &code))
			return planner_refuse_copy(planner, rule, host);
		rc = plan_in_host(planner, rule, &code, host);
	}
	return rc;
}

static bool site_rule_applies(const struct target *target, const struct site_rule *rule)
{
	return target->go_minor >= rule->first && target->go_minor <= rule->last &&
	       (rule->condition != SITE_IF_CGO || target->cgo) &&
	       (rule->condition != SITE_IF_ALLOC || target->alloc);
}

static int plan_rule(struct planner *planner, const struct site_rule *rule)
{
	const struct target *target = planner->target;
	bool has_copies = copies_exist(target, rule->function);
	struct code code;
	int rc = 0;

	if (target_code(target, rule->function, &code) == 0)
		rc = plan_own(planner, rule, &code);
	else if (!has_copies && rule->condition != SITE_IF_PRESENT && !target->image->is_plugin)
		rc = error_set(planner->err, ENOTSUP, "%s: %s is not in its function table (%s)",
			       target->image->label, rule->function, target->go_version);
	return rc == 0 && has_copies ? plan_copies(planner, rule) : rc;
}

/* If reentersyscall is inlined in cgocallbackg, its change of the status is left. */
static int plan_cgo_return(struct planner *planner, const struct site_rule *rule)
{
	struct site_rule change = *rule;
	struct code code;

	change.function = rule->callee;
	change.old_status = G_STATUS_RUNNING;
	change.new_status = G_STATUS_SYSCALL;
	return target_code(planner->target, rule->function, &code) ||
	       plan_changes(planner, &change, &code, true);
}

/*
 * A rule's events may be recognisable by other code than the rule says, and a trace can do without some.
 * Returns true if either is so.
 */
static bool do_without(struct planner *planner, const struct site_rule *rule)
{
	if (rule->condition == SITE_IF_ALLOC) {
		/* Spans without an end, or ends without a beginning, would be worse than none. */
		target_plan_drop(planner->plan, SITE_ALLOC_SPAN);
		target_plan_drop(planner->plan, SITE_ALLOC_SPAN_FREE);
		target_plan_drop(planner->plan, SITE_ALLOC_STACK);
		target_plan_drop(planner->plan, SITE_ALLOC_STACK_FREE);
		planner->without_alloc = true;
		planner_leave_out(planner, "spans and stacks (--alloc)", "inlined (PGO)");
		return true;
	}
	if (rule->site == SITE_CGO_RETURN)
		return plan_cgo_return(planner, rule) == 0;
	if (rule->site != SITE_HEAP_GOAL)
		return false;
	target_plan_drop(planner->plan, SITE_HEAP_GOAL);
	planner_leave_out(planner, "the heap's goal", "inlined (PGO)");
	return true;
}

static int plan_rules(struct planner *planner, const struct site_rule *rules, unsigned n)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < n; i++) {
		if (!site_rule_applies(planner->target, &rules[i]) ||
		    (rules[i].condition == SITE_IF_ALLOC && planner->without_alloc))
			continue;
		rc = plan_rule(planner, &rules[i]);
		if (rc == -ENOTSUP && planner->target->go_minor >= FIRST_PGO &&
		    do_without(planner, &rules[i]))
			rc = 0;
	}
	return rc;
}

static bool has_site(const struct probe_plan *plan, uint8_t site)
{
	for (unsigned i = 0; i < plan->n; i++) {
		if (plan->probes[i].site == site)
			return true;
	}
	return false;
}

int target_plan(const struct target *target, struct probe_plan *plan, struct error *err)
{
	struct planner planner = {.target = target, .plan = plan, .err = err};
	bool old = target->go_minor <= ABI0_LAST;
	const struct site_rule *rules = old ? abi0_site_rules : site_rules;
	unsigned n = old ? abi0_site_rule_count : site_rule_count;
	struct code code;
	int rc;

	if (target->remote)
		return target->remote->plan(target, plan, err);
	*plan = (struct probe_plan){.n = 0};
	rc = plan_rules(&planner, rules, n);
	if (rc == 0 && target->go_minor >= FIRST_COPIES)
		rc = check_status_changes(target, err);
	if (rc == 0 && has_site(plan, SITE_LABELS) && labels_are_known(target))
		plan->g_labels = target->image->release->layout.runtime.g_labels;
	plan->bubbles = rc == 0 && target_code(target, "internal/synctest.Run", &code) == 0;
	return rc;
}

void target_plan_drop(struct probe_plan *plan, uint8_t site)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < plan->n; i++) {
		if (plan->probes[i].site != site)
			plan->probes[kept++] = plan->probes[i];
	}
	plan->n = kept;
	if (site == SITE_LABELS)
		plan->g_labels = 0;
}
