/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "analysis/cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/top.h"
#include "analysis/instances.h"
#include "analysis/names.h"
#include "analysis/turns.h"
#include "analysis/path.h"
#include "code/symbol/library.h"
#include "util/array.h"

uint64_t cpu_counted(const struct analysis *a)
{
	return a->samples - a->cpu.scheduler;
}

/* At most: in a system call, a goroutine may run C code. */
static double most_cpu_ns(const struct analysis *a)
{
	return is_of_threads(a)
		       ? busy_ns(a)
		       : (double)(a->used_ns[P_CODE] + a->used_ns[P_GC] + a->total_spent[ACT_SYSCALL]);
}

double cpu_sample_ns(const struct analysis *a)
{
	if (!a->samples)
		return USUAL_SAMPLE_NS;
	if (a->options.host.cpu_ns)
		return (double)a->options.host.cpu_ns / (double)a->samples;
	/* Times are exact: those of an idle program are less than a tick of the kernel's count. */
	return fmin(USUAL_SAMPLE_NS, most_cpu_ns(a) / (double)a->samples);
}

uint32_t cpu_first(const struct top tops[TOPS])
{
	return (uint32_t)top_first(tops)->key;
}

static uint64_t leaf_key(uint32_t row, uint32_t func)
{
	return (uint64_t)row << 32 | func;
}

static uint32_t samples_in(const struct analysis *a, uint32_t row, uint32_t func)
{
	const uint32_t *n = map64_get(&a->cpu.in_leaf, leaf_key(row, func));

	return n ? *n : 0;
}

/* The library function that the program's own code calls there; 0 = none. */
static uint32_t called_by_site(const struct analysis *a, uint32_t stack)
{
	const struct stack_info *info = &a->stacks[stack];

	return info->site && info->site < info->n ? a->frames[info->first + info->site - 1].func : 0;
}

/* The library function that ran. Native code may have called it through other library functions. 0 = none. */
static uint32_t innermost_func(const struct analysis *a, uint32_t stack)
{
	const struct stack_info *info = &a->stacks[stack];

	for (uint32_t i = 0; a->of_threads && i < info->site && i < info->n; i++) {
		const struct code_place *at = &a->frames[info->first + i];
		const char *func = name_text(a, at->func);

		if (func[0] && func[0] != '[' && !library_is_address(func) &&
		    !library_is_kernel(func, name_text(a, at->file)))
			return at->func;
	}
	return 0;
}

/* Whether two thirds of the row's samples are in the function. */
static bool is_mostly_in(const struct analysis *a, uint32_t row, uint32_t func)
{
	return func && samples_in(a, row, func) * 3ull >= a->cpu.rows[row].self * 2;
}

uint32_t cpu_leaf(const struct analysis *a, uint32_t row)
{
	const struct cpu_row *found = &a->cpu.rows[row];
	uint32_t mostly_called = 0;

	for (unsigned i = 0; i < TOPS && found->stacks[i].n; i++) {
		uint32_t stack = (uint32_t)found->stacks[i].key, leaf = stack_leaf(a, stack)->func,
			 called = called_by_site(a, stack);

		if (is_mostly_in(a, row, leaf))
			return leaf;
		if (!mostly_called && is_mostly_in(a, row, called))
			mostly_called = called;
	}
	return mostly_called;
}

struct label cpu_place(const struct analysis *a, uint32_t row)
{
	const struct cpu_row *found = &a->cpu.rows[row];

	return label_in(a, stack_site(a, cpu_first(found->stacks)), cpu_leaf(a, row));
}

struct leaf {
	uint32_t func, samples;
};

static int most_first(const void *one, const void *other)
{
	const struct leaf *a = one, *b = other;

	return a->samples != b->samples ? (a->samples < b->samples ? 1 : -1) : 0;
}

static uint32_t leaf_func(const struct analysis *a, uint32_t stack)
{
	return stack_leaf(a, stack)->func;
}

/* "__libc_write" says no more than "write". */
static bool leaf_says_more(const struct analysis *a, uint32_t func, uint32_t named)
{
	return !named || !strstr(name_text(a, func), name_text(a, named));
}

/* Returns the number of library functions that say more than `named` and have a tenth of the row's samples:
 * those that func_of() finds in its stacks. */
