/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "native/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "native/go.h"
#include "native/map.h"
#include "util/map64.h"
#include "util/utf8.h"

/* Addresses that are told apart; stacks are bounded, too (bpf/). What is beyond has no name. */
#define MAX_KNOWN (1u << 20)
/* Chromium's is some gigabytes, most programs' with all their libraries' below a hundred megabytes. */
#define MAX_DEBUG_BYTES (1ull << 30)
/* Reading the mappings anew takes at most this part of the time, however often code is mapped. */
#define REFRESH_PART 10

/* Since glibc 2.34 __libc_start_main itself calls constructors only. */
enum to_main {
	TO_NOTHING = 0,
	TO_MAIN_BY_ANOTHER = 1, /* __libc_start_main */
	TO_MAIN = 2,            /* __libc_start_call_main */
};

/* An address that was told. */
struct known {
	uint64_t pc;
	struct native_at at;
	uint8_t hint; /* enum log_symbol_hint */
	bool named;   /* else by its file or not at all */
	/* By where it stands in a stack: */
	bool by_place;   /* it is start code */
	uint8_t to_main; /* enum to_main */
	bool is_main;
};

struct names {
	log_sink sink;
	void *ctx;
	struct native_map *map;
	struct native_search search;
	uint64_t debug_left;  /* bytes of debug information that may still be read */
	struct native_go *go; /* NULL = none */
	struct map64 index;   /* pc -> known */
	struct known *known;
	uint32_t n, capacity;
	bool stale;            /* the mappings have changed */
	uint64_t next_refresh; /* ns: not before */
	struct symbol_draft draft;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* FNV-1a. */
static uint64_t hash_line(const char *line)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (; *line; line++)
		hash = (hash ^ (uint8_t)*line) * 0x100000001b3ull;
	return hash ? hash : 1;
}

/* Paths are the target's, and the terminal is not. A line about progress may stand there, to be written over.
 */
static void tell(void *ctx, const char *line)
{
	struct map64 *told = ctx;
	uint64_t hash = hash_line(line);

	if (told && (map64_get(told, hash) || map64_set(told, hash, 1)))
		return;
	fputs(isatty(STDERR_FILENO) ? "\r\033[Kgotrace: " : "gotrace: ", stderr);
	text_put(stderr, line);
	fputc('\n', stderr);
}

void names_tell_once(void *ctx, struct map64 *told)
{
	struct names *names = ctx;

	names->search.ctx = told;
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
	made->debug_left = MAX_DEBUG_BYTES;
	made->sink = sink;
	made->ctx = ctx;
	made->search =
		(struct native_search){.roots = {native_map_root(made->map), native_map_own_root(made->map)},
				       .tell = tell,
				       .debug_left = &made->debug_left};
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

static void find_name(struct names *names, struct known *known)
{
	struct symbol_draft *draft = &names->draft;
	struct native_file *file = native_map_file(names->map, known->at.module);

	if (names->go && native_go_frames(names->go, known->pc, draft)) {
		known->named = true;
		draft_finish(draft, false);
	} else if (known->is_main) {
		draft_add(draft, "main", NULL, 0);
	} else if (native_file_frames(file, &names->search, known->at.offset, draft) == NATIVE_NAMED) {
		known->named = true;
	}
	if (!known->by_place)
		known->to_main = draft_outermost_is(draft, "__libc_start_main")        ? TO_MAIN_BY_ANOTHER
				 : draft_outermost_is(draft, "__libc_start_call_main") ? TO_MAIN
										       : TO_NOTHING;
}

static int name(struct names *names, struct known *known)
{
	struct symbol_draft *draft = &names->draft;

	draft_begin(draft, known->pc);
	known->named = false;
	if (known->at.module != NO_MODULE)
		find_name(names, known);
	if (known->by_place)
		draft->head.hint = known->hint;
	known->hint = draft->head.hint;
	return send_draft(names);
}

static int add_known(struct names *names, uint64_t pc)
{
	struct known *known;

	if (names->n == names->capacity) {
		uint32_t capacity = names->capacity ? names->capacity * 2 : 1024;

		known = realloc(names->known, capacity * sizeof(*known));
		if (!known)
			return -ENOMEM;
		names->known = known;
		names->capacity = capacity;
	}
	if (map64_set(&names->index, pc, names->n))
		return -ENOMEM;
	known = &names->known[names->n++];
	*known = (struct known){.pc = pc, .at = native_map_find(names->map, pc - 1)};
	/* Perhaps it has been mapped since, and that was lost. */
	if (known->at.module == NO_MODULE)
		names->stale = true;
	return name(names, known);
}

static struct known *find_known(const struct names *names, uint64_t pc)
{
	const uint32_t *index = pc ? map64_get(&names->index, pc) : NULL;

	return index ? &names->known[*index] : NULL;
}

/* --- what is mapped --- */

/* What has gone keeps its name: stacks of before have it. */
static int name_again(struct names *names)
{
	for (uint32_t i = 0; i < names->n; i++) {
		struct known *known = &names->known[i];
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
	if (native_map_refresh(names->map) == 0)
		rc = name_again(names);
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

static bool is_of(const struct names *names, const struct known *known,
		  bool (*is_it)(const struct native_file *))
{
	return known->at.module != NO_MODULE && is_it(native_map_file(names->map, known->at.module));
}

/*
 * A stripped libc has no name for its start_thread and __libc_start_call_main,
 * a stripped libstdc++ none for execute_native_thread_routine: they are known by
 * what called them.
 */
static bool starts_by_place(const struct names *names, const struct known *caller, const struct known *known)
{
	if (known->named)
		return false;
	if (is_of(names, known, native_file_is_libcxx))
		return true;
	return !caller->by_place && is_of(names, known, native_file_is_libc);
}

/* What start code calls: more of it, or the program's main. False if it is neither, or known as that. */
static bool learn(const struct names *names, const struct known *caller, struct known *known)
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
	const struct known *caller = NULL;

	for (uint32_t i = stack->n; i > 0; i--) {
		struct known *known = find_known(names, stack->pcs[i - 1]);
		int rc;

		if (!known)
			return 0;
		if (known->hint != HINT_START) {
			if (!caller || !learn(names, caller, known))
				return 0;
			rc = name(names, known);
			if (rc)
				return rc;
		}
		caller = known;
	}
	return 0;
}

static int name_stack(struct names *names, const struct log_record *record)
{
	const struct raw_stack *stack = record->data;
	int rc = refresh(names);

	for (uint32_t i = 0; rc == 0 && i < stack->n; i++) {
		uint64_t pc = stack->pcs[i];

		if (pc && !find_known(names, pc) && names->n < MAX_KNOWN)
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
		rc = name_stack(names, record);
	} else if (record->type == LOG_RECORDS && changes_mappings(record)) {
		names->stale = true;
		rc = refresh(names);
	}
	passed = names->sink(names->ctx, record);
	return rc ? rc : passed;
}
