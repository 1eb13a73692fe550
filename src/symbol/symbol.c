/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From return addresses to frames, as Go's tracer does it. What one return
 * address stands for does not depend on its stack, but for two things that
 * are decided last: which leaf frames are skipped, and whether a wrapper is
 * shown (not if it called the function it wraps). So expansions are kept per
 * address, and a stack costs one look-up an address.
 */
#include "symbol/pclntab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/map64.h"

/* A logical frame of an address, innermost first. */
struct element {
	struct frame frame;
	uint8_t func_id;
	bool known; /* the call is in Go code; if not, it only takes part in skipping */
	bool shown; /* there is a frame for it */
	bool last;  /* of its address: the function that really was called */
};

struct symbol {
	const struct functab *tab;
	struct strtab *strings;
	struct map64 cache; /* return address -> index of its first element */
	struct element *elements;
	size_t count, capacity;
	uint32_t goexit, main; /* ids in strings */
};

/* When either is reached, the cache starts anew (some 60 MB). */
#define MAX_ELEMENTS (1u << 20)
#define MAX_CACHED   (1u << 19)
/* Go's inliner stays far below. More than can be skipped and shown is of no use. */
#define MAX_CHAIN 512
/* What a trace string may have (makeTraceFrame, Go 1.26 runtime/tracestack.go); the end tells more. */
#define MAX_TEXT 1024u

struct symbol *symbol_new(const struct functab *tab, struct strtab *strings)
{
	struct symbol *sym = calloc(1, sizeof(*sym));

	if (!sym)
		return NULL;
	sym->tab = tab;
	sym->strings = strings;
	sym->goexit = strtab_add_str(strings, "runtime.goexit");
	sym->main = strtab_add_str(strings, "runtime.main");
	if (!sym->goexit || !sym->main) {
		free(sym);
		return NULL;
	}
	return sym;
}

void symbol_free(struct symbol *sym)
{
	if (!sym)
		return;
	map64_free(&sym->cache);
	free(sym->elements);
	free(sym);
}

/* A text that is written from its end, as far as there is room. */
struct tail {
	char bytes[MAX_TEXT];
	size_t room;
};

static void tail_prepend(struct tail *tail, const char *text, size_t len)
{
	size_t take = len < tail->room ? len : tail->room;

	tail->room -= take;
	memcpy(tail->bytes + tail->room, text + len - take, take);
}

static uint32_t tail_intern(const struct tail *tail, struct strtab *strings)
{
	return strtab_add(strings, tail->bytes + tail->room, MAX_TEXT - tail->room);
}

static uint32_t intern_file(struct symbol *sym, const char *file)
{
	struct tail tail = {.room = MAX_TEXT};

	if (!file)
		file = "?";
	tail_prepend(&tail, file, strlen(file));
	return tail_intern(&tail, sym->strings);
}

/* Type arguments become "[...]" (funcNamePiecesForPrint, Go 1.26 runtime/traceback.go). */
static uint32_t intern_func(struct symbol *sym, const char *name)
{
	const char *open = strchr(name, '['), *close = strrchr(name, ']');
	struct tail tail = {.room = MAX_TEXT};

	if (open && close && close > open) {
		tail_prepend(&tail, close + 1, strlen(close + 1));
		tail_prepend(&tail, "[...]", 5);
		tail_prepend(&tail, name, (size_t)(open - name));
	} else {
		tail_prepend(&tail, name, strlen(name));
	}
	return tail_intern(&tail, sym->strings);
}

/* Whose code is at pc: an inlined function or (index -1) the function itself. */
struct position {
	uint64_t pc; /* in the calling instruction */
	bool inlined;
	struct inlined_call call;
};

static struct position resolve(const struct functab *tab, const struct function *func, uint64_t pc)
{
	uint32_t table = function_pcdata(tab, func, PCDATA_INL_TREE_INDEX);
	struct position pos = {.pc = pc};

	pos.inlined = function_inlined(tab, func, pcvalue_at(tab, func, table, pc), &pos.call);
	return pos;
}