static unsigned find_parts(const struct analysis *a, uint32_t row,
			   uint32_t (*func_of)(const struct analysis *a, uint32_t stack), uint32_t named,
			   struct leaf leaves[TOPS])
{
	const struct cpu_row *found = &a->cpu.rows[row];
	unsigned n = 0;

	for (unsigned i = 0; i < TOPS; i++) {
		uint32_t stack = (uint32_t)found->stacks[i].key;
		uint32_t func = func_of(a, stack);
		struct leaf leaf = {func, samples_in(a, row, func)};
		bool known = !found->stacks[i].n || !func || !leaf_says_more(a, func, named) ||
			     leaf.samples * 10ull < found->self;

		for (unsigned j = 0; j < n; j++)
			known |= leaves[j].func == func;
		if (!known)
			leaves[n++] = leaf;
	}
	qsort(leaves, n, sizeof(leaves[0]), most_first);
	return n;
}

void cpu_leaves_evidence(const struct analysis *a, struct finding *finding, uint32_t row)
{
	uint32_t mostly = cpu_leaf(a, row);
	struct leaf leaves[TOPS];
	unsigned n = mostly ? 0 : find_parts(a, row, called_by_site, 0, leaves);
	char text[200] = "";

	if (!n)
		n = find_parts(a, row, leaf_func, mostly, leaves);
	if (!n)
		n = find_parts(a, row, innermost_func, mostly, leaves);
	for (unsigned i = 0; i < n; i++) {
		size_t len = strlen(text);

		snprintf(text + len, sizeof(text) - len, "%s%.0f %% in %.40s", len ? ", " : "",
			 100.0 * leaves[i].samples / (double)a->cpu.rows[row].self,
			 label_name(a, leaves[i].func).text);
	}
	if (n)
		finding_evidence(finding, "of it, %s", text);
}

/* --- rows --- */

static uint32_t cpu_row_of(struct analysis *a, uint32_t func)
{
	struct cpu_profile *cpu = &a->cpu;
	const uint32_t *known = map64_get(&cpu->row_of, func);

	if (known)
		return *known;
	if (cpu->nrows >= MAX_ROWS)
		return 0;
	if (array_grow(&cpu->rows, &cpu->row_capacity, cpu->nrows + 1, sizeof(*cpu->rows)) ||
	    map64_set(&cpu->row_of, func, (uint32_t)cpu->nrows)) {
		a->oom = true;
		return 0;
	}
	cpu->rows[cpu->nrows].func = func;
	return (uint32_t)cpu->nrows++;
}

/* Counts the sample once for each function in the stack. */
static void count_total(struct analysis *a, const struct stack_info *info)
{
	for (uint32_t i = 0; i < info->n; i++) {
		uint32_t func = a->frames[info->first + i].func, row;

		if (library_has(name_text(a, func)))
			continue;
		row = cpu_row_of(a, func);
		if (row && a->cpu.rows[row].counted != a->samples) {
			a->cpu.rows[row].counted = a->samples;
			a->cpu.rows[row].total++;
		}
	}
}

/*
 * The functions of Go's scheduler. In a trace by gotrace most of their time is that of its probes
 * (src/target/sites.c), so it is no finding about the program.
 */
static bool is_scheduler(const struct analysis *a, const struct stack_info *info)
{
	static const char *const leaves[] = {
		"runtime.park_m",      "runtime.newproc1",       "runtime.ready",
		"runtime.execute",     "runtime.casgstatus",     "runtime.gdestroy",
		"runtime.goexit0",     "runtime.gopreempt_m",    "runtime.goschedImpl",
		"runtime.gosched_m",   "runtime.goyield_m",      "runtime.entersyscall",
		"runtime.exitsyscall", "runtime.reentersyscall", "runtime.entersyscallblock",
		"runtime.schedule",    "runtime.findRunnable",   "runtime.wakep",
		"runtime.handoffp",    "runtime.acquirep",       "runtime.releasep",
		"runtime.wirep",       "runtime.injectglist",
	};
	static const char *const roots[] = {"runtime.mcall", "runtime.mstart", "runtime.mstart1",
					    "runtime.mstart0"};
	const char *leaf = name_text(a, a->frames[info->first].func);
	const char *root = name_text(a, a->frames[info->first + info->n - 1].func);

	for (size_t i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++) {
		if (strcmp(leaf, leaves[i]) == 0)
			return true;
	}
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		if (strcmp(root, roots[i]) == 0)
			return true;
	}
	return false;
}

