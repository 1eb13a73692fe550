/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/planner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/memory.h"

/* Formats the bytes at the offset for messages. */
static const char *show_bytes(const struct code *code, size_t offset, char *text, size_t size)
{
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = offset; i < code->size && i < offset + 12 && at + 4 < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%02x", at ? " " : "", code->bytes[i]);
	return text;
}

int planner_refuse(const struct planner *planner, const struct site_rule *rule, const struct code *code,
		   size_t offset, const char *why)
{
	const struct target *target = planner->target;
	struct code code_of_check;
	uint64_t flag;
	char bytes[64];

	/* It makes the checks whether the tracer is on, and is inlined everywhere unless inlining is off. */
	if (target_code(target, "runtime.traceEnabled", &code_of_check) == 0 &&
	    target_trace_flag(target, &flag))
		return error_set(
			planner->err, ENOTSUP,
			"%s: its runtime was built without optimisation (-gcflags=all=-l or -N, %s), and "
			"in this form gotrace cannot probe %s; build it with optimisation, or trace it "
			"as threads (--as c)",
			target->image->label, target->go_version, rule->function);
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
		return planner_refuse(planner, rule, code, offset,
				      "the code in memory differs from that of the executable");
	return 0;
}

/* The function that has the code: the rule's, or one that contains a copy of it. */
static const char *host_of(const struct target *target, const struct site_rule *rule, const struct code *code)
{
	uint64_t entry, end;
	const char *name;
	size_t index;

	if (functab_lookup(target->functab, code->address + target->bias, &index) == 0 &&
	    functab_entry(target->functab, index, &entry, &end, &name) == 0)
		return name;
	return rule->function;
}

int planner_add(struct planner *planner, const struct site_rule *rule, const struct code *code, size_t offset,
		const uint64_t *cookie)
{
	const struct target *target = planner->target;
	struct probe_plan *plan = planner->plan;
	struct probe *probe = &plan->probes[plan->n];
	struct probe_insn insn;
	int rc = 0;

	if (plan->n == MAX_PROBES)
		return planner_refuse(planner, rule, code, offset, "too many places");
	if (code_probe_insn(code, offset, &insn))
		return planner_refuse(planner, rule, code, offset,
				      "not an instruction that the kernel emulates");
	*probe =
		(struct probe){.site = rule->site, .is_copy = cookie != NULL, .cookie = cookie ? *cookie : 0};
	if (!image_code_offset(&target->image->elf, code->address + offset, &probe->file_offset))
		return planner_refuse(planner, rule, code, offset, "not in an executable segment");
	if (target->pid) {
		probe->address = code->address + offset + target->bias;
		rc = compare_live(planner, rule, code, offset, insn.length);
	}
	snprintf(probe->name, sizeof(probe->name), "%s+0x%zx %s", host_of(target, rule, code), offset,
		 insn.kind);
	if (rc == 0)
		plan->n++;
	return rc;
}

int planner_refuse_copy(const struct planner *planner, const struct site_rule *rule, const char *host)
{
	const struct target *target = planner->target;

	return error_set(
		planner->err, ENOTSUP,
		"%s: the compiler inlined %s into %s (%s, profile-guided optimisation), where gotrace "
		"cannot probe it; build it with -pgo=off, or trace it as threads (--as c)",
		target->image->label, rule->function, host, target->go_version);
}

void planner_leave_out(struct planner *planner, const char *what, const char *why)
{
	struct probe_plan *plan = planner->plan;

	if (!plan->left_out[0])
		snprintf(plan->left_out, sizeof(plan->left_out), "%s: %s", what, why);
}

int planner_check_total(const struct planner *planner, const struct site_rule *rule, const struct code *code,
			int n, const char *what)
{
	char why[128];

	if (n < 0)
		return planner_refuse(planner, rule, code, 0, "an instruction that gotrace does not know");
	if (n > MAX_MATCHES || n < 1 || (rule->total && n != rule->total)) {
		snprintf(why, sizeof(why), "%d %s, expected %s%d", n, what, rule->total ? "" : "at least ",
			 rule->total ? rule->total : 1);
		return planner_refuse(planner, rule, code, 0, why);
	}
	return 0;
}