static struct frame describe(struct symbol *sym, const struct function *func, const struct position *pos)
{
	uint32_t offset = pos->inlined ? pos->call.name : func->name;
	const char *name = offset ? span_string(&sym->tab->names, offset) : NULL;
	struct frame frame = {.pc = pos->pc};
	const char *file = function_file_line(sym->tab, func, pos->pc, &frame.line);

	frame.func = name ? intern_func(sym, name) : 0;
	frame.file = intern_file(sym, file);
	return frame;
}

static bool find_function(const struct functab *tab, uint64_t pc, struct function *func)
{
	size_t index;

	return tab && functab_lookup(tab, pc, &index) == 0 && function_read(tab, index, func) == 0;
}

/*
 * The frame that CallersFrames (Go 1.26 runtime/symtab.go, Next) makes of a
 * return address. It looks the address itself up, not the call before it: when
 * a call is the last instruction of a function, that is the next function.
 */
static bool frame_of_return(struct symbol *sym, const struct function *caller, const struct position *pos,
			    struct frame *frame)
{
	uint64_t pc = pos->pc + 1;
	struct function func;
	struct position next;

	if (caller && pc > caller->entry && pc < caller->end) {
		*frame = describe(sym, caller, pos);
		return true;
	}
	if (!find_function(sym->tab, pc, &func))
		return false;
	next = resolve(sym->tab, &func, pc > func.entry ? pc - 1 : pc);
	*frame = describe(sym, &func, &next);
	return true;
}

static int add_element(struct symbol *sym, const struct element *element)
{
	if (sym->count == sym->capacity) {
		size_t capacity = sym->capacity ? sym->capacity * 2 : 1024;
		struct element *elements = realloc(sym->elements, capacity * sizeof(*elements));

		if (!elements)
			return -ENOMEM;
		sym->elements = elements;
		sym->capacity = capacity;
	}
	sym->elements[sym->count++] = *element;
	return 0;
}

/* An address outside of Go code is kept as one frame without expansion (fpunwindExpand). */
static int expand_unknown(struct symbol *sym, uint64_t ret_pc)
{
	struct position pos = {.pc = ret_pc - 1};
	struct element element = {.last = true};

	element.shown = frame_of_return(sym, NULL, &pos, &element.frame);
	return add_element(sym, &element);
}

/* The chain of inlined calls at a call site, innermost first (fpunwindExpand, inlineUnwinder). */
static int expand_known(struct symbol *sym, const struct function *func, uint64_t ret_pc)
{
	struct position pos = resolve(sym->tab, func, ret_pc - 1);

	for (int depth = 0; depth < MAX_CHAIN; depth++) {
		struct element element = {.known = true, .func_id = pos.inlined ? pos.call.id : func->id};

		element.last = !pos.inlined || depth == MAX_CHAIN - 1;
		element.shown = frame_of_return(sym, func, &pos, &element.frame);
		if (add_element(sym, &element))
			return -ENOMEM;
		if (element.last)
			break;
		pos = resolve(sym->tab, func, func->entry + pos.call.parent);
	}
	return 0;
}

static void make_room(struct symbol *sym)
{
	if (sym->count + MAX_CHAIN <= MAX_ELEMENTS && sym->cache.count < MAX_CACHED)
		return;
	map64_clear(&sym->cache);
	sym->count = 0;
}

/* The elements of a return address; valid until the next call. NULL when out of memory. */
static const struct element *expand(struct symbol *sym, uint64_t ret_pc)
{
	const uint32_t *known = map64_get(&sym->cache, ret_pc);
	struct function func;
	size_t first;

	if (known)
		return &sym->elements[*known];
	make_room(sym);
	first = sym->count;
	if (find_function(sym->tab, ret_pc - 1, &func) ? expand_known(sym, &func, ret_pc)
						       : expand_unknown(sym, ret_pc))
		return NULL;
	/* 0 is no address; without a place in the cache it is merely expanded again. */
	if (ret_pc && map64_set(&sym->cache, ret_pc, (uint32_t)first))
		return NULL;
	return &sym->elements[first];
}

