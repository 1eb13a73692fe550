/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Turns the release's rules into probes in this binary, each verified by its bytes. */
#include "target/private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/labels.h"
#include "target/memory.h"
#include "isa/regions.h"
#include "target/sites.h"
#include "target/remote.h"

#define MAX_MATCHES 16

struct planner {
	const struct target *target;
	struct probe_plan *plan;
	struct error *err;
	uint64_t flag; /* address of the flag of the runtime's tracer; 0 = not looked up yet */
};

/* Formats the bytes at the offset for messages. */
static const char *show_bytes(const struct code *code, size_t offset, char *text, size_t size)
{
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = offset; i < code->size && i < offset + 12 && at + 4 < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%02x", at ? " " : "", code->bytes[i]);
	return text;
}

static int refuse(const struct planner *planner, const struct site_rule *rule, const struct code *code,
		  size_t offset, const char *why)
{
	const struct target *target = planner->target;
	char bytes[64];

	return error_set(planner->err, ENOTSUP, "%s: cannot probe %s+0x%zx (%s): %s; bytes there: %s",
			 target->image->label, rule->function, offset, target->go_version, why,
			 show_bytes(code, offset, bytes, sizeof(bytes)));
}

/* Checks that the instruction in memory is the one in the file, or a breakpoint set by another tracer. */
static int compare_live(const struct planner *planner, const struct site_rule *rule, const struct code *code,
			size_t offset, unsigned length)
{
	const struct target *target = planner->target;
	uint8_t live[16];
	int rc = memory_read(target->pid, code->address + offset + target->bias, live, length);

	if (rc == -ESRCH)
		return error_set(planner->err, ESRCH, "%s is gone", target->image->label);
	if (rc)
		return error_set(planner->err, -rc, "%s: cannot read the code of %s: %s",
				 target->image->label, rule->function, strerror(-rc));
	if (!code_is_breakpoint(code, live) && memcmp(live, code->bytes + offset, length))
		return refuse(planner, rule, code, offset,
			      "the code in memory differs from that of the executable");
	return 0;
}

static int add_probe(struct planner *planner, const struct site_rule *rule, const struct code *code,
		     size_t offset)
{
	const struct target *target = planner->target;
	struct probe_plan *plan = planner->plan;
	struct probe *probe = &plan->probes[plan->n];
	struct probe_insn insn;
	int rc = 0;

	if (plan->n == MAX_PROBES)
		return refuse(planner, rule, code, offset, "too many places");
	if (code_probe_insn(code, offset, &insn))
		return refuse(planner, rule, code, offset, "not an instruction that the kernel emulates");
	*probe = (struct probe){.site = rule->site};
	if (!image_code_offset(&target->image->elf, code->address + offset, &probe->file_offset))
		return refuse(planner, rule, code, offset, "not in an executable segment");
	if (target->pid) {
		probe->address = code->address + offset + target->bias;
		rc = compare_live(planner, rule, code, offset, insn.length);
	}
	snprintf(probe->name, sizeof(probe->name), "%s+0x%zx %s", rule->function, offset, insn.kind);
	if (rc == 0)
		plan->n++;
	return rc;
}

static int plan_prologue(struct planner *planner, const struct site_rule *rule, const struct code *code)
{
	size_t offset;

	if (planner->target->go_minor <= ABI0_LAST && code_stack_check(code, &offset))
		return refuse(planner, rule, code, 0, "no stack check");
	if (planner->target->go_minor > ABI0_LAST && code_prologue(code, &offset))
		return refuse(planner, rule, code, 0,
			      code->arm64 ? "neither a stack check nor a frame"
					  : "no `push %rbp` behind a stack check");
	return add_probe(planner, rule, code, offset);
}

/* Checks that the number of matches is the one in known releases. If it differs, the code has changed. */
static int check_total(const struct planner *planner, const struct site_rule *rule, const struct code *code,
		       int n, const char *what)
{
	char why[128];

	if (n < 0)
		return refuse(planner, rule, code, 0, "an instruction that gotrace does not know");
	if (n > MAX_MATCHES || n < 1 || (rule->total && n != rule->total)) {
		snprintf(why, sizeof(why), "%d %s, expected %s%d", n, what, rule->total ? "" : "at least ",
			 rule->total ? rule->total : 1);
		return refuse(planner, rule, code, 0, why);
	}
	return 0;
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
	return refuse(planner, rule, code, call->offset, why);
}

static bool is_chosen(const struct site_rule *rule, int i)
{
	return rule->which == ALL_MATCHES || rule->which == i;
}

static bool has_statuses(const struct site_rule *rule, const struct call_site *call)
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
	rc = check_total(planner, rule, code, n, "calls");
	for (int i = 0; rc == 0 && i < n; i++) {
		if (rule->which == BY_STATUS ? !has_statuses(rule, &calls[i]) : !is_chosen(rule, i))
			continue;
		rc = check_statuses(planner, rule, code, &calls[i]);
		if (rc == 0)
			rc = add_probe(planner, rule, code, calls[i].offset);
	}
	if (rc == 0 && planner->plan->n == before)
		rc = refuse(planner, rule, code, 0, "no call changes a status as expected");
	return rc;
}

