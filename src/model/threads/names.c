/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/threads/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/threads/syscalls.h"
#include "model/threads/life.h"
#include "trace/ops/own_names.h"
#include "util/array.h"
#include "util/utf8.h"

enum {
	MAX_NAMES = 1 << 16, /* strings made from the target's names */
	MAX_FILE_TEXT = 256,
	MAX_FUNCTION_TEXT = 900, /* with a comm appended, it fits into a string of every format */
	MAX_COMM = 64,
	HINT_DEPTH = 8, /* a lock has no more frames of its own in the C library */
};

/* Returns `otherwise` for new strings once there are too many. */
static uint32_t bounded_string(struct model *md, const char *text, size_t len, uint32_t otherwise)
{
	uint32_t id = strtab_find(md->options.strings, text, len);

	if (id || !len)
		return id;
	if (strtab_loose(md->options.strings) >= MAX_NAMES)
		return otherwise;
	id = strtab_add_loose(md->options.strings, text, len);
	md->oom = md->oom || !id;
	return id;
}

/* --- addresses --- */

/* Returns the function whose own code contains the address; functions inlined into it come before it. */
static uint32_t outermost_function(struct model *md, const struct log_symbol *symbol)
{
	const char *at = (const char *)(symbol + 1), *name = NULL;
	struct log_symbol_frame frame = {0};

	for (unsigned i = 0; i < symbol->nframes; i++) {
		memcpy(&frame, at, sizeof(frame));
		name = at + sizeof(frame);
		at = name + frame.function_len + frame.file_len;
	}
	return name ? strtab_add(md->options.strings, name, frame.function_len) : 0;
}

static struct symbol_hint *hint_at(const struct threads_state *threads, uint64_t pc)
{
	uint32_t *index = pc ? map64_get(&threads->symbols, pc) : NULL;

	return index ? &threads->hints[*index] : NULL;
}

static struct symbol_hint *hint_new(struct model *md, uint64_t pc)
{
	struct threads_state *threads = md->threads;

	if (array_grow(&threads->hints, &threads->hints_capacity, threads->nhints + 1,
		       sizeof(*threads->hints)))
		return NULL;
	if (map64_set(&threads->symbols, pc, threads->nhints))
		return NULL;
	return &threads->hints[threads->nhints++];
}

void threads_symbol(struct model *md, const struct log_symbol *symbol)
{
	struct symbol_hint *hint = hint_at(md->threads, symbol->pc);

	if (!hint && symbol->pc)
		hint = hint_new(md, symbol->pc);
	if (hint)
		*hint = (struct symbol_hint){outermost_function(md, symbol), symbol->hint};
	else
		md->oom = md->oom || symbol->pc;
}

/* --- stacks --- */

static struct native_stack *native_new(struct model *md, uint32_t id)
{
	struct threads_state *threads = md->threads;

	if (id >= threads->nnatives) {
		uint32_t more = id + id / 2 + 256;
		struct native_stack *bigger = realloc(threads->natives, more * sizeof(*bigger));

		if (!bigger) {
			md->oom = true;
			return NULL;
		}
		memset(bigger + threads->nnatives, 0, (more - threads->nnatives) * sizeof(*bigger));
		threads->natives = bigger;
		threads->nnatives = more;
	}
	return &threads->natives[id];
}

static const struct native_stack *native_of(const struct model *md, uint32_t id)
{
	static const struct native_stack unknown = {0, HINT_NONE};

	return id < md->threads->nnatives ? &md->threads->natives[id] : &unknown;
}

static uint8_t innermost_hint(const struct threads_state *threads, const struct stack *stack)
{
	uint32_t end = (uint32_t)stack->above + HINT_DEPTH;

	for (uint32_t i = stack->above; i < stack->n && i < end; i++) {
		const struct symbol_hint *hint = hint_at(threads, stack->pcs[i]);

		if (hint && hint->hint != HINT_NONE && hint->hint != HINT_START)
			return hint->hint;
	}
	return HINT_NONE;
}

/* Counts the frames in the kernel. What the thread waits for goes between them and its own frames. */
static uint8_t frames_in_kernel(const struct stack *stack)
{
	uint32_t n = 0;

	while (n < stack->n && n < UINT8_MAX && stack->pcs[n] & LOG_KERNEL_PC)
		n++;
	return (uint8_t)n;
}