/* A stack in the making. */
struct stack_walk {
	struct frame *frames;
	unsigned skip;
	unsigned taken;  /* logical frames, shown or not */
	int count;       /* frames written */
	uint8_t func_id; /* of the frame before: the callee */
	bool known;      /* at least one address has a frame */
};

/* elideWrapperCalling, Go 1.26 runtime/traceback.go: a wrapper that panicked itself is shown. */
static bool is_elided(const struct func_ids *ids, uint8_t func_id, uint8_t callee)
{
	return func_id == ids->wrapper && callee != ids->gopanic && callee != ids->sigpanic &&
	       callee != ids->panicwrap;
}

/* False when the stack is full. */
static bool take_element(const struct symbol *sym, struct stack_walk *walk, const struct element *element)
{
	/* known: there is a table */
	bool elided = element->known && is_elided(sym->tab->ids, element->func_id, walk->func_id);

	if (element->known)
		walk->func_id = element->func_id;
	if (element->shown)
		walk->known = true;
	if (elided)
		return true;
	if (walk->skip > 0) {
		walk->skip--;
		return true;
	}
	if (element->shown)
		walk->frames[walk->count++] = element->frame;
	return ++walk->taken < MAX_FRAMES;
}

/* Whether the function that really was called, not one inlined into it, is the named one. */
static bool is_in(struct symbol *sym, uint64_t ret_pc, uint32_t name)
{
	const struct element *element = expand(sym, ret_pc);

	if (!element)
		return false;
	while (!element->last)
		element++;
	return element->shown && element->frame.func == name;
}

/*
 * The tracer leaves the last address out, and for the main goroutine the one
 * before it (traceStack, Go 1.26 runtime/tracestack.go). A stack that was cut
 * has other roots: these stay.
 */
static size_t without_roots(struct symbol *sym, const uint64_t *pcs, size_t n)
{
	if (n == 0 || !is_in(sym, pcs[n - 1], sym->goexit))
		return n;
	n--;
	return n > 0 && is_in(sym, pcs[n - 1], sym->main) ? n - 1 : n;
}

/*
 * Whether the second address of a sample's stack is the first one's caller: if
 * the function has no frame there. Its stack pointer is at its return address
 * then, or one word below, where the caller's frame pointer was just pushed;
 * the BPF program has seen which (guess_caller). Once the frame is set up, and
 * has no more than that, the word is the frame pointer and was not taken for
 * an address.
 */
static bool has_caller(const struct symbol *sym, const uint64_t *pcs)
{
	struct function func;
	int32_t depth;

	if (pcs[1] == 0 || !find_function(sym->tab, pcs[0] - 1, &func))
		return false;
	depth = pcvalue_at(sym->tab, &func, func.pcsp, pcs[0] - 1);
	return depth == 0 || depth == 8;
}

static int bare_frames(const uint64_t *pcs, size_t n, size_t hole, unsigned skip,
		       struct frame frames[MAX_FRAMES])
{
	int count = 0;

	for (size_t i = skip; i < n && count < MAX_FRAMES; i++)
		if (i != hole)
			frames[count++] = (struct frame){.pc = pcs[i] ? pcs[i] - 1 : 0};
	return count;
}

int symbol_frames(struct symbol *sym, const uint64_t *pcs, size_t n, unsigned skip, unsigned flags,
		  struct frame frames[MAX_FRAMES])
{
	struct stack_walk walk = {.frames = frames};
	size_t hole = flags & SYMBOL_SAMPLE && n > 1 && !has_caller(sym, pcs) ? 1 : n;
	size_t shown;
	bool more = true;

	if (flags & SYMBOL_RUNTIME_FRAMES)
		skip = 0;
	walk.skip = skip;
	shown = flags & (SYMBOL_RUNTIME_FRAMES | SYMBOL_SAMPLE) ? n : without_roots(sym, pcs, n);
	for (size_t i = 0; i < shown && more; i++) {
		const struct element *element;

		if (i == hole)
			continue;
		element = expand(sym, pcs[i]);
		if (!element)
			return -ENOMEM;
		while ((more = take_element(sym, &walk, element)) && !element->last)
			element++;
	}
	return walk.known || shown < n ? walk.count : bare_frames(pcs, n, hole, skip, frames);
}
