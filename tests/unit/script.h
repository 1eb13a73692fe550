/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Traces written op by op, for tests of the analysis. Tests include this header; its names are short and
 * static. */
#ifndef GOTRACE_SCRIPT_H
#define GOTRACE_SCRIPT_H

#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "analysis/strips.h"
#include "analysis/path.h"
#include "analysis/state.h"
#include "code/symbol/symbol.h"

#define MS 1000000ull

enum { MAX_OPS = 1 << 16, MAX_STACKS_MADE = 64, MAX_FRAMES_MADE = 6, MAX_GS = 4096 };

/* A trace being built. Goroutine i has the id i, and runs on P i % procs. */
struct script {
	struct strtab *strings, *texts; /* texts: messages of logs */
	struct stack stacks[MAX_STACKS_MADE];
	struct frame frames[MAX_STACKS_MADE][MAX_FRAMES_MADE];
	uint32_t nstacks;
	uint64_t goids[MAX_GS];
	struct op *ops;
	size_t n;
	uint64_t now, end;
};

static inline struct script *script_new(uint64_t end)
{
	struct script *s = calloc(1, sizeof(*s));

	s->strings = strtab_new();
	s->texts = strtab_new();
	s->ops = calloc(MAX_OPS, sizeof(*s->ops));
	s->nstacks = 1;
	s->now = 1000;
	s->end = 1000 + end;
	for (uint32_t i = 0; i < MAX_GS; i++)
		s->goids[i] = i;
	return s;
}

static inline void script_free(struct script *s)
{
	strtab_free(s->strings);
	strtab_free(s->texts);
	free(s->ops);
	free(s);
}

static inline uint32_t str(struct script *s, const char *text)
{
	return strtab_add_str(s->strings, text);
}

/* Adds a stack, leaf first; NULL: no frame. */
static inline uint32_t stack_of(struct script *s, const char *const *funcs, unsigned nfuncs, uint32_t line)
{
	uint32_t id = s->nstacks++, n = 0;

	assert_true(nfuncs <= MAX_FRAMES_MADE);
	for (unsigned i = 0; i < nfuncs; i++) {
		if (funcs[i])
			s->frames[id][n++] =
				(struct frame){.pc = 1000 * id + i, .func = str(s, funcs[i]), .line = line};
	}
	s->stacks[id] = (struct stack){.frames = s->frames[id], .n = n};
	return id;
}

static inline uint32_t stack(struct script *s, const char *leaf, const char *site, uint32_t line,
			     const char *root)
{
	const char *const funcs[] = {leaf, site, root};

	return stack_of(s, funcs, 3, line);
}

static inline struct op *add(struct script *s, enum op_kind kind, uint32_t g, int32_t p)
{
	struct op *op = &s->ops[s->n++];

	assert_true(s->n < MAX_OPS);
	*op = (struct op){.time = ++s->now, .kind = (uint8_t)kind, .g = g, .p = p, .m = (uint32_t)p + 5000};
	return op;
}

static inline void at(struct script *s, uint64_t ns)
{
	assert_true(1000 + ns >= s->now);
	s->now = 1000 + ns;
}

static inline void procs(struct script *s, unsigned n)
{
	add(s, OP_PROCS_CHANGE, 0, NO_P)->arg = n;
	for (unsigned i = 0; i < n; i++)
		add(s, OP_PROC_STATUS, 0, (int32_t)i)->status = P_IDLE;
}

static inline void create(struct script *s, uint32_t g, uint32_t entry)
{
	struct op *op = add(s, OP_GO_CREATE, 0, 0);

	op->g2 = g;
	op->stack2 = entry;
}

static inline void start(struct script *s, uint32_t g, int32_t p)
{
	add(s, OP_PROC_START, 0, p);
	add(s, OP_GO_START, g, p);
}

static inline void block(struct script *s, uint32_t g, int32_t p, const char *reason, uint32_t id)
{
	struct op *op = add(s, OP_GO_BLOCK, g, p);

	op->string = str(s, reason);
	op->stack = id;
	add(s, OP_PROC_STOP, 0, p);
}

static inline void wake(struct script *s, uint32_t g, int32_t p, uint32_t g2, uint32_t id)
{
	struct op *op = add(s, OP_GO_UNBLOCK, g, g ? p : NO_P);

	op->g2 = g2;
	op->stack = id;
}

/* Passes the ops from index `from` on to the analysis, as one generation. */
static inline void pass_on(struct analysis *a, struct script *s, size_t from, bool last)
{
	const struct tables tables = {.strings = s->strings,
				      .texts = s->texts,
				      .goids = s->goids,
				      .ngoroutines = MAX_GS,
				      .stacks = s->stacks,
				      .nstacks = s->nstacks};
	const struct generation gen = {.number = from ? 2 : 1,
				       .last = last,
				       .start = from ? s->ops[from].time : 1000,
				       .end = last ? s->end : s->now,
				       .ops = s->ops + from,
				       .nops = s->n - from,
				       .tables = &tables};

	assert_int_equal(analysis_generation(a, &gen), 0);
}

static inline struct analysis *analyse_with(struct script *s, struct why *why, struct strips *strips)
{
	const struct analysis_options options = {.name = "t", .file = "t"};
	struct analysis *a = analysis_new(&options);

	assert_non_null(a);
	if (why)
		why_watch(why, a);
	if (strips)
		strips_watch(strips, a);
	pass_on(a, s, 0, true);
	assert_int_equal(analysis_end(a), 0);
	return a;
}

static inline struct analysis *analyse(struct script *s, struct why *why)
{
	return analyse_with(s, why, NULL);
}

static inline const struct finding *found(const struct analysis *a, const char *id)
{
	for (unsigned i = 0; i < a->nfindings; i++) {
		if (strcmp(a->findings[i].id, id) == 0)
			return &a->findings[i];
	}
	return NULL;
}

/* Frees the script. Returns the level of the finding in it, -1 if there is none. */
static inline int script_level(struct script *s, const char *id)
{
	struct analysis *a = analyse(s, NULL);
	const struct finding *finding = found(a, id);
	int level = finding ? (int)finding->level : -1;

	analysis_free(a);
	script_free(s);
	return level;
}

/* Adds a system call that takes ns nanoseconds. */
static inline void call(struct script *s, uint32_t g, int32_t p, uint64_t ns, uint32_t id)
{
	add(s, OP_SYSCALL_BEGIN, g, p)->stack = id;
	s->now += ns;
	add(s, OP_SYSCALL_END, g, p);
}

/* Adds a log of gotrace's own, at ns. */
static inline void add_log(struct script *s, uint64_t ns, const char *text)
{
	struct op *op;

	at(s, ns);
	op = add(s, OP_LOG, 2, 1);
	op->string = str(s, "gotrace");
	op->string2 = str(s, text);
}

#endif
