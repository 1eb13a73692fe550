/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/parquet/stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/symbol/library.h"
#include "code/symbol/symbol.h"
#include "util/array.h"

int lake_stacks_init(struct lake_stacks *stacks)
{
	*stacks = (struct lake_stacks){.n = 1};
	if (stacktab_init(&stacks->st))
		return -ENOMEM;
	return array_grow(&stacks->all, &stacks->capacity, 1, sizeof(*stacks->all));
}

void lake_stacks_free(struct lake_stacks *stacks)
{
	stacktab_free(&stacks->st);
	map64_free(&stacks->by_hash);
	free(stacks->all);
}

/* --- hashes --- */

/* FNV-1a, 64 bits (Fowler, Noll, Vo). */
#define FNV_BASIS 0xcbf29ce484222325ull
#define FNV_PRIME 0x100000001b3ull

static uint64_t hash_on(uint64_t hash, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)text[i]) * FNV_PRIME;
	return hash;
}

/* A system call has its descriptor, which differs from host to host: "read(7: /data/x)". */
static size_t stable_length(const char *func)
{
	return library_is_call(func) ? strcspn(func, "(") : strlen(func);
}

struct stack_hash {
	uint64_t lines, names;
	uint32_t frames;
};

/* Adds a frame: lines of `func:line` and of `func`, joined by LF. */
static void hash_frame(struct stack_hash *hash, const char *func, uint32_t line)
{
	size_t len = stable_length(func);
	char number[16];

	if (hash->frames++) {
		hash->lines = hash_on(hash->lines, "\n", 1);
		hash->names = hash_on(hash->names, "\n", 1);
	}
	hash->lines = hash_on(hash->lines, func, len);
	hash->names = hash_on(hash->names, func, len);
	hash->lines = hash_on(hash->lines, number, (size_t)snprintf(number, sizeof(number), ":%u", line));
}

/* --- what a stack stands for --- */

static const char *text_of(const struct lake_stacks *stacks, uint32_t string)
{
	size_t len;

	return strtab_get(stacks->st.strings, string, &len);
}

static const struct st_frame *stacks_frame_at(const struct lake_stacks *stacks, const struct st_stack *stack,
					      uint32_t i)
{
	return &stacks->st.frames[stacks->st.frame_ids[stack->first + i]];
}

static const char *func_at(const struct lake_stacks *stacks, const struct st_stack *stack, uint32_t i)
{
	return text_of(stacks, stacks->st.functions[stacks_frame_at(stacks, stack, i)->function].name);
}

/* The first frame of the main module, else of another module, and so on, as in a report (analysis/names.c).
 */
static uint32_t site_of(const struct lake_stacks *stacks, const struct st_stack *stack)
{
	enum code_owner best = CODE_OF_LIBRARY;
	uint32_t site = UINT32_MAX, near = UINT32_MAX;

	for (uint32_t i = 0; i < stack->n && best > CODE_OF_PROGRAM; i++) {
		const struct st_function *function =
			&stacks->st.functions[stacks_frame_at(stacks, stack, i)->function];
		const char *func = text_of(stacks, function->name), *file = text_of(stacks, function->file);
		enum code_owner owner = library_owner(func, file);

		if (library_is_kernel(func, file))
			continue;
		if (near == UINT32_MAX && !library_is_lock(func))
			near = i;
		if (owner < best) {
			best = owner;
			site = i;
		}
	}
	if (site != UINT32_MAX)
		return site;
	return near != UINT32_MAX ? near : stack->n - 1;
}

/* Not what parks every goroutine, but what parks this one: "runtime.chanrecv1". */
static uint32_t op_of(const struct lake_stacks *stacks, const struct st_stack *stack)
{
	uint32_t i = 0;

	while (i + 1 < stack->n && (strcmp(func_at(stacks, stack, i), "runtime.gopark") == 0 ||
				    strcmp(func_at(stacks, stack, i), "runtime.goparkunlock") == 0))
		i++;
	return i;
}

/* The function of a frame as a string, without what differs from host to host. */
static int stacks_take_name(struct lake_stacks *stacks, const struct st_stack *stack, uint32_t i,
			    uint32_t *string)
{
	uint32_t name = stacks->st.functions[stacks_frame_at(stacks, stack, i)->function].name;
	const char *func = text_of(stacks, name);
	size_t len = stable_length(func);
	char *copy;
	int rc;

	*string = name;
	if (!func[len])
		return 0;
	copy = strndup(func, len); /* adding may move the original */
	rc = copy ? stacktab_text(&stacks->st, copy, len, string) : -ENOMEM;
	free(copy);
	return rc;
}

