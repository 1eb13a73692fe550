/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Changes of a goroutine's status. runtime.casgstatus(gp AX, old BX, new CX) makes them, but for a few in the
 * table below. A profile lets the compiler inline it (it costs less than the 2,000 nodes of a hot call,
 * cmd/compile/internal/inline/inl.go), which leaves a compare-and-swap in the caller. Which function changes
 * which status to which is the same in every build of a release.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bpf/copy_place.h"
#include "code/isa/memory_jumps.h"
#include "target/planner.h"
#include "target/stack.h"

/* The functions that change a status on behalf of their callers, with the same arguments. */
static const char *const changing[] = {"runtime.casgstatus", "runtime.casGToPreemptScan"};
enum { CHANGING = sizeof(changing) / sizeof(changing[0]) };

/* A place that changes a status: a call of casgstatus, or a compare-and-swap. */
struct status_write {
	size_t offset;        /* of the instruction to probe; 0: there is none */
	bool is_exchange;     /* the instruction is the jump behind the exchange */
	uint8_t reg;          /* holds g */
	int64_t old, new;     /* or CONSTANT_UNKNOWN */
	const char *function; /* makes the change; NULL: the exchange of casgstatus itself */
	uint64_t pc;          /* in that function, at the change; in the process */
};

/* Returns the index of the function that makes the change: the caller of casgstatus, if that is inlined. */
static unsigned changer(const struct logical_place *place)
{
	unsigned i = 0;

	for (unsigned j = 0; j < CHANGING; j++) {
		int index = logical_index(place, changing[j]);

		if (index >= 0)
			return (unsigned)index + 1;
	}
	/* The compare-and-swap is a method that is always inlined. */
	while (i + 1 < place->n && strstr(place->frames[i].name, "CompareAndSwap"))
		i++;
	return i;
}

static void set_changer(const struct target *target, const struct code *code, size_t offset,
			struct status_write *change)
{
	struct logical_place place;
	unsigned i;

	target_logical_place(target, code->address + offset, &place);
	i = changer(&place);
	change->function = i < place.n ? place.frames[i].name : NULL;
	change->pc = i < place.n ? place.frames[i].pc : 0;
}

static int list_calls(const struct target *target, const char *function, const struct code *code,
		      struct status_write *changes, int max)
{
	struct call_site calls[MAX_MATCHES];
	struct code callee;
	int n = 0;

	if (target_code(target, function, &callee) == 0)
		n = code_calls(code, callee.address, calls, max);
	for (int i = 0; i < n && i < max; i++) {
		changes[i] = (struct status_write){
			.offset = calls[i].offset, .old = calls[i].args[1], .new = calls[i].args[2]};
		set_changer(target, code, calls[i].offset, &changes[i]);
	}
	return n;
}

static int list_exchanges(const struct target *target, const struct code *code, struct status_write *changes,
			  int max)
{
	struct exchange exchanges[MAX_MATCHES];
	int n = code_exchanges(code, (int32_t)target->layout.g_status, exchanges, max);

	if (n == -ENOTSUP)
		return 0;
	for (int i = 0; i < n && i < max; i++) {
		changes[i] = (struct status_write){
			.offset = exchanges[i].jump,
			.is_exchange = true,
			.reg = exchanges[i].base,
			.old = exchanges[i].old,
			.new = exchanges[i].new,
		};
		set_changer(target, code, exchanges[i].offset, &changes[i]);
	}
	return n;
}

/* Lists the changes in the code. Returns their number, at most MAX_MATCHES, or a negative errno. */
static int list_changes(const struct target *target, const struct code *code, struct status_write *changes)
{
	int n = list_exchanges(target, code, changes, MAX_MATCHES);

	for (int i = 0; n >= 0 && n <= MAX_MATCHES && i < CHANGING; i++) {
		int calls = list_calls(target, changing[i], code, changes + n, MAX_MATCHES - n);

		n = calls < 0 ? calls : n + calls;
	}
	return n > MAX_MATCHES ? -E2BIG : n;
}

static bool may_be(int64_t seen, int expected)
{
	return seen == CONSTANT_UNKNOWN || expected == ANY_STATUS || seen == expected;
}