static int plan_check(struct planner *planner, const struct site_rule *rule, const struct code *code)
{
	size_t offsets[MAX_MATCHES];
	int n, rc;

	if (!planner->flag && target_trace_flag(planner->target, &planner->flag))
		return refuse(planner, rule, code, 0, "runtime.goexit1 does not check whether tracing is on");
	n = code_flag_checks(code, planner->flag + (rule->place == PLACE_ALLOC_CHECK ? ALLOC_FLAG : 0),
			     offsets, MAX_MATCHES);
	rc = check_total(planner, rule, code, n, "checks whether tracing is on");
	for (int i = 0; rc == 0 && i < n; i++) {
		if (is_chosen(rule, i))
			rc = add_probe(planner, rule, code, offsets[i]);
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
	rc = check_total(planner, rule, code, n, "jumps around a call");
	for (int i = 0; rc == 0 && i < n; i++) {
		if (is_chosen(rule, i))
			rc = add_probe(planner, rule, code, offsets[i]);
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
	rc = check_total(planner, rule, code, n, "calls of the tracer");
	for (int i = 0; rc == 0 && i < n; i++) {
		if (is_chosen(rule, i))
			rc = add_probe(planner, rule, code, offsets[i]);
	}
	return rc;
}

/*
 * Omits StartRegion from the plan: regions without an end, or ends without a beginning, would be worse than
 * none.
 */
static int leave_regions_out(struct planner *planner, unsigned n, const char *why)
{
	struct probe_plan *plan = planner->plan;

	plan->n = n;
	plan->task_key_type = plan->task_type = 0;
	snprintf(plan->left_out, sizeof(plan->left_out), "regions of trace.StartRegion: %s", why);
	return 0;
}

/* Adds a region's end at an address in any function. */
static int add_region_end(struct planner *planner, uint64_t address)
{
	const struct target *target = planner->target;
	struct site_rule rule = {.site = SITE_REGION_STOP};
	struct code code;
	uint64_t entry, end;
	size_t index;

	if (functab_lookup(target->functab, address + target->bias, &index) ||
	    functab_entry(target->functab, index, &entry, &end, &rule.function) ||
	    target_code_at(target, entry, end, &code))
		return -ENOENT;
	return add_probe(planner, &rule, &code, (size_t)(address - code.address));
}

static int find_region_ends(struct planner *planner, const struct code *text, const struct code *start,
			    uint64_t noop, unsigned before)
{
	size_t at = 0, use, jump;
	enum region_use kind;
	int rc = 0;

	while (rc == 0 && (kind = region_next_use(text, noop, &at, &use, &jump)) != REGION_USE_NONE) {
		uint64_t address = text->address + use;

		if (kind == REGION_USE_OTHER && address - start->address >= start->size)
			return leave_regions_out(planner, before, "a call of it was inlined (PGO)");
		if (kind == REGION_USE_END && planner->plan->n == MAX_PROBES)
			return leave_regions_out(planner, before, "it is used in too many places");
		if (kind == REGION_USE_END)
			rc = add_region_end(planner, text->address + jump);
	}
	return rc == -ENOENT ? leave_regions_out(planner, before, "one of its ends is in no function") : rc;
}

/*
 * Finds all copies of (*Region).End in the program, inlined or not. Reads all code for this and releases it
 * afterwards.
 */
static int plan_region_ends(struct planner *planner, const struct code *start, uint64_t noop, unsigned before)
{
	struct target_image *image = planner->target->image;
	struct code text = {.address = image->module.text,
			    .size = image->module.etext - image->module.text,
			    .arm64 = image->elf.arm64};
	uint64_t offset;
	int rc;

	text.bytes = image_bytes(&image->elf, text.address, text.size);
	if (!text.bytes || !image_code_offset(&image->elf, text.address, &offset))
		return leave_regions_out(planner, before, "the code is not contiguous");
	if (load_all_code(&image->file))
		return leave_regions_out(planner, before, "the code cannot be read");
	rc = find_region_ends(planner, &text, start, noop, before);
	load_drop(&image->file, offset, text.size);
	return rc;
}

static int plan_regions(struct planner *planner, const struct site_rule *rule, const struct code *code)
{
	unsigned before = planner->plan->n;
	struct start_region start;
	int rc;

	if (region_start_code(code, &start) || start.equal_is_on != (planner->target->go_minor <= 18))
		return leave_regions_out(planner, before, "it was compiled in an unusual way");
	rc = add_probe(planner, rule, code, start.jump);
	if (rc)
		return rc;
	planner->plan->task_key_type = start.task_key_type;
	planner->plan->task_type = start.task_type;
	planner->plan->region_flag_register = start.flag_register;
	return plan_region_ends(planner, code, start.noop, before);
}

static int plan_rule(struct planner *planner, const struct site_rule *rule)
{
	const struct target *target = planner->target;
	struct code code;

	if (target->go_minor < rule->first || target->go_minor > rule->last ||
	    (rule->condition == SITE_IF_CGO && !target->cgo) ||
	    (rule->condition == SITE_IF_ALLOC && !target->alloc))
		return 0;
	if (target_code(target, rule->function, &code)) {
		if (rule->condition == SITE_IF_PRESENT)
			return 0;
		return error_set(planner->err, ENOTSUP, "%s: %s is not in its function table (%s)",
				 target->image->label, rule->function, target->go_version);
	}
	switch (rule->place) {
	case PLACE_PROLOGUE:
		return plan_prologue(planner, rule, &code);
	case PLACE_CALL:
		return plan_calls(planner, rule, &code);
	case PLACE_GUARD:
		return plan_guards(planner, rule, &code);
	case PLACE_TRACE_GUARD:
		return plan_trace_guards(planner, rule, &code);
	case PLACE_REGION:
		return plan_regions(planner, rule, &code);
	default:
		return plan_check(planner, rule, &code);
	}
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
	int rc = 0;

	if (target->remote)
		return target->remote->plan(target, plan, err);
	*plan = (struct probe_plan){.n = 0};
	for (unsigned i = 0; rc == 0 && i < n; i++)
		rc = plan_rule(&planner, &rules[i]);
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