/*
 * Leaves out the C library's start code: to its programmer, the thread starts in the function that this
 * calls.
 */
void threads_stack(struct model *md, const struct raw_stack *raw)
{
	uint32_t id = stack_table_find(&md->stacks, raw->hash), n;
	struct native_stack *native = id ? native_new(md, id) : NULL;
	struct stack *stack;
	const struct symbol_hint *hint;

	if (!native || native->start)
		return;
	stack = &md->stacks.stacks[id];
	stack->above = frames_in_kernel(stack);
	n = stack->n;
	while (stack->n) {
		hint = hint_at(md->threads, stack->pcs[stack->n - 1]);
		if (!hint || hint->hint != HINT_START)
			break;
		stack->n--;
	}
	if (stack->above > stack->n)
		stack->above = (uint8_t)stack->n; /* not a log of gotrace: start code in the kernel */
	native->hint = innermost_hint(md->threads, stack);
	hint = stack->n > stack->above ? hint_at(md->threads, stack->pcs[stack->n - 1]) : NULL;
	if (stack->n == n && n > stack->above && (n == 1 || raw->flags & (RAW_STACK_BROKEN | RAW_STACK_CUT)))
		stack->cut = string_id(md, CUT_FRAME);
	/* Without start code, a complete walk ended at the thread's start. A single address is no walk. */
	if (hint && (stack->n < n || (n > 1 && !(raw->flags & (RAW_STACK_BROKEN | RAW_STACK_CUT)))))
		native->start = hint->function;
}

/* Returns the stack with names around it, without its first `cut` frames. Equal arguments give one id. */
static uint32_t cut_stack(struct model *md, uint32_t base, uint32_t leaf, uint32_t root, uint8_t cut)
{
	const struct stack *inner = &md->stacks.stacks[base];
	uint64_t key = ((base + cut) * 0x9e3779b97f4a7c15ull + leaf) * 0xd6e8feb86659fd93ull + root;
	uint32_t *known, id;

	if (!leaf && !root)
		return base;
	for (key |= 1; (known = map64_get(&md->threads->named, key)); key += 2) {
		const struct stack *stack = &md->stacks.stacks[*known];

		if (stack->pcs == (cut ? inner->pcs + cut : inner->pcs) && stack->leaf == leaf &&
		    stack->root == root) {
			stack_table_use(&md->stacks, *known);
			return *known;
		}
	}
	id = stack_table_named(&md->stacks, base, leaf, root);
	if (id && cut) {
		md->stacks.stacks[id].pcs += cut;
		md->stacks.stacks[id].n -= cut;
		md->stacks.stacks[id].above -= cut;
	}
	if (id && map64_set(&md->threads->named, key, id))
		md->oom = true;
	return id;
}

static uint32_t named_stack(struct model *md, uint32_t base, uint32_t leaf, uint32_t root)
{
	return cut_stack(md, base, leaf, root, 0);
}

void threads_use_stacks(struct model *md, const struct g *g)
{
	if (!g->thread)
		return;
	stack_table_use(&md->stacks, g->thread->call_stack);
	stack_table_use(&md->stacks, g->thread->waking.stack);
}

void threads_forget_named(struct model *md)
{
	map64_clear(&md->threads->named);
}

void threads_forget_stack(struct model *md, uint32_t id)
{
	if (id < md->threads->nnatives)
		md->threads->natives[id] = (struct native_stack){0, HINT_NONE};
}

uint8_t thread_stack_hint(struct model *md, uint64_t hash)
{
	return native_of(md, stack_table_find(&md->stacks, hash))->hint;
}

/* --- roots --- */