/* At least one of the statuses must be visible, and none may differ. */
static bool status_write_has_statuses(const struct status_write *change, int old, int new)
{
	bool sees = (old != ANY_STATUS && change->old == old) || (new != ANY_STATUS && change->new == new);

	return sees && may_be(change->old, old) && may_be(change->new, new);
}

/* Whether the BPF programs can read the register (reg_offset() in bpf/regs.bpf.h). */
static bool is_readable(uint8_t reg)
{
	return reg < 14 && reg != 4 && reg != 5;
}

static int add_change(struct planner *planner, const struct site_rule *rule, const struct code *code,
		      const struct status_write *change, bool is_copy)
{
	uint64_t probed = code->address + change->offset + planner->target->bias;
	int64_t old = change->old == CONSTANT_UNKNOWN ? rule->old_status : change->old;
	/* A return address is behind its call. */
	uint64_t cookie = change->reg | (uint64_t)(uint32_t)(change->pc + 1 - probed) << COPY_UPPER;

	if (change->is_exchange)
		cookie |= COPY_IF_CHANGED | ((uint64_t)old & COPY_OLD) << COPY_OLD_SHIFT;

	if (!change->offset || !is_readable(change->reg))
		return planner_refuse(planner, rule, code, 0,
				      "the exchange of the status has an unusual form");
	return planner_add(planner, rule, code, change->offset,
			   is_copy || change->is_exchange ? &cookie : NULL);
}

int plan_changes(struct planner *planner, const struct site_rule *rule, const struct code *code, bool is_copy)
{
	struct status_write changes[MAX_MATCHES];
	int n = list_changes(planner->target, code, changes), rc = 0;
	unsigned before = planner->plan->n;

	if (n < 0)
		return planner_refuse(planner, rule, code, 0, "an instruction that gotrace does not know");
	for (int i = 0; rc == 0 && i < n; i++) {
		if (changes[i].function && strcmp(changes[i].function, rule->function) == 0 &&
		    status_write_has_statuses(&changes[i], rule->old_status, rule->new_status))
			rc = add_change(planner, rule, code, &changes[i], is_copy);
	}
	if (rc == 0 && planner->plan->n == before)
		rc = planner_refuse(planner, rule, code, 0, "no call changes a status as expected");
	return rc;
}

/* --- all changes --- */

/*
 * Which function changes which status to which: in every build of Go 1.21 to 1.27, with and without
 * profiles. Closures count as the function that they are in. Rules of sites.c cover those that are events.
 */