/* What a check consists of, inlined in the function that makes it (Go 1.22 to 1.27 runtime/traceruntime.go).
 */
static bool is_part_of_check(const char *function)
{
	static const char *const parts[] = {"runtime.traceAcquire", "runtime.traceEnabled",
					    "runtime.traceAllocFreeEnabled", "runtime.traceShuttingDown"};

	for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(parts[i], function) == 0)
			return true;
	}
	return false;
}

/* Whether the function itself makes the check at the address, and in which line. */
static bool makes_check(const struct target *target, const char *function, uint64_t address, size_t *line)
{
	struct logical_place place;
	unsigned i = 0;

	target_logical_place(target, address, &place);
	if (!place.n)
		return true;
	while (i + 1 < place.n && is_part_of_check(place.frames[i].name))
		i++;
	*line = place.frames[i].line;
	return strcmp(place.frames[i].name, function) == 0;
}

static int compare_lines(const void *a, const void *b)
{
	size_t left = ((const struct flag_check *)a)->line, right = ((const struct flag_check *)b)->line;

	return (left > right) - (left < right);
}

/* Finds calls of one of the functions that check the flag. Returns n plus their number or a negative errno.
 */
static int find_calls_of(const struct target *target, const char *callee, const struct code *code,
			 size_t offsets[MAX_MATCHES], int n)
{
	struct call_site calls[MAX_MATCHES];
	struct code function;
	int found;

	if (target_code(target, callee, &function))
		return n;
	found = code_calls(code, function.address, calls, MAX_MATCHES - n);
	for (int i = 0; i < found && n + i < MAX_MATCHES; i++)
		offsets[n + i] = calls[i].offset;
	return found < 0 ? found : n + found;
}

/*
 * Finds the instructions that check whether the tracer is on: jumps, and calls where the check is not
 * inlined, as without optimisation (-gcflags=all=-l), or in a function that inlining by a profile has made
 * big (from 5,000 nodes on only the smallest functions are inlined, cmd/compile/internal/inline/inl.go).
 * Returns their number or a negative errno.
 */
static int find_checks(struct planner *planner, const struct site_rule *rule, const struct code *code,
		       size_t offsets[MAX_MATCHES])
{
	static const char *const callees[][3] = {{"runtime.traceAcquire", "runtime.traceEnabled"},
						 {"runtime.traceAllocFreeEnabled"}};
	bool memory = rule->place == PLACE_ALLOC_CHECK;
	int n = 0;

	if (planner->flag)
		n = code_flag_checks(code, planner->flag + (memory ? ALLOC_FLAG : 0), offsets, MAX_MATCHES);
	for (unsigned i = 0; n >= 0 && n < MAX_MATCHES && callees[memory][i]; i++)
		n = find_calls_of(planner->target, callees[memory][i], code, offsets, n);
	return n;
}

/* Lists the checks in order of their lines. Returns their number or a negative errno. */
static int list_checks(struct planner *planner, const struct site_rule *rule, const struct code *code,
		       struct flag_check *checks)
{
	size_t offsets[MAX_MATCHES];
	int n = find_checks(planner, rule, code, offsets), found = 0;

	for (int i = 0; i < n && i < MAX_MATCHES; i++) {
		struct flag_check check = {.offset = offsets[i], .line = offsets[i]};

		if (makes_check(planner->target, rule->function, code->address + offsets[i], &check.line))
			checks[found++] = check;
	}
	qsort(checks, (size_t)found, sizeof(*checks), compare_lines);
	return n < 0 ? n : found;
}

int planner_checks(struct planner *planner, const struct site_rule *rule, const struct code *code,
		   struct flag_check checks[MAX_MATCHES])
{
	int n, lines = 0, rc;

	/* Without it, all checks are calls. */
	if (!planner->flag)
		target_trace_flag(planner->target, &planner->flag);
	n = list_checks(planner, rule, code, checks);
	for (int i = 0; i < n; i++)
		lines += i == 0 || checks[i].line != checks[i - 1].line;
	rc = planner_check_total(planner, rule, code, n < 0 ? n : lines, "checks whether tracing is on");
	return rc ? rc : n;
}
