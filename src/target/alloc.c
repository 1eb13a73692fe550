/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/alloc.h"
#include "target/prove.h"
#include "target/remote.h"
#include "util/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE      8192u       /* pageSize, Go 1.23 to 1.26 runtime/malloc.go */
#define MAX_SPANS (16u << 20) /* 128 GiB of spans of one page */
#define BATCH     1024u
#define TRIES     5

/* mspan.state, Go 1.23 to 1.26 runtime/mheap.go. */
enum { SPAN_DEAD = 0, SPAN_IN_USE = 1, SPAN_MANUAL = 2 };

/* --- places in the code --- */

int target_find_stack_places(const struct target *target, struct alloc_layout *layout)
{
	struct code code;
	uint64_t flag;
	size_t jump;

	if (target_code(target, "runtime.stackalloc", &code) || target_trace_flag(target, &flag) ||
	    code_flag_checks(&code, flag + ALLOC_FLAG, &jump, 1) != 1)
		return -ENOENT;
	return code_slice_result(&code, jump, &layout->stack_base, &layout->stack_size);
}

/* stackalloc allocates a large stack from the heap with mheap_.allocManual. */
static int find_heap(struct target *target)
{
	uint32_t size = target->image->release->layout.runtime.heap_allspans + 24;
	struct code code, callee;

	if (target_code(target, "runtime.stackalloc", &code) ||
	    target_code(target, "runtime.(*mheap).allocManual", &callee) ||
	    code_receiver(&code, callee.address, &target->heap))
		return -ENOENT;
	return image_is_variable(&target->image->elf, target->heap, size) ? 0 : -ENOENT;
}

int target_want_alloc(struct target *target, enum alloc_level level, struct error *err)
{
	struct error inner = {.text = ""};

	if (level == ALLOC_NOTHING)
		return 0;
	if (target->remote)
		return target->remote->want_alloc(target, level, err);
	if (target->go_minor < 23)
		return error_set(err, ENOTSUP,
				 "%s: --alloc needs a program of Go 1.23 or later: the traces of %s have no "
				 "memory events",
				 target->image->label, target->go_version);
	if (target_find_stack_places(target, &target->alloc_layout) || find_heap(target))
		return error_set(err, ENOTSUP,
				 "%s: --alloc: cannot find the heap in the code of runtime.stackalloc (%s): "
				 "was it built in an unusual way?",
				 target->image->label, target->go_version);
	if (prove_code_of_heap(target, target->image->release, &inner))
		return error_set(err, ENOTSUP, "%s: --alloc: its heap is not as in %s: %s",
				 target->image->label, target->go_version, inner.text);
	target->alloc_layout.span_base = target->image->release->layout.runtime.span_base;
	target->alloc = level;
	return 0;
}

/* --- memory in use --- */

/* Returns 0 or -ENOMEM. */
static int areas_add(struct areas *areas, const struct log_area *area)
{
	if (array_grow(&areas->all, &areas->capacity, areas->n + 1, sizeof(*areas->all)))
		return -ENOMEM;
	areas->all[areas->n++] = *area;
	return 0;
}

void areas_free(struct areas *areas)
{
	free(areas->all);
	free(areas->spans);
	*areas = (struct areas){0};
}

int areas_add_stack(struct areas *areas, uint64_t lo, uint64_t hi)
{
	struct log_area area = {.address = lo, .bytes = hi - lo, .kind = AREA_STACK};

	/* An ended goroutine may have released its stack. A C thread's stack size is not a power of two. */
	if (!lo || hi <= lo || (area.bytes & (area.bytes - 1)))
		return 0;
	return areas_add(areas, &area);
}

static size_t span_view_size(const struct layout *layout)
{
	const struct runtime_offsets *at = &layout->runtime;
	size_t size = at->span_base + 8;

	size = at->span_npages + 8 > size ? at->span_npages + 8 : size;
	size = at->span_class + 1 > size ? at->span_class + 1 : size;
	return at->span_state + 1 > size ? at->span_state + 1 : size;
}

/* Parses one mspan from span_view_size() bytes. Returns false if it is unused or implausible. */
static bool span_view_read(const struct layout *layout, const uint8_t *bytes, struct log_area *area)
{
	const struct runtime_offsets *at = &layout->runtime;
	uint64_t base = layout_word(bytes, at->span_base), pages = layout_word(bytes, at->span_npages);
	uint8_t state = bytes[at->span_state];

	*area = (struct log_area){.address = base, .bytes = pages * PAGE, .kind = AREA_SPAN, .class = 1};
	if (state == SPAN_IN_USE)
		area->class = (uint32_t)bytes[at->span_class] << 1;
	return (state == SPAN_IN_USE || state == SPAN_MANUAL) && base && base % PAGE == 0 && pages &&
	       pages <= UINT32_MAX;
}

/* mheap_.allspans grows and moves. Retries until its address is the same before and after the read. */
static int alloc_read_addresses(const struct target *target, uint64_t **addresses, size_t *n)
{
	uint64_t at = target->heap + target->bias + target->image->release->layout.runtime.heap_allspans;
	uint64_t slice[3], again[3];

	for (int i = 0; i < TRIES; i++) {
		int rc = memory_read(target->pid, at, slice, sizeof(slice));

		if (rc)
			return rc;
		if (slice[1] > MAX_SPANS || slice[1] > slice[2])
			continue;
		*n = slice[1];
		*addresses = malloc(slice[1] * sizeof(uint64_t) + 1);
		if (!*addresses)
			return -ENOMEM;
		rc = memory_read(target->pid, slice[0], *addresses, slice[1] * sizeof(uint64_t));
		if (rc == 0)
			rc = memory_read(target->pid, at, again, sizeof(again));
		if (rc == 0 && slice[0] == again[0])
			return 0;
		free(*addresses);
		*addresses = NULL;
		if (rc && rc != -EFAULT)
			return rc;
	}
	return -EAGAIN;
}

static int alloc_read_batch(const struct target *target, struct memory_batch *batch,
			    const uint64_t *addresses, size_t n, struct areas *areas)
{
	const struct layout *layout = &target->image->release->layout;
	struct memory_piece pieces[BATCH];
	int rc;

	for (size_t i = 0; i < n; i++)
		pieces[i] = (struct memory_piece){.address = addresses[i],
						  .size = (uint32_t)span_view_size(layout)};
	rc = memory_gather(batch, pieces, n);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct log_area area;

		if (pieces[i].bytes && span_view_read(layout, pieces[i].bytes, &area))
			rc = areas_add(areas, &area);
	}
	return rc;
}

int areas_read_spans(const struct target *target, struct memory_batch *batch, struct areas *areas)
{
	int rc = areas->spans ? 0 : alloc_read_addresses(target, &areas->spans, &areas->nspans);
	size_t left, count;

	if (rc)
		return rc;
	left = areas->nspans - areas->at;
	count = left < BATCH ? left : BATCH;
	rc = alloc_read_batch(target, batch, areas->spans + areas->at, count, areas);
	areas->at += count;
	return rc ? rc : count < left;
}
