/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Turns return addresses into frames, as Go's tracer does. The expansion of a return address does not depend
 * on the rest of its stack, with two exceptions that are decided last: which leaf frames are skipped, and
 * whether a wrapper is shown (not if it called the function it wraps). So expansions are cached per address,
 * and a stack costs one look-up per address.
 */
#include "code/symbol/symbol.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "code/symbol/natives.h"
#include "code/symbol/pclntab.h"
#include "code/symbol/pcvalue.h"
#include "code/symbol/position.h"
#include "code/symbol/scan.h"
#include "util/array.h"
#include "util/map64.h"

/* A logical frame of an address. Elements are stored innermost first. */
struct element {
	struct frame frame;
	bool known;   /* in Go code; otherwise it counts only for skipping */
	bool shown;   /* has a frame */
	bool last;    /* last element of its address: the function that was really called */
	bool wrapper; /* shown only if it called a function of the runtime's panics */
	bool panics;
};

struct symbol {
	const struct functab *tab;
	const struct natives *natives; /* may be NULL */
	unsigned natives_version;      /* version of natives that the cache was made with */
	struct strtab *strings;
	struct map64 cache; /* return address -> index of its first element */
	struct element *elements;
	size_t count, capacity;
	uint32_t goexit, main, sigpanic; /* ids in strings */
};