static uint32_t names_root_of(struct model *md, uint32_t start, uint32_t comm)
{
	uint64_t key = (uint64_t)start << 32 | comm;
	uint32_t *known = start ? map64_get(&md->threads->roots, key) : NULL;
	char text[MAX_FUNCTION_TEXT + MAX_COMM + 8];
	size_t start_len, comm_len;
	const char *start_text, *comm_text;
	uint32_t id;

	if (known || !start)
		return known ? *known : comm;
	start_text = strtab_get(md->options.strings, start, &start_len);
	comm_text = strtab_get(md->options.strings, comm, &comm_len);
	snprintf(text, sizeof(text), "%.*s [%.*s]",
		 (int)(start_len < MAX_FUNCTION_TEXT ? start_len : text_whole(start_text, MAX_FUNCTION_TEXT)),
		 start_text, (int)(comm_len < MAX_COMM ? comm_len : MAX_COMM), comm_text);
	id = bounded_string(md, text, strlen(text), start);
	if (map64_set(&md->threads->roots, key, id))
		md->oom = true;
	return id;
}

uint32_t thread_name(struct model *md, const struct thread_life *t)
{
	return names_root_of(md, t->start, t->comm);
}

/* Whether the name is one of the C library or the loader. */
static bool is_reserved(const struct model *md, uint32_t name)
{
	size_t len;

	return strtab_get(md->options.strings, name, &len)[0] == '_';
}

/* A function that runs before main, or after the thread's own routine, must not name the thread. */
static void learn_start(struct model *md, struct thread_life *t, uint32_t start)
{
	if (start && (!t->start || (is_reserved(md, t->start) && !is_reserved(md, start))))
		t->start = start;
}

uint32_t thread_entry(struct model *md, const struct thread_life *t)
{
	return named_stack(md, 0, 0, thread_name(md, t));
}

static uint32_t stack_with_names(struct model *md, struct thread_life *t, uint64_t hash, uint32_t leaf,
				 bool in_kernel)
{
	uint32_t base = stack_table_find(&md->stacks, hash), root;
	const struct native_stack *native = native_of(md, base);
	uint8_t cut = in_kernel ? 0 : md->stacks.stacks[base].above;

	learn_start(md, t, native->start);
	root = native->start ? names_root_of(md, native->start, t->comm) : thread_name(md, t);
	return cut_stack(md, base, leaf, root, cut);
}

uint32_t thread_stack(struct model *md, struct thread_life *t, uint64_t hash, uint32_t leaf)
{
	return stack_with_names(md, t, hash, leaf, true);
}

uint32_t thread_call_stack(struct model *md, struct thread_life *t, uint64_t hash, uint32_t leaf)
{
	/* The frame that names the call distinguishes the stack from the one that it is a part of. */
	return stack_with_names(md, t, hash, leaf, !leaf);
}

static void keep_all(struct model *md, const struct map64 *map)
{
	for (size_t i = 0; i < map->capacity; i++) {
		if (map->keys[i])
			strtab_keep(md->options.strings, map->values[i]);
	}
}

void threads_keep_names(struct model *md)
{
	struct threads_state *threads = md->threads;

	for (uint32_t i = 1; i < md->entities.gs.n; i++) {
		const struct thread_life *t = md->entities.gs.all[i]->thread;

		strtab_keep(md->options.strings, md->entities.gs.all[i]->name);
		if (t)
			strtab_keep(md->options.strings, t->comm);
	}
	keep_all(md, &threads->files);
	keep_all(md, &threads->comms);
	/* These are rebuilt when needed. */
	map64_clear(&threads->roots);
	memset(threads->leaves, 0, sizeof(threads->leaves));
}

void threads_forget_files(struct model *md)
{
	struct map64 *files = &md->threads->files, kept = {0};

	for (uint32_t i = 1; i < md->entities.gs.n; i++) {
		const struct thread_life *t = md->entities.gs.all[i]->thread;
		const uint32_t *name = t && t->file ? map64_get(files, t->file) : NULL;

		if (name && map64_set(&kept, t->file, *name))
			md->oom = true;
	}
	map64_free(files);
	*files = kept;
}

/* --- leaves --- */

void threads_file(struct model *md, const struct log_file *file)
{
	const char *text = (const char *)(file + 1);
	/* The end of a path says more than its beginning. */
	size_t from = text_tail(text, file->len, MAX_FILE_TEXT);
	uint32_t name = bounded_string(md, text + from, file->len - from, 0);

	if (!file->key)
		return;
	if (map64_set(&md->threads->files, file->key, name))
		md->oom = true;
	for (unsigned i = 0; i < LEAF_WAYS; i++)
		md->threads->leaves[(file->key ^ file->key >> 37) % LEAF_SETS][i] = (struct leaf_name){0};
}

