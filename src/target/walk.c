/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * From 1.21 on the runtime's own tracer walks by frame pointers (runtime/trace.go). Before 1.21 the chain of
 * frame pointers omits functions without a frame; before 1.14 it is broken in places; before 1.7 there is
 * none.
 */
#define FIRST_BY_FRAME_POINTERS 21

#define NEXT_CHUNK 4096u
/* A stack with the maximum number of frames is rarely larger. */
#define MAX_COPY (256u << 10)
/* Barriers are at 1 kB, 2 kB, 4 kB ... (Go 1.5 to 1.8 runtime/mstkbar.go). */
#define MAX_BARRIERS 64u

/* --- by frame pointers --- */

/* The next part of a long stack, read a page at a time and kept for the following frames. */
struct stack_reader {
	pid_t pid;
	uint64_t end; /* of the stack */
	uint64_t address;
	size_t size;
	uint8_t bytes[NEXT_CHUNK];
};

static int read_on(void *ctx, uint64_t address, void *to, size_t size)
{
	struct stack_reader *reader = ctx;

	if (address < reader->address || reader->size < size ||
	    address - reader->address > reader->size - size) {
		uint64_t available = reader->end - address;
		int rc;

		reader->address = address;
		reader->size = available < NEXT_CHUNK ? available : NEXT_CHUNK;
		rc = memory_read(reader->pid, address, reader->bytes, reader->size);
		if (rc) {
			reader->size = 0;
			return rc;
		}
	}
	memcpy(to, reader->bytes + (address - reader->address), size);
	return 0;
}

/*
 * Up to 1.22 the runtime saves no frame pointer at the beginning of a system call (g.syscallbp was added in
 * 1.23). It is computed from the frame size in the prologue of the function that enters the system call.
 */
static uint64_t syscall_bp(const struct target *program, const struct g_view *view)
{
	const struct target *target = plugins_owner(program, view->pc);
	size_t index, frame;
	struct code code;
	const char *name;
	uint64_t entry, end;

	/* arm64: directly below the stack pointer (cmd/internal/obj/arm64/obj7.go, preprocess). */
	if (target->image->elf.arm64)
		return view->sp - sizeof(uint64_t);
	if (functab_lookup(target->functab, view->pc, &index) ||
	    functab_entry(target->functab, index, &entry, &end, &name) ||
	    target_code_at(target, entry, end, &code) || code_frame(&code, &frame))
		return 0;
	return view->sp + frame;
}

static unsigned walk_frames(const struct target *target, const struct g_view *stopped,
			    const struct memory_piece *piece, uint64_t pcs[STACK_DEPTH], uint16_t *flags)
{
	struct g_view view = *stopped;
	struct stack_reader reader = {.pid = target->pid, .end = view.stack_hi, .size = 0};
	struct stack_memory memory = {
		.address = piece->address,
		.bytes = piece->bytes,
		.size = piece->size,
		.read = read_on,
		.ctx = &reader,
	};

	if (view.status == G_STATUS_SYSCALL && target->layout.g_syscallbp == LAYOUT_ABSENT)
		view.bp = syscall_bp(target, &view);
	return stack_walk(&view, &memory, pcs, flags);
}

/* --- by the function table --- */

/* Reads the stack barriers of this goroutine, if the collector has set any. */
static size_t read_barriers(const struct target *target, uint64_t g, struct stack_barrier *barriers)
{
	_Static_assert(sizeof(*barriers) == 16, "as struct stkbar of the runtime");
	uint32_t offset = target->image->release->layout.runtime.g_barriers;
	uint64_t slice[2];

	if (offset == LAYOUT_ABSENT || memory_read(target->pid, g + offset, slice, sizeof(slice)))
		return 0;
	if (slice[1] > MAX_BARRIERS)
		slice[1] = MAX_BARRIERS;
	if (!slice[1] || memory_read(target->pid, slice[0], barriers, slice[1] * sizeof(*barriers)))
		return 0;
	return slice[1];
}

/* Reads more of the stack, up to `end`. */
static bool read_more(const struct walker *walker, struct stack_bytes *stack, uint64_t end)
{
	uint64_t size = (stack->hi - stack->lo) * 8;

	if (stack->hi >= end)
		return false;
	size = size < end - stack->lo ? size : end - stack->lo;
	if (memory_read(walker->target->pid, stack->lo, walker->buffer, size))
		return false;
	stack->bytes = walker->buffer;
	stack->hi = stack->lo + size;
	return true;
}

/* Copies ever larger parts of the stack, until they contain the root or the maximum number of frames. */
static unsigned walk_table(struct walker *walker, uint64_t g, const struct g_view *view,
			   const struct memory_piece *piece, uint64_t pcs[STACK_DEPTH], uint16_t *flags)
{
	struct stack_barrier barriers[MAX_BARRIERS];
	struct stack_bytes stack = {
		.bytes = piece->bytes,
		.lo = piece->address,
		.hi = piece->address + piece->size,
		.barriers = barriers,
	};
	uint64_t end = view->stack_hi - stack.lo < MAX_COPY ? view->stack_hi : stack.lo + MAX_COPY;
	bool whole, more;
	unsigned n;

	for (;;) {
		n = (unsigned)unwinder_walk(walker->unwinder, view->pc, view->sp, &stack, pcs, STACK_DEPTH,
					    &whole);
		if (whole || n == STACK_DEPTH)
			break;
		more = read_more(walker, &stack, end);
		if (!stack.nbarriers)
			stack.nbarriers = read_barriers(walker->target, g, barriers);
		else if (!more)
			break;
		if (!more && !stack.nbarriers)
			break;
	}
	*flags = whole ? 0 : n == STACK_DEPTH ? RAW_STACK_CUT : RAW_STACK_BROKEN;
	return n;
}

int walker_init(struct walker *walker, const struct target *target)
{
	*walker = (struct walker){.target = target};
	if (target->go_minor >= FIRST_BY_FRAME_POINTERS)
		return 0;
	walker->unwinder = unwinder_new(target->functab);
	walker->buffer = malloc(MAX_COPY);
	return walker->unwinder && walker->buffer ? 0 : -ENOMEM;
}

void walker_free(struct walker *walker)
{
	unwinder_free(walker->unwinder);
	free(walker->buffer);
	*walker = (struct walker){.target = NULL};
}

unsigned walker_walk(struct walker *walker, uint64_t g, const struct g_view *view,
		     const struct memory_piece *piece, uint64_t pcs[STACK_DEPTH], uint16_t *flags)
{
	if (walker->unwinder)
		return walk_table(walker, g, view, piece, pcs, flags);
	return walk_frames(walker->target, view, piece, pcs, flags);
}