static const struct {
	const char *function; /* without package and receiver; NULL: any, and both statuses are seen */
	int16_t old, new;     /* or ANY_STATUS */
	uint8_t first, last;  /* minor releases */
} known_changes[] = {
	{"casgstatus", ANY_STATUS, ANY_STATUS, 21, NEWEST},
	{"castogscanstatus", ANY_STATUS, ANY_STATUS, 21, NEWEST},
	{"casfrom_Gscanstatus", ANY_STATUS, ANY_STATUS, 21, NEWEST},
	{"preemptPark", G_STATUS_RUNNING, G_STATUS_SCAN | G_STATUS_PREEMPTED, 21, NEWEST},
	{"casGFromPreempted", G_STATUS_PREEMPTED, G_STATUS_WAITING, 21, NEWEST},

	{"newproc1", G_STATUS_IDLE, G_STATUS_DEAD, 21, NEWEST},
	{"newproc1", G_STATUS_DEAD, ANY_STATUS, 21, NEWEST},
	{"ready", G_STATUS_WAITING, G_STATUS_RUNNABLE, 21, NEWEST},
	{"injectglist", G_STATUS_WAITING, G_STATUS_RUNNABLE, 21, NEWEST},
	{"findRunnable", G_STATUS_WAITING, G_STATUS_RUNNABLE, 21, NEWEST},
	{"findRunnableGCWorker", G_STATUS_WAITING, G_STATUS_RUNNABLE, 21, NEWEST},
	{"execute", G_STATUS_RUNNABLE, G_STATUS_RUNNING, 21, NEWEST},
	{"park_m", G_STATUS_RUNNING, G_STATUS_WAITING, 21, NEWEST},
	{"park_m", G_STATUS_WAITING, G_STATUS_RUNNABLE, 21, NEWEST},
	{"goschedImpl", G_STATUS_RUNNING, G_STATUS_RUNNABLE, 21, NEWEST},
	{"goyield_m", G_STATUS_RUNNING, G_STATUS_RUNNABLE, 21, NEWEST},
	{"goexit0", G_STATUS_RUNNING, G_STATUS_DEAD, 21, 21},
	{"gdestroy", G_STATUS_RUNNING, G_STATUS_DEAD, 22, NEWEST},
	/* From one goroutine to the other: one event, by coroswitch_m. */
	{"coroswitch_m", G_STATUS_RUNNING, G_STATUS_WAITING, 23, NEWEST},
	{"coroswitch_m", G_STATUS_WAITING, G_STATUS_RUNNING, 23, NEWEST},
	{"coroswitch_m", G_STATUS_WAITING, G_STATUS_RUNNABLE, 23, NEWEST},
	{"coroswitch_m", G_STATUS_RUNNABLE, G_STATUS_RUNNING, 23, NEWEST},

	{"reentersyscall", G_STATUS_RUNNING, G_STATUS_SYSCALL, 21, NEWEST},
	{"entersyscallblock", G_STATUS_RUNNING, G_STATUS_SYSCALL, 21, NEWEST},
	{"exitsyscall", G_STATUS_SYSCALL, G_STATUS_RUNNING, 21, NEWEST},
	{"exitsyscall0", G_STATUS_SYSCALL, G_STATUS_RUNNABLE, 21, 25},
	{"exitsyscallNoP", G_STATUS_RUNNING, G_STATUS_RUNNABLE, 26, NEWEST},
	{"needm", G_STATUS_DEAD, G_STATUS_SYSCALL, 21, 25},
	{"needm", G_STATUS_DEADEXTRA, G_STATUS_SYSCALL, 26, NEWEST},
	{"dropm", G_STATUS_SYSCALL, G_STATUS_DEAD, 21, 25},
	{"dropm", G_STATUS_SYSCALL, G_STATUS_DEADEXTRA, 26, NEWEST},
	{"oneNewExtraM", G_STATUS_IDLE, G_STATUS_DEAD, 21, 25},
	{"oneNewExtraM", G_STATUS_IDLE, G_STATUS_DEADEXTRA, 26, NEWEST},

	/*
	 * Not events: the goroutine lets the collector scan its stack while it works on the system stack, its
	 * stack is copied, or the collector looks for goroutines that nothing can wake.
	 */
	{"casGToWaiting", ANY_STATUS, G_STATUS_WAITING, 21, NEWEST},
	/*
	 * And back, in whatever function: a patch release may move one (Go 1.23.12 and 1.24.5 did, from
	 * stopTheWorld to stopTheWorldWithSema). A goroutine that really waits is runnable before it runs,
	 * but in coroswitch_m.
	 */
	{NULL, G_STATUS_WAITING, G_STATUS_RUNNING, 21, NEWEST},
	/* In these, the old status need not be seen. */
	{"stopTheWorld", G_STATUS_WAITING, G_STATUS_RUNNING, 21, 24},
	{"stopTheWorldWithSema", G_STATUS_WAITING, G_STATUS_RUNNING, 23, NEWEST},
	{"forEachP", G_STATUS_WAITING, G_STATUS_RUNNING, 22, NEWEST},
	{"gcMarkDone", G_STATUS_WAITING, G_STATUS_RUNNING, 21, 21},
	{"gcMarkTermination", G_STATUS_WAITING, G_STATUS_RUNNING, 21, NEWEST},
	{"gcBgMarkWorker", G_STATUS_WAITING, G_STATUS_RUNNING, 21, NEWEST},
	{"gcAssistAlloc1", G_STATUS_WAITING, G_STATUS_RUNNING, 21, NEWEST},
	{"markroot", G_STATUS_WAITING, G_STATUS_RUNNING, 21, NEWEST},
	{"writeheapdump_m", G_STATUS_WAITING, G_STATUS_RUNNING, 21, NEWEST},
	{"traceAdvance", G_STATUS_WAITING, G_STATUS_RUNNING, 22, NEWEST},
	{"newstack", G_STATUS_RUNNING, G_STATUS_COPYSTACK, 21, NEWEST},
	{"newstack", G_STATUS_COPYSTACK, G_STATUS_RUNNING, 21, NEWEST},
	{"findGoroutineLeaks", G_STATUS_WAITING, G_STATUS_LEAKED, 26, NEWEST},
	{"findGoroutineLeaks", G_STATUS_LEAKED, G_STATUS_WAITING, 27, NEWEST},
	{"allGsSnapshotSortedForGC", G_STATUS_LEAKED, G_STATUS_WAITING, 26, NEWEST},
	/* A debugger calls a function of the program. */
	{"debugCallWrap1", G_STATUS_RUNNING, G_STATUS_RUNNABLE, 21, NEWEST},
	{"debugCallWrap1", G_STATUS_WAITING, G_STATUS_RUNNABLE, 21, NEWEST},
};