static uint32_t make_leaf(struct model *md, uint64_t call, uint64_t file)
{
	const char *name = syscall_name(&md->threads->calls, &md->target, call), *path = "";
	uint32_t *known = file ? map64_get(&md->threads->files, file) : NULL;
	char number[40], text[MAX_FILE_TEXT + 64];
	size_t len = 0;

	if (!name) {
		snprintf(number, sizeof(number), "system call %llu", (unsigned long long)(call - 1));
		name = number;
	}
	if (known && *known)
		path = strtab_get(md->options.strings, *known, &len);
	if (WAIT_KIND(file) == FILE_NONE)
		snprintf(text, sizeof(text), "%s", name);
	else if (len)
		snprintf(text, sizeof(text), "%s(%u: %.*s)", name, WAIT_FD(file), (int)len, path);
	else
		snprintf(text, sizeof(text), "%s(%u)", name, WAIT_FD(file));
	return bounded_string(md, text, strlen(text), string_id(md, "[too many names]"));
}

uint32_t thread_leaf(struct model *md, uint64_t call, uint64_t file)
{
	struct leaf_name *leaf = &md->threads->leaves[(file ^ file >> 37) % LEAF_SETS][call % LEAF_WAYS];

	if (!call)
		return 0;
	if (!leaf->name || leaf->call != call || leaf->file != file)
		*leaf = (struct leaf_name){call, file, make_leaf(md, call, file)};
	return leaf->name;
}

/* Linux 5.12 and later (io_uring/io-wq.c, sqpoll.c): "iou-wrk-" or "iou-sqp-" and the number of its maker. */
bool thread_is_worker(const struct model *md, const struct thread_life *t)
{
	const char *comm = strtab_get(md->options.strings, t->comm, NULL);

	return strncmp(comm, "iou-wrk-", 8) == 0 || strncmp(comm, "iou-sqp-", 8) == 0;
}

uint32_t thread_reason(struct model *md, const struct wait *wait)
{
	const char *reason = wait_reason(&md->threads->calls, &md->target, wait);

	if (!reason)
		reason = syscall_name(&md->threads->calls, &md->target, wait->call);
	if (!reason) /* there are few of these */
		reason = strtab_get(md->options.strings, thread_leaf(md, wait->call, 0), NULL);
	return string_id(md, reason);
}

/* --- others --- */

void threads_comm(struct model *md, const struct raw_text *text)
{
	uint32_t tid = text->record.tid;
	struct thread_life *t = thread_find(md, tid);
	/* The kernel cuts a comm after 15 bytes. */
	size_t len = text_whole(text->text, text->len < MAX_COMM ? text->len : MAX_COMM);
	uint32_t comm = bounded_string(md, text->text, len, 0);

	if (text->record.site != SITE_COMM || !is_tid(tid) || !comm)
		return;
	if (t)
		t->comm = comm;
	if (md->threads->comms.count >= MAX_NAMES)
		map64_clear(&md->threads->comms);
	if (map64_set(&md->threads->comms, tid, comm))
		md->oom = true;
}

uint32_t external_waker_stack(struct model *md, uint32_t tid, uint64_t pid)
{
	uint32_t *known = tid ? map64_get(&md->threads->comms, tid) : NULL;
	uint32_t outside = string_id(md, OUTSIDE_NAME);
	size_t len = 1;
	const char *comm = known ? strtab_get(md->options.strings, *known, &len) : "?";
	char text[MAX_COMM + 40];

	snprintf(text, sizeof(text), OUTSIDE_NAME " %.*s (%llu)", (int)len, comm, (unsigned long long)pid);
	return named_stack(md, 0, 0, bounded_string(md, text, strlen(text), outside));
}

uint32_t interrupt_stack(struct model *md, uint64_t kind)
{
	static const char *const names[] = {
		[INTERRUPT_OTHER] = "[interrupt]",
		[INTERRUPT_TIMER] = "[interrupt: timer]",
		[INTERRUPT_NET] = "[interrupt: network]",
		[INTERRUPT_DISK] = "[interrupt: disk]",
	};

	return named_stack(md, 0, 0, string_id(md, names[kind <= INTERRUPT_DISK ? kind : INTERRUPT_OTHER]));
}