static void count_task(struct analysis *a, const struct goroutine *g, uint32_t row)
{
	const struct open_task *task = g->task ? &a->tasks[g->task] : NULL;
	struct instances *all;

	if (!task || task->goid != g->goid || !task->id)
		return;
	top_add(a->cpu.rows[row].tasks, task->name, 1);
	if (a->options.label && !g->matches)
		return;
	all = instances_get(a, INSTANCE_TASK, task->name);
	all->samples++;
	top_add(all->cpu, row, 1);
}

/* Beyond the limit, no library function has a share of the row. */
static void count_leaf(struct analysis *a, uint32_t row, uint32_t func)
{
	if (func && a->cpu.in_leaf.count < MAX_ROWS &&
	    map64_set(&a->cpu.in_leaf, leaf_key(row, func), samples_in(a, row, func) + 1))
		a->oom = true;
}

static void count_leaves(struct analysis *a, uint32_t row, uint32_t stack)
{
	uint32_t leaf = leaf_func(a, stack), called = called_by_site(a, stack),
		 ran = innermost_func(a, stack);

	count_leaf(a, row, leaf);
	if (called != leaf)
		count_leaf(a, row, called);
	if (ran != leaf && ran != called)
		count_leaf(a, row, ran);
}

static void count_sample(struct analysis *a, const struct pending_sample *sample)
{
	const struct stack_info *info = &a->stacks[sample->stack];
	struct goroutine *g = sample->g < a->ngs ? &a->gs[sample->g] : NULL;
	uint32_t row;

	a->ops++;
	if (!a->samples++)
		a->first_sample = sample->time;
	a->last_sample = sample->time > a->last_sample ? sample->time : a->last_sample;
	a->cpu.handshakes += info->handshake;
	if (!info->n) {
		a->cpu.unknown++;
		return;
	}
	if (is_scheduler(a, info)) {
		a->cpu.scheduler++;
		return;
	}
	count_total(a, info);
	row = cpu_row_of(a, a->frames[info->first + info->site].func);
	if (!row) {
		a->cpu.unknown++;
		return;
	}
	a->cpu.rows[row].self++;
	a->cpu.rows[row].total +=
		a->cpu.rows[row].counted != a->samples; /* a library's function, without a caller */
	if (a->observer.sample) {
		const struct why_sample one = {sample->time, sample->goid, sample->stack, row};

		a->observer.sample(a->observer.ctx, &one);
	}
	top_add(a->cpu.rows[row].stacks, sample->stack, 1);
	count_leaves(a, row, sample->stack);
	if (!g || g->activity == ACT_NONE || g->goid != sample->goid)
		return;
	top_add(a->cpu.rows[row].groups, g->group, 1);
	top_add(a->groups[g->group].cpu, row, 1);
	if (a->of_threads)
		turn_sample(g, row);
	count_task(a, g, row);
}

/* --- order --- */

static int cpu_by_time(const void *one, const void *other)
{
	const struct pending_sample *a = one, *b = other;

	return a->time < b->time ? -1 : a->time > b->time;
}

void cpu_gather(struct analysis *a, const struct generation *gen)
{
	struct cpu_profile *cpu = &a->cpu;

	cpu->npending = cpu->first = 0;
	for (size_t i = 0; i < gen->nops; i++) {
		const struct op *op = &gen->ops[i];

		if (op->kind != OP_CPU_SAMPLE)
			continue;
		if (array_grow(&cpu->pending, &cpu->pending_capacity, cpu->npending + 1,
			       sizeof(*cpu->pending))) {
			a->oom = true;
			break;
		}
		cpu->pending[cpu->npending++] = (struct pending_sample){
			.time = op->time,
			.goid = op->g && op->g < gen->tables->ngoroutines ? gen->tables->goids[op->g] : 0,
			.g = op->g,
			.stack = stack_index(a, op->stack),
		};
	}
	if (cpu->npending)
		qsort(cpu->pending, cpu->npending, sizeof(*cpu->pending), cpu_by_time);
}

void cpu_count(struct analysis *a, uint64_t before)
{
	struct cpu_profile *cpu = &a->cpu;

	while (cpu->first < cpu->npending && cpu->pending[cpu->first].time < before)
		count_sample(a, &cpu->pending[cpu->first++]);
}
