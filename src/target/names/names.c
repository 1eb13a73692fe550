/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/names/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/names/go.h"
#include "target/names/jit.h"
#include "target/names/map.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/map64.h"
#include "util/message.h"
#include "util/utf8.h"

/* Number of distinct addresses; stacks are bounded, too (bpf/). Further addresses have no names. */
#define MAX_KNOWN (1u << 20)
#define MAX_TEXT  (128ull << 20) /* bytes of names, including addresses that are named again */
#define MAX_LINES 64             /* messages about files */
/*
 * CPU time: NAMES_NS at once, then 1/NAMES_PART of the time that passes. Reading debug information adds to it
 * (code/elf/file.c).
 */
#define NAMES_NS   1000000000ull
#define NAMES_PART 4
/*
 * Time for opening the files of processes that start a program: SEARCH_NS at once, then 1/SEARCH_SHARE of the
 * time that passes.
 */
#define SEARCH_NS    1000000000ll
#define SEARCH_SHARE 4
/* Reading the mappings again takes at most about 1/REFRESH_PART of the time, however often code is mapped. */
#define REFRESH_PART 10

/* Since glibc 2.34 __libc_start_main itself calls only constructors. */
enum to_main {
	TO_NOTHING = 0,
	TO_MAIN_BY_ANOTHER = 1, /* __libc_start_main */
	TO_MAIN = 2,            /* __libc_start_call_main */
};

/* An address whose name has been logged. */
struct named_address {
	uint64_t pc;
	struct native_at at;
	uint8_t hint; /* enum log_symbol_hint */
	bool named;   /* by symbol or debug information */
	/* Inferred from its place in a stack: */
	bool by_place;   /* it is start code */
	uint8_t to_main; /* enum to_main */
	bool is_main;
};

struct names {
	log_sink sink;
	void *ctx;
	struct native_map *map;
	struct native_search search;
	struct names_limits own, *limits;
	struct native_go *go; /* NULL = none */
	struct native_jit *jit;
	struct map64 index; /* pc -> known */
	struct named_address *known;
	uint32_t n;
	size_t capacity;
	uint64_t text_left;
	bool stale;            /* the mappings have changed */
	uint64_t next_refresh; /* ns; no refresh before that */
	struct symbol_draft draft;
};

/* FNV-1a. */
static uint64_t hash_line(const char *line)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (; *line; line++)
		hash = (hash ^ (uint8_t)*line) * 0x100000001b3ull;
	return hash ? hash : 1;
}

/* Paths come from the target and are untrusted for the terminal. */
static void names_report(void *ctx, const char *line)
{
	struct map64 *reported = &((struct names_limits *)ctx)->reported;
	uint64_t hash = hash_line(line);

	if (reported->count >= MAX_LINES || map64_get(reported, hash) || map64_set(reported, hash, 1))
		return;
	message_begin();
	text_put(stderr, line);
	fputs(reported->count < MAX_LINES ? "\n" : "; further messages of this kind are suppressed\n",
	      stderr);
}

void names_limits_init(struct names_limits *limits)
{
	*limits = (struct names_limits){.budget = {.bytes = NAMES_BYTES, .cpu_ns = NAMES_NS},
					.earned_ns = now_ns(),
					.search_budget_ns = SEARCH_NS,
					.search_refilled_ns = now_ns()};
}

bool names_may_search(struct names_limits *limits)
{
	uint64_t now = now_ns();
	int64_t more =
		limits->search_budget_ns + (int64_t)((now - limits->search_refilled_ns) / SEARCH_SHARE);

	limits->search_budget_ns = more < SEARCH_NS ? more : SEARCH_NS;
	limits->search_refilled_ns = now;
	if (limits->search_budget_ns > 0)
		return true;
	names_report(limits,
		     "programs start faster than their files can be opened: some stacks have no names");
	return false;
}

void names_charge_search(struct names_limits *limits, uint64_t ns)
{
	limits->search_budget_ns -= (int64_t)ns;
}

static void names_limits_free(struct names_limits *limits)
{
	map64_free(&limits->reported);
}

void names_set_limits(void *ctx, struct names_limits *limits)
{
	struct names *names = ctx;

	names->limits = limits;
	names->search.ctx = limits;
	names->search.budget = &limits->budget;
}