/* Length of a last part of a name that the compiler made for a closure: ".func1", ".1", ".gowrap2". */
static size_t closure_part(const char *name, size_t len)
{
	static const char *const kinds[] = {"func", "gowrap", "deferwrap", ""};
	size_t digits = 0, kind;

	while (digits < len && name[len - 1 - digits] >= '0' && name[len - 1 - digits] <= '9')
		digits++;
	for (unsigned i = 0; digits && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		kind = strlen(kinds[i]);
		if (len > digits + kind && name[len - digits - kind - 1] == '.' &&
		    memcmp(name + len - digits - kind, kinds[i], kind) == 0)
			return digits + kind + 1;
	}
	return 0;
}

/*
 * Whether the name is that of the function or of a closure in it. A closure of an inlined function has both
 * names: runtime.gcMarkDone.forEachP.func5 is one of forEachP.
 */
static bool is_in(const char *name, const char *function)
{
	size_t len = strlen(name), size = strlen(function), part;

	while ((part = closure_part(name, len)) > 0)
		len -= part;
	return len > size && name[len - size - 1] == '.' && memcmp(name + len - size, function, size) == 0;
}

static bool status_write_is_known(unsigned minor, const struct status_write *change)
{
	for (unsigned i = 0; i < sizeof(known_changes) / sizeof(known_changes[0]); i++) {
		const char *function = known_changes[i].function;

		if (minor >= known_changes[i].first && minor <= known_changes[i].last &&
		    may_be(change->old, known_changes[i].old) && may_be(change->new, known_changes[i].new) &&
		    (function ? is_in(change->function, function)
			      : change->old == known_changes[i].old && change->new == known_changes[i].new))
			return true;
	}
	return false;
}

static int check_code(const struct target *target, const struct code *code, const char *name,
		      struct error *err)
{
	struct status_write changes[MAX_MATCHES];
	int n = list_changes(target, code, changes);

	if (n < 0)
		return error_set(err, ENOTSUP,
				 "%s: %s (%s) has an instruction that gotrace does not know; trace it as "
				 "threads (--as c)",
				 target->image->label, name, target->go_version);
	for (int i = 0; i < n; i++) {
		if (!changes[i].function || status_write_is_known(target->go_minor, &changes[i]))
			continue;
		return error_set(
			err, ENOTSUP,
			"%s: %s changes a goroutine's status (%lld to %lld) in a way that gotrace does "
			"not know (%s); trace it as threads (--as c)",
			target->image->label, changes[i].function, (long long)changes[i].old,
			(long long)changes[i].new, target->go_version);
	}
	return 0;
}

/* Scheduler code is only in functions of the runtime: it runs on g0, and mcall and systemstack call them. */
int check_status_changes(const struct target *target, struct error *err)
{
	static const char package[] = "runtime.";
	size_t count = functab_count(target->functab);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < count; i++) {
		uint64_t entry, end;
		const char *name;
		struct code code;

		if (functab_entry(target->functab, i, &entry, &end, &name) == 0 &&
		    strncmp(name, package, strlen(package)) == 0 &&
		    target_code_at(target, entry, end, &code) == 0)
			rc = check_code(target, &code, name, err);
	}
	return rc;
}