/* When either limit is reached, the cache is emptied (about 60 MB). */
#define MAX_ELEMENTS (1u << 20)
#define MAX_CACHED   (1u << 19)
/* Go's inliner stays far below. A longer chain could be neither skipped nor shown. */
#define MAX_CHAIN 512
/*
 * Limit of a string in a trace (makeTraceFrame, Go 1.26 runtime/tracestack.go). Longer names lose their
 * beginning, which says less than their end.
 */
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
	sym->sigpanic = strtab_add_str(strings, "runtime.sigpanic");
	if (!sym->goexit || !sym->main || !sym->sigpanic) {
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

void symbol_forget(struct symbol *sym)
{
	map64_clear(&sym->cache);
	sym->count = 0;
}

void symbol_use_natives(struct symbol *sym, const struct natives *natives)
{
	sym->natives = natives;
	sym->natives_version = natives_version(natives);
	symbol_forget(sym);
}

/* A text built from its end. What does not fit is dropped at the front. */
struct tail {
	char bytes[MAX_TEXT];
	size_t unused;
};

static void tail_prepend(struct tail *tail, const char *text, size_t len)
{
	size_t take = len < tail->unused ? len : tail->unused;

	tail->unused -= take;
	memcpy(tail->bytes + tail->unused, text + len - take, take);
}

static uint32_t tail_intern(const struct tail *tail, struct strtab *strings)
{
	return strtab_add(strings, tail->bytes + tail->unused, MAX_TEXT - tail->unused);
}

static uint32_t intern_file(struct symbol *sym, const char *file)
{
	struct tail tail = {.unused = MAX_TEXT};

	if (!file)
		file = "?";
	tail_prepend(&tail, file, strlen(file));
	return tail_intern(&tail, sym->strings);
}

/* Replaces type arguments by "[...]" (funcNamePiecesForPrint, Go 1.26 runtime/traceback.go). */
static uint32_t intern_func(struct symbol *sym, const char *name)
{
	const char *open = strchr(name, '['), *close = strrchr(name, ']');
	struct tail tail = {.unused = MAX_TEXT};

	if (sym->tab->rules->short_names && open && close && close > open) {
		tail_prepend(&tail, close + 1, strlen(close + 1));
		tail_prepend(&tail, "[...]", 5);
		tail_prepend(&tail, name, (size_t)(open - name));
	} else {
		tail_prepend(&tail, name, strlen(name));
	}
	return tail_intern(&tail, sym->strings);
}

/* The code at pc belongs to an inlined function, or to the function itself (index -1). */
struct position {
	uint64_t pc; /* in the calling instruction */
	bool inlined;
	struct inlined_call call;
};

static struct position resolve(const struct function *func, uint64_t pc)
{
	struct position pos = {.pc = pc};

	pos.inlined =
		function_inlined(func->tab, func, function_inline_index(func->tab, func, pc), &pos.call);
	return pos;
}

static uint32_t intern_name(struct symbol *sym, const struct function *func, uint32_t offset)
{
	const char *name = offset ? span_string(&func->tab->names, offset) : NULL;

	return name ? intern_func(sym, name) : 0;
}

static struct frame symbol_describe(struct symbol *sym, const struct function *func,
				    const struct position *pos)
{
	struct frame frame = {.pc = pos->pc};
	const char *file = function_file_line(func->tab, func, pos->pc, &frame.line);

	frame.func = intern_name(sym, func, pos->inlined ? pos->call.name : func->name);
	frame.file = intern_file(sym, file);
	return frame;
}

static bool symbol_find_function(const struct functab *tab, uint64_t pc, struct function *func)
{
	size_t index;

	if (!tab)
		return false;
	tab = functab_with(tab, pc);
	return functab_lookup(tab, pc, &index) == 0 && function_read(tab, index, func) == 0;
}

/*
 * The frame that CallersFrames makes of a return address (Go 1.26 runtime/symtab.go, Next). It looks up the
 * address itself, not the call before it. If the call is the last instruction of a function, that finds the
 * next function.
 */
static bool frame_of_return(struct symbol *sym, const struct function *caller, const struct position *pos,
			    struct frame *frame)
{
	uint64_t pc = pos->pc + 1;
	struct function func;
	struct position next;

	if (caller && pc > caller->entry && pc < caller->end) {
		*frame = symbol_describe(sym, caller, pos);
		return true;
	}
	if (!symbol_find_function(sym->tab, pc, &func))
		return false;
	next = resolve(&func, pc > func.entry ? pc - 1 : pc);
	*frame = symbol_describe(sym, &func, &next);
	return true;
}

static int add_element(struct symbol *sym, const struct element *element)
{
	if (array_grow(&sym->elements, &sym->capacity, sym->count + 1, sizeof(*sym->elements)))
		return -ENOMEM;
	sym->elements[sym->count++] = *element;
	return 0;
}

/* elideWrapperCalling (Go 1.26 runtime/traceback.go): a wrapper that itself panicked is shown. */
static void mark_by_id(struct element *element, const struct func_ids *ids, uint8_t id)
{
	element->wrapper = id == ids->wrapper;
	element->panics = id == ids->gopanic || id == ids->sigpanic || id == ids->panicwrap;
}

/*
 * The same for Go 1.10 and 1.11, which decide by function and file name (stackExpander.next,
 * runtime/symtab.go).
 */
static void mark_by_file(const struct symbol *sym, struct element *element)
{
	const char *func = strtab_get(sym->strings, element->frame.func, NULL);
	const char *file = strtab_get(sym->strings, element->frame.file, NULL);

	element->wrapper = strcmp(file, "<autogenerated>") == 0;
	element->panics = strcmp(func, "runtime.gopanic") == 0 || strcmp(func, "runtime.sigpanic") == 0 ||
			  strcmp(func, "runtime.panicwrap") == 0;
}

/* An address outside of Go code becomes one frame (fpunwindExpand). */
static int expand_unknown(struct symbol *sym, uint64_t ret_pc)
{
	struct position pos = {.pc = ret_pc - 1};
	struct element element = {.last = true};

	element.shown = frame_of_return(sym, NULL, &pos, &element.frame);
	return add_element(sym, &element);
}

static int expand_native(struct symbol *sym, uint64_t ret_pc)
{
	unsigned n = 0;
	const struct frame *frames = sym->natives ? natives_frames(sym->natives, ret_pc, &n) : NULL;

	if (!frames)
		return expand_unknown(sym, ret_pc);
	for (unsigned i = 0; i < n; i++) {
		struct element element = {.frame = frames[i], .shown = true, .last = i == n - 1};

		if (add_element(sym, &element))
			return -ENOMEM;
	}
	return 0;
}

/* Expands the chain of inlined calls at a call site, innermost first (fpunwindExpand, inlineUnwinder). */
static int expand_by_pc(struct symbol *sym, const struct function *func, uint64_t call_pc)
{
	struct position pos = resolve(func, call_pc);

	for (int depth = 0; depth < MAX_CHAIN; depth++) {
		struct element element = {.known = true};

		mark_by_id(&element, &sym->tab->rules->ids, pos.inlined ? pos.call.id : func->id);
		element.last = !pos.inlined || depth == MAX_CHAIN - 1;
		element.shown = frame_of_return(sym, func, &pos, &element.frame);
		if (add_element(sym, &element))
			return -ENOMEM;
		if (element.last)
			break;
		pos = resolve(func, func->entry + pos.call.parent);
	}
	return 0;
}

/* The same for trees that contain the position of each call (pcExpander.next, Go 1.9 runtime/symtab.go). */
static int expand_by_index(struct symbol *sym, const struct function *func, uint64_t call_pc)
{
	int32_t index = function_inline_index(func->tab, func, call_pc);
	struct frame place = {.pc = call_pc};

	place.file = intern_file(sym, function_file_line(func->tab, func, call_pc, &place.line));
	for (int depth = 0; depth < MAX_CHAIN; depth++) {
		struct element element = {.known = true, .shown = true, .frame = place};
		struct inlined_call call;
		bool inlined = function_inlined(func->tab, func, index, &call);

		element.last = !inlined || depth == MAX_CHAIN - 1;
		element.frame.func = intern_name(sym, func, inlined ? call.name : func->name);
		if (sym->tab->rules->elide == ELIDE_BY_FILE)
			mark_by_file(sym, &element);
		if (add_element(sym, &element))
			return -ENOMEM;
		if (element.last)
			break;
		place.file = intern_file(sym, function_file(func->tab, func, call.file));
		place.line = call.line;
		index = (int32_t)call.parent;
	}
	return 0;
}

/* traceFrameForPC up to Go 1.8 (runtime/trace.go): no inlining, and readers subtract one from the address. */
static int expand_raw(struct symbol *sym, const struct function *func, uint64_t call_pc, uint64_t ret_pc)
{
	struct position pos = {.pc = call_pc};
	struct element element = {.known = true, .shown = true, .last = true};

	element.frame = symbol_describe(sym, func, &pos);
	element.frame.pc = ret_pc;
	return add_element(sym, &element);
}

/* A return address equal to a function's entry is treated as an address in that function. */
static int expand_known(struct symbol *sym, const struct function *func, uint64_t ret_pc)
{
	const struct release_rules *rules = sym->tab->rules;
	uint64_t call_pc = ret_pc > func->entry ? ret_pc - 1 : ret_pc;

	if (rules->written_raw)
		return expand_raw(sym, func, call_pc, ret_pc);
	if (rules->tree_by_index)
		return expand_by_index(sym, func, call_pc);
	return expand_by_pc(sym, func, call_pc);
}

/* Before 1.21, stacks were unwound by the function that contains the return address. */
static bool find_caller(const struct functab *tab, uint64_t ret_pc, struct function *func)
{
	return symbol_find_function(tab, tab && tab->rules->at_return ? ret_pc : ret_pc - 1, func);
}

static void symbol_make_space(struct symbol *sym)
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
	symbol_make_space(sym);
	first = sym->count;
	if (find_caller(sym->tab, ret_pc, &func) ? expand_known(sym, &func, ret_pc)
						 : expand_native(sym, ret_pc))
		return NULL;
	/*
	 * Not cached: address 0, which is not a valid key, and addresses that may get a name later. They are
	 * expanded again each time.
	 */
	if (ret_pc && (!sym->natives || sym->elements[first].shown) &&
	    map64_set(&sym->cache, ret_pc, (uint32_t)first))
		return NULL;
	return &sym->elements[first];
}