int names_new(pid_t pid, log_sink sink, void *ctx, void **names, struct error *err)
{
	struct names *made = calloc(1, sizeof(*made));
	int rc;

	if (!made)
		return error_set(err, ENOMEM, "out of memory");
	rc = native_map_new(pid, &made->map, err);
	if (rc) {
		free(made);
		return rc;
	}
	made->go = native_go_new(pid);
	made->jit = native_jit_new(pid, native_map_root(made->map));
	made->sink = sink;
	made->ctx = ctx;
	made->search =
		(struct native_search){.roots = {native_map_root(made->map), native_map_own_root(made->map)},
				       .report = names_report};
	names_limits_init(&made->own);
	names_set_limits(made, &made->own);
	made->text_left = MAX_TEXT;
	*names = made;
	return 0;
}

void names_free(void *ctx)
{
	struct names *names = ctx;

	if (!names)
		return;
	native_map_free(names->map);
	native_go_free(names->go);
	native_jit_free(names->jit);
	names_limits_free(&names->own);
	map64_free(&names->index);
	free(names->known);
	free(names);
}

/* --- one address --- */

static int send_draft(struct names *names)
{
	struct log_record record = {
		.type = LOG_SYMBOL, .size = names->draft.size, .data = &names->draft.head};

	return names->sink(names->ctx, &record);
}

static void refill_cpu_budget(struct names_limits *limits)
{
	uint64_t now = now_ns();

	budget_earn(&limits->budget, (now - limits->earned_ns) / NAMES_PART, NAMES_NS);
	limits->earned_ns = now;
}

static void names_find_name(struct names *names, struct named_address *known)
{
	struct symbol_draft *draft = &names->draft;
	struct native_file *file = native_map_file(names->map, known->at.module);

	if (!file) {
		known->named = names->jit && native_jit_frame(names->jit, known->pc - 1, draft);
		return;
	}
	refill_cpu_budget(names->limits);
	if (names->go && native_go_frames(names->go, known->pc, draft)) {
		known->named = true;
		draft_finish(draft, false);
	} else if (known->is_main) {
		draft_add(draft, "main", NULL, 0);
	} else {
		/* Generated code may be in a file that is no program (.NET: memfd:doublemapper). */
		known->named =
			native_file_frames(file, &names->search, known->at.offset, draft) == NATIVE_NAMED ||
			(names->jit && native_jit_frame(names->jit, known->pc - 1, draft));
	}
	if (!known->by_place)
		known->to_main = draft_outermost_is(draft, "__libc_start_main")        ? TO_MAIN_BY_ANOTHER
				 : draft_outermost_is(draft, "__libc_start_call_main") ? TO_MAIN
										       : TO_NOTHING;
}

/* Readers of the log keep every name, so the total is limited. */
static void limit_text(struct names *names)
{
	struct symbol_draft *draft = &names->draft;

	if (draft->size <= names->text_left) {
		names->text_left -= draft->size;
		return;
	}
	names->text_left = 0;
	names->search.report(names->search.ctx,
			     "the 128 MB limit for names is reached: further addresses have no names");
	draft_begin(draft, draft->head.pc);
}

static int name(struct names *names, struct named_address *known)
{
	struct symbol_draft *draft = &names->draft;

	draft_begin(draft, known->pc);
	known->named = false;
	names_find_name(names, known);
	if (known->by_place)
		draft->head.hint = known->hint;
	known->hint = draft->head.hint;
	limit_text(names);
	return send_draft(names);
}

static int add_known(struct names *names, uint64_t pc)
{
	struct named_address *known;

	if (array_grow(&names->known, &names->capacity, names->n + 1, sizeof(*names->known)) ||
	    map64_set(&names->index, pc, names->n))
		return -ENOMEM;
	known = &names->known[names->n++];
	*known = (struct named_address){.pc = pc, .at = native_map_find(names->map, pc - 1)};
	/* The code may have been mapped since, and the record of it lost. */
	if (known->at.module == NO_MODULE)
		names->stale = true;
	return name(names, known);
}

static struct named_address *find_known(const struct names *names, uint64_t pc)
{
	const uint32_t *index = pc ? map64_get(&names->index, pc) : NULL;

	return index ? &names->known[*index] : NULL;
}

/* --- mappings --- */

