/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/wire/frames.h"

#include <string.h>

struct frame_names frames_names(const struct wire_options *options)
{
	return (struct frame_names){
		.symbol = options->symbol,
		.functab = options->functab,
		.flags = options->symbol_flags,
	};
}

/*
 * Returns a frame for a name without a code address. Readers intern frames by PC, so it gets a unique PC. It
 * also gets a file and a line, because internal/trace/testtrace refuses frames without them.
 */
static struct frame literal_frame(uint32_t string)
{
	return (struct frame){.pc = LITERAL_PC + string, .func = string, .file = string, .line = 1};
}

static int literal_frames(const struct stack *stack, struct frame frames[MAX_FRAMES])
{
	uint32_t n = stack->n < MAX_FRAMES ? stack->n : MAX_FRAMES;

	for (uint32_t i = 0; i < n; i++)
		frames[i] = literal_frame((uint32_t)stack->pcs[i]);
	return (int)n;
}

/* Frames read from a file are used unchanged. */
static int ready_frames(const struct stack *stack, struct frame frames[MAX_FRAMES])
{
	uint32_t n = stack->n < MAX_FRAMES ? stack->n : MAX_FRAMES;

	memcpy(frames, stack->frames, n * sizeof(*frames));
	return (int)n;
}

static int bare_frames(const struct stack *stack, unsigned flags, struct frame frames[MAX_FRAMES])
{
	uint32_t skip = flags & SYMBOL_RUNTIME_FRAMES ? 0 : stack->skip;
	int n = 0;

	for (uint32_t i = skip; i < stack->n && n < MAX_FRAMES; i++)
		frames[n++] = (struct frame){.pc = stack->pcs[i]};
	return n;
}

/* `go x.Method()` starts a wrapper; as in startPCForTrace, the frame is that of the wrapped function. */
static int entry_frames(const struct frame_names *names, const struct stack *stack, unsigned flags,
			struct frame frames[MAX_FRAMES])
{
	uint64_t pc = functab_start_pc(names->functab, stack->pcs[0] - 1) + 1;

	return symbol_frames(names->symbol, &pc, 1, 0, flags | SYMBOL_ENTRY, frames);
}

/*
 * Readers intern frames by PC, so a code address with several names needs one PC per name. User addresses
 * have 47 bits.
 */
static struct frame named_root(struct frame frame, uint32_t root)
{
	frame.pc += (uint64_t)root << 47;
	frame.func = root;
	return frame;
}

/* Adds a frame that names what the thread waits for, after its kernel frames. */
static int frames_add_leaf(const struct stack *stack, struct frame frames[MAX_FRAMES], int n)
{
	int at = stack->above < n ? stack->above : n;

	n = n < MAX_FRAMES ? n : MAX_FRAMES - 1;
	at = at < n ? at : n;
	memmove(frames + at + 1, frames + at, (size_t)(n - at) * sizeof(*frames));
	frames[at] = literal_frame(stack->leaf);
	return n + 1;
}

/* Says that frames are missing before the root, or at the end. */
static int add_cut(const struct stack *stack, struct frame frames[MAX_FRAMES], int n)
{
	bool start = stack->root || (stack->starts && n < MAX_FRAMES && n);
	struct frame last = stack->root ? literal_frame(stack->root) : frames[n ? n - 1 : 0];
	int at = n - (start && !stack->root);

	at = at < MAX_FRAMES - start ? at : MAX_FRAMES - 1 - start;
	frames[at++] = literal_frame(stack->cut);
	if (start)
		frames[at++] = last;
	return at;
}

/* Adds a thread's leaf and root names. The root keeps its code address. */
static int add_thread_names(const struct stack *stack, struct frame frames[MAX_FRAMES], int n)
{
	if (n < 0)
		return n;
	if (stack->leaf)
		n = frames_add_leaf(stack, frames, n);
	if (stack->cut)
		return add_cut(stack, frames, n);
	if (stack->root && n == stack->above + (stack->leaf != 0))
		frames[n++] = literal_frame(stack->root);
	else if (stack->root && n == MAX_FRAMES) /* the stack was cut, so the last frame is not the root */
		frames[n - 1] = literal_frame(stack->root);
	else if (stack->root)
		frames[n - 1] = named_root(frames[n - 1], stack->root);
	return n;
}

/* A stack that ends with a start, to which a walk did not come. */
static int started_frames(const struct frame_names *names, const struct stack *stack, unsigned flags,
			  struct frame frames[MAX_FRAMES])
{
	uint64_t pc = functab_start_pc(names->functab, stack->pcs[stack->n - 1] - 1) + 1;
	struct frame start[MAX_FRAMES];
	int n = stack->n > 1
			? symbol_frames(names->symbol, stack->pcs, stack->n - 1, stack->skip, flags, frames)
			: 0;

	if (n < 0)
		return n;
	n = n < MAX_FRAMES ? n : MAX_FRAMES - 1;
	if (symbol_frames(names->symbol, &pc, 1, 0, flags | SYMBOL_ENTRY, start) < 1)
		start[0] = (struct frame){.pc = pc};
	frames[n] = start[0];
	return n + 1;
}

static int inner_frames(const struct frame_names *names, const struct stack *stack, unsigned flags,
			struct frame frames[MAX_FRAMES])
{
	if (stack->frames)
		return ready_frames(stack, frames);
	if (stack->literal)
		return literal_frames(stack, frames);
	if (!names->symbol)
		return bare_frames(stack, flags, frames);
	if (stack->entry && stack->n == 1 && names->functab)
		return entry_frames(names, stack, flags, frames);
	if (stack->starts && stack->n && names->functab)
		return started_frames(names, stack, flags, frames);
	return symbol_frames(names->symbol, stack->pcs, stack->n, stack->skip,
			     flags | (stack->sample ? SYMBOL_SAMPLE : 0) | (stack->scan ? SYMBOL_SCAN : 0),
			     frames);
}

int frames_of(const struct frame_names *names, const struct stack *stack, unsigned flags,
	      struct frame frames[MAX_FRAMES])
{
	return add_thread_names(stack, frames, inner_frames(names, stack, flags, frames));
}