static int stacks_describe(struct lake_stacks *stacks, uint32_t id, struct lake_stack *info)
{
	const struct st_stack *stack = &stacks->st.stacks[id];
	struct stack_hash hash = {.lines = FNV_BASIS, .names = FNV_BASIS};
	uint32_t site = site_of(stacks, stack), same;

	for (uint32_t i = 0; i < stack->n; i++)
		hash_frame(&hash, func_at(stacks, stack, i), stacks_frame_at(stacks, stack, i)->line);
	*info = (struct lake_stack){
		.hash = (int64_t)hash.lines,
		.names = (int64_t)hash.names,
		.site_line = stacks_frame_at(stacks, stack, site)->line,
	};
	same = map64_find(&stacks->by_hash, hash.lines);
	info->same = same == MAP64_NONE ? id : same;
	if (same == MAP64_NONE && map64_set(&stacks->by_hash, hash.lines, id))
		return -ENOMEM;
	return stacks_take_name(stacks, stack, op_of(stacks, stack), &info->op) ||
			       stacks_take_name(stacks, stack, site, &info->site)
		       ? -ENOMEM
		       : 0;
}

static int describe_new(struct lake_stacks *stacks)
{
	if (stacks->n == stacks->st.nstacks)
		return 0;
	if (array_grow(&stacks->all, &stacks->capacity, stacks->st.nstacks, sizeof(*stacks->all)))
		return -ENOMEM;
	for (; stacks->n < stacks->st.nstacks; stacks->n++) {
		if (stacks_describe(stacks, (uint32_t)stacks->n, &stacks->all[stacks->n]))
			return -ENOMEM;
	}
	return 0;
}

int lake_stacks_take(struct lake_stacks *stacks, const struct tables *tables, uint32_t stack, uint32_t *ours)
{
	if (stacktab_stack(&stacks->st, tables, stack, ours) || describe_new(stacks))
		return -ENOMEM;
	*ours = stacks->all[*ours].same;
	return 0;
}

/* --- frames as text --- */

static bool is_same_frame(const struct lake_stacks *stacks, const struct st_stack *stack, uint32_t i,
			  const struct lake_frame *frame)
{
	return stacks_frame_at(stacks, stack, i)->line == frame->line &&
	       strcmp(func_at(stacks, stack, i), frame->func) == 0;
}

/* Returns a longer stack of the trace with these frames, the last of which is its last one; 0 = none. */
static uint32_t find_longer(const struct lake_stacks *stacks, const struct lake_frame *frames, uint32_t n)
{
	for (uint32_t id = 1; id < stacks->n; id++) {
		const struct st_stack *stack = &stacks->st.stacks[id];
		uint32_t i = 0;

		if (stack->n <= n || !is_same_frame(stacks, stack, stack->n - 1, &frames[n - 1]))
			continue;
		while (i < n - 1 && is_same_frame(stacks, stack, i, &frames[i]))
			i++;
		if (i == n - 1)
			return stacks->all[id].same;
	}
	return 0;
}

/* Takes the stack from a table of its own. */
static int add_frames(struct lake_stacks *stacks, const struct lake_frame *frames, uint32_t n, uint32_t *ours)
{
	struct frame *copies = calloc(n, sizeof(*copies));
	struct strtab *strings = strtab_new();
	struct stack all[2] = {{.n = 0}, {.n = n, .frames = copies}};
	const struct tables tables = {.strings = strings, .stacks = all, .nstacks = 2};
	int rc = copies && strings ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < n && !rc; i++)
		copies[i] = (struct frame){
			.func = strtab_add_str(strings, frames[i].func),
			.file = strtab_add_str(strings, frames[i].file),
			.line = frames[i].line,
		};
	stacktab_forget(&stacks->st);
	if (!rc)
		rc = lake_stacks_take(stacks, &tables, 1, ours);
	stacktab_forget(&stacks->st);
	if (strings)
		strtab_free(strings);
	free(copies);
	return rc;
}

int lake_stacks_take_frames(struct lake_stacks *stacks, const struct lake_frame *frames, uint32_t n,
			    uint32_t most, uint32_t *ours)
{
	*ours = 0;
	if (!n)
		return 0;
	if (n >= most)
		*ours = find_longer(stacks, frames, n);
	return *ours ? 0 : add_frames(stacks, frames, n, ours);
}