/* An unmapped address keeps its name: earlier stacks refer to it. */
static int name_again(struct names *names)
{
	for (uint32_t i = 0; i < names->n; i++) {
		struct named_address *known = &names->known[i];
		struct native_at at = native_map_find(names->map, known->pc - 1);
		int rc;

		if (at.module == NO_MODULE ||
		    (at.module == known->at.module && at.offset == known->at.offset))
			continue;
		known->at = at;
		known->by_place = known->is_main = false;
		rc = name(names, known);
		if (rc)
			return rc;
	}
	return 0;
}

static int refresh(struct names *names)
{
	uint64_t begin = now_ns(), end;
	int rc = 0;

	if (!names->stale || begin < names->next_refresh)
		return 0;
	names->stale = false;
	if (native_map_refresh(names->map) == 0) {
		if (names->limits->budget.bytes < NAMES_BYTES / 2)
			native_map_drop_unmapped(names->map);
		rc = name_again(names);
	}
	end = now_ns();
	names->next_refresh = end + (end - begin) * REFRESH_PART;
	return rc;
}

static bool changes_mappings(const struct log_record *record)
{
	const struct raw_record *records = record->data;
	size_t n = record->size / sizeof(*records);

	for (size_t i = 0; i < n; i++) {
		if (records[i].site == SITE_MAPPED || records[i].site == SITE_EXEC)
			return true;
	}
	return false;
}

/* --- stacks --- */

static bool names_is_of(const struct names *names, const struct named_address *known,
			bool (*is_it)(const struct native_file *))
{
	const struct native_file *file = native_map_file(names->map, known->at.module);

	return file && is_it(file);
}

/*
 * A stripped libc has no symbols for start_thread and __libc_start_call_main, and a stripped libstdc++ none
 * for execute_native_thread_routine. They are recognized by their callers.
 */
static bool starts_by_place(const struct names *names, const struct named_address *caller,
			    const struct named_address *known)
{
	if (known->named)
		return false;
	if (names_is_of(names, known, native_file_is_libcxx))
		return true;
	return !caller->by_place && names_is_of(names, known, native_file_is_libc);
}

/* Classifies what start code calls: more start code, or the program's main. False if it is neither, or
 * already classified. */
static bool classify_callee(const struct names *names, const struct named_address *caller,
			    struct named_address *known)
{
	if (starts_by_place(names, caller, known)) {
		known->hint = HINT_START;
		known->by_place = true;
		known->to_main = caller->to_main ? TO_MAIN : TO_NOTHING;
		return true;
	}
	if (known->named || known->is_main || caller->to_main != TO_MAIN)
		return false;
	known->is_main = true;
	return true;
}

static int mark_starts(struct names *names, const struct raw_stack *stack)
{
	const struct named_address *caller = NULL;

	for (uint32_t i = stack->n; i > 0; i--) {
		struct named_address *known = find_known(names, stack->pcs[i - 1]);
		int rc;

		if (!known)
			return 0;
		if (known->hint != HINT_START) {
			if (!caller || !classify_callee(names, caller, known))
				return 0;
			rc = name(names, known);
			if (rc)
				return rc;
		}
		caller = known;
	}
	return 0;
}

static int names_name_stack(struct names *names, const struct log_record *record)
{
	const struct raw_stack *stack = record->data;
	int rc = refresh(names);

	for (uint32_t i = 0; rc == 0 && i < stack->n; i++) {
		uint64_t pc = stack->pcs[i];

		if (pc && !(pc & LOG_KERNEL_PC) && !find_known(names, pc) && names->n < MAX_KNOWN)
			rc = add_known(names, pc);
	}
	if (rc == 0)
		rc = refresh(names);
	return rc ? rc : mark_starts(names, stack);
}

static bool is_native_stack(const struct log_record *record)
{
	const struct raw_stack *stack = record->data;

	return record->type == LOG_STACK && record->size >= sizeof(*stack) &&
	       stack->flags & RAW_STACK_NATIVE &&
	       (record->size - sizeof(*stack)) / sizeof(stack->pcs[0]) >= stack->n;
}

int names_put(void *ctx, const struct log_record *record)
{
	struct names *names = ctx;
	int rc = 0, passed;

	if (is_native_stack(record)) {
		rc = names_name_stack(names, record);
	} else if (record->type == LOG_RECORDS && changes_mappings(record)) {
		names->stale = true;
		rc = refresh(names);
	}
	passed = names->sink(names->ctx, record);
	return rc ? rc : passed;
}