/* State while a stack's frames are written. */
struct stack_walk {
	struct frame *frames;
	unsigned skip;
	unsigned taken;    /* logical frames so far, shown or not */
	int count;         /* frames written */
	bool show_wrapper; /* whether the next element is shown if it is a wrapper */
	bool known;        /* at least one address has a frame */
};

static bool elides_by_file(const struct symbol *sym)
{
	return sym->tab && sym->tab->rules->elide == ELIDE_BY_FILE;
}

/* Wrappers are elided by file after skipping, by id before skipping. Returns false when the stack is full. */
static bool take_element(const struct symbol *sym, struct stack_walk *walk, const struct element *element)
{
	bool elided = element->wrapper && !walk->show_wrapper;

	if (element->shown)
		walk->known = true;
	if (elides_by_file(sym) && walk->skip > 0) {
		walk->skip--;
		return true;
	}
	if (element->known)
		walk->show_wrapper = element->panics;
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

/* Whether the function that was really called, not one inlined into it, has this name. */
static bool symbol_is_in(struct symbol *sym, uint64_t ret_pc, uint32_t name)
{
	const struct element *element = expand(sym, ret_pc);

	if (!element)
		return false;
	while (!element->last)
		element++;
	return element->shown && element->frame.func == name;
}

/*
 * Go's tracer omits the last address, and for the main goroutine also the one before it (traceStack, Go 1.26
 * runtime/tracestack.go). The roots of a truncated stack are other functions and are kept.
 */
static size_t without_roots(struct symbol *sym, const uint64_t *pcs, size_t n)
{
	if (n == 0 || !symbol_is_in(sym, pcs[n - 1], sym->goexit))
		return n;
	n--;
	return n > 0 && symbol_is_in(sym, pcs[n - 1], sym->main) ? n - 1 : n;
}

/*
 * Whether the second address of a sample's stack is the caller of the first. It is if the first function has
 * no frame at that point: its stack pointer is at the return address, or one word below, after the caller's
 * frame pointer was pushed. The BPF program has found out which (guess_caller). If the function has set up a
 * frame of only that size, the word is the frame pointer, and the BPF program did not record it as an
 * address.
 */
static bool has_caller(const struct symbol *sym, const uint64_t *pcs)
{
	struct function func;
	int32_t depth;

	if (pcs[1] == 0 || !symbol_find_function(sym->tab, pcs[0] - 1, &func))
		return false;
	depth = pcvalue_at(func.tab, &func, func.pcsp, pcs[0] - 1);
	return depth == 0 || depth == 8;
}

static int symbol_bare_frames(const uint64_t *pcs, size_t n, size_t hole, unsigned skip,
			      struct frame frames[MAX_FRAMES])
{
	int count = 0;

	for (size_t i = skip; i < n && count < MAX_FRAMES; i++)
		if (i != hole)
			frames[count++] = (struct frame){.pc = pcs[i] ? pcs[i] - 1 : 0};
	return count;
}

/*
 * Whether the next address is that of a faulting instruction: the signal handler injects the call of
 * sigpanic.
 */
static bool is_fault(const struct symbol *sym, const struct element *element)
{
	return sym->tab && sym->tab->rules->exact_faults && element->shown &&
	       element->frame.func == sym->sigpanic;
}

static int symbol_walk_frames(struct symbol *sym, const uint64_t *pcs, size_t n, unsigned skip,
			      unsigned flags, struct frame frames[MAX_FRAMES])
{
	struct stack_walk walk = {.frames = frames,
				  .show_wrapper = flags & SYMBOL_ENTRY || elides_by_file(sym)};
	bool guessed = (flags & (SYMBOL_SAMPLE | SYMBOL_SCAN)) == SYMBOL_SAMPLE;
	size_t hole = guessed && n > 1 && !has_caller(sym, pcs) ? 1 : n;
	size_t shown;
	bool more = true, faulted = false;

	if (flags & SYMBOL_RUNTIME_FRAMES)
		skip = 0;
	walk.skip = skip;
	shown = flags & (SYMBOL_RUNTIME_FRAMES | SYMBOL_SAMPLE) ? n : without_roots(sym, pcs, n);
	for (size_t i = 0; i < shown && more; i++) {
		const struct element *element;

		if (i == hole)
			continue;
		element = expand(sym, pcs[i] + faulted);
		if (!element)
			return -ENOMEM;
		while ((more = take_element(sym, &walk, element)) && !element->last)
			element++;
		faulted = is_fault(sym, element);
	}
	return walk.known || shown < n ? walk.count : symbol_bare_frames(pcs, n, hole, skip, frames);
}

int symbol_frames(struct symbol *sym, const uint64_t *pcs, size_t n, unsigned skip, unsigned flags,
		  struct frame frames[MAX_FRAMES])
{
	uint64_t walked[2 * MAX_FRAMES]; /* leaf frames may be skipped */

	if (sym->natives && natives_version(sym->natives) != sym->natives_version)
		symbol_use_natives(sym, sym->natives);
	if (!(flags & SYMBOL_SCAN))
		return symbol_walk_frames(sym, pcs, n, skip, flags, frames);
	if (sym->tab)
		n = scan_frames(sym->tab, pcs, n, walked, 2 * MAX_FRAMES);
	else
		n = n > 0; /* the leaf is an address in any case */
	return symbol_walk_frames(sym, sym->tab ? walked : pcs, n, skip, flags, frames);
}
