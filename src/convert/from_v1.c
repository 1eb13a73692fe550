/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From a v1 or v0 file to ops: its tables, and its events in order. It has no
 * generations; they are made here, so that no more than one is in memory.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/from.h"
#include "convert/v1.h"
#include "wire/buffer.h"
#include "wire/wire.h"

/* A generation of a second, as the runtime makes them, or so many ops. */
enum { MOST_OPS = 1 << 18 };
#define MOST_NS   1000000000ull
#define LATEST_NS (INT64_MAX / 2)
/* Before the first event: room for what a generation begins with. */
#define EARLIEST_NS 100000u

int v1_no_memory(struct reader_v1 *r)
{
	return error_set(r->b->err, ENOMEM, "out of memory");
}

/* --- tables --- */

int v1_take_text(struct reader_v1 *r, struct v1_text text, uint32_t *string)
{
	*string = text.len ? strtab_add(r->b->strings, (const char *)text.bytes, text.len) : 0;
	return text.len && !*string ? v1_no_memory(r) : 0;
}

/*
 * Addresses to frames, by the program's function table. A stack none of whose
 * addresses is in it is left as it is: it is another program's.
 */
static size_t find_names(struct reader_v1 *r, const struct v1_frame *from, size_t n, struct frame *to)
{
	uint64_t pcs[MAX_FRAMES];
	int found;

	for (size_t i = 0; i < n; i++)
		pcs[i] = from[i].pc;
	found = symbol_frames(r->symbol, pcs, n, 0, 0, to);
	for (int i = 0; i < found; i++)
		if (to[i].func)
			return (size_t)found;
	return 0;
}

/* An address without a name is called by its number: viewers group goroutines by name. */
static int name_address(struct reader_v1 *r, struct frame *frame)
{
	char name[24];

	snprintf(name, sizeof(name), "0x%llx", (unsigned long long)frame->pc);
	frame->func = strtab_add_str(r->b->strings, name);
	return frame->func ? 0 : v1_no_memory(r);
}

static int take_frame(struct reader_v1 *r, const struct v1_frame *from, struct frame *to)
{
	*to = (struct frame){.pc = from->pc, .line = (uint32_t)from->line};
	if (v1_take_text(r, from->func, &to->func) || v1_take_text(r, from->file, &to->file))
		return -ENOMEM;
	if (r->format < WIRE_GO17 && name_address(r, to))
		return -ENOMEM;
	return stacks_distinct(&r->b->stacks, to) ? v1_no_memory(r) : 0;
}

static int add_frames(struct reader_v1 *r, const struct v1_frame *from, size_t n, uint32_t *stack)
{
	struct frame to[MAX_FRAMES];
	size_t found = r->symbol ? find_names(r, from, n, to) : 0;

	if (found)
		return stacks_add(&r->b->stacks, to, found, stack) ? v1_no_memory(r) : 0;
	r->b->result->nameless += r->format < WIRE_GO17;
	for (size_t i = 0; i < n; i++)
		if (take_frame(r, &from[i], &to[i]))
			return -ENOMEM;
	return stacks_add(&r->b->stacks, to, n, stack) ? v1_no_memory(r) : 0;
}

int v1_take_stack(struct reader_v1 *r, uint64_t id, uint32_t *stack)
{
	struct v1_frame from[MAX_FRAMES];
	size_t n;

	*stack = id ? idmap_get(&r->stacks, id) : 0;
	if (*stack != IDMAP_NONE)
		return 0;
	n = v1_stack(r->trace, id, from, MAX_FRAMES);
	if (add_frames(r, from, n < MAX_FRAMES ? n : MAX_FRAMES, stack))
		return -ENOMEM;
	return idmap_set(&r->stacks, id, *stack) ? v1_no_memory(r) : 0;
}

/* In stacks are return addresses: one behind the function's first. */
int v1_take_entry(struct reader_v1 *r, uint64_t id, uint32_t *stack)
{
	const struct v1_frame frame = {.pc = id + 1};

	if (r->format >= WIRE_GO17)
		return v1_take_stack(r, id, stack);
	*stack = 0;
	return id ? add_frames(r, &frame, 1, stack) : 0;
}

/* --- ahead of all --- */

static bool blocks_next(const struct idmap *next, uint64_t g)
{
	return idmap_get(next, g) == 1;
}

/* A call lost its P if the next event of its goroutine says so: found from the end on. */
static int find_blocking(struct reader_v1 *r, size_t n)
{
	struct idmap next = {0};
	struct v1_event ev;

	r->blocks = calloc(n / 8 + 1, 1);
	if (!r->blocks)
		return v1_no_memory(r);
	for (size_t i = n; i-- > 0;) {
		v1_event_at(r->trace, i, &ev);
		if (ev.type == V1_GO_SYSCALL && blocks_next(&next, ev.g))
			r->blocks[i / 8] |= (uint8_t)(1 << i % 8);
		if (ev.type == V1_CPU_SAMPLE || (ev.type != V1_GO_SYS_BLOCK && !blocks_next(&next, ev.g)))
			continue;
		if (idmap_set(&next, ev.g, ev.type == V1_GO_SYS_BLOCK)) {
			idmap_free(&next);
			return v1_no_memory(r);
		}
	}
	idmap_free(&next);
	return 0;
}

/* Whether there is a Gomaxprocs, which ends the list of who was there. */
static bool has_start(const struct reader_v1 *r)
{
	struct v1_summary summary;

	v1_summarize(r->trace, &summary);
	return summary.events[V1_GOMAXPROCS];
}

/* The clock of the file as it stands, where it is one; else a moment after 0. */
static int set_base(struct reader_v1 *r, size_t n)
{
	uint64_t freq = v1_trace_frequency(r->trace);
	struct v1_event ev;
	__uint128_t ns;

	r->base = EARLIEST_NS;
	if (n == 0 || freq == 0)
		return 0;
	v1_event_at(r->trace, 0, &ev);
	if (ev.ticks < 0 || ev.time < 0)
		return 0;
	ns = (__uint128_t)ev.ticks * 1000000000u / freq;
	if (ns > EARLIEST_NS && ns < LATEST_NS)
		r->base = (uint64_t)ns - ((uint64_t)ev.time < (uint64_t)ns ? (uint64_t)ev.time : 0);
	return 0;
}

/* --- generations --- */

static int next_generation(struct reader_v1 *r)
{
	int ret = builder_close(r->b, false);

	r->procs_due = r->procs;
	return ret ? ret : builder_open(r->b, r->b->last + 1);
}

/* Not while the world is stopped, nor between a birth and what it says of the newborn. */
static bool may_cut(const struct reader_v1 *r, uint8_t before)
{
	return !r->starting && r->b->nstw == 0 && before != V1_GO_CREATE && r->ev.type != V1_GO_WAITING &&
	       r->ev.type != V1_GO_IN_SYSCALL;
}

static bool is_full(const struct reader_v1 *r, uint64_t began)
{
	return r->b->ops.n > MOST_OPS || (r->time > began && r->time - began > MOST_NS);
}

static int take_event(struct reader_v1 *r, size_t i)
{
	v1_event_at(r->trace, i, &r->ev);
	r->b->result->error_offset = r->ev.offset;
	if (r->ev.time < 0 || (uint64_t)r->ev.time > LATEST_NS - r->base)
		return error_set(r->b->err, EBADMSG, "the times are out of all proportion");
	r->time = r->base + (uint64_t)r->ev.time;
	return 0;
}

static int act_all(struct reader_v1 *r, size_t n)
{
	uint64_t began = r->base;
	uint8_t before = 0;
	int ret = builder_open(r->b, r->base);

	for (size_t i = 0; i < n && !ret; i++) {
		ret = take_event(r, i);
		if (!ret && is_full(r, began) && may_cut(r, before)) {
			began = r->time;
			ret = next_generation(r);
		}
		if (!ret && r->procs_due)
			ret = v1_tell_procs(r);
		if (!ret)
			ret = v1_act(r, i);
		before = r->ev.type;
	}
	return ret ? ret : builder_close(r->b, true);
}

static int convert(struct reader_v1 *r)
{
	size_t n = v1_count(r->trace);
	int ret;

	r->format = v1_trace_format(r->trace);
	r->b->result->version = r->format;
	r->starting = has_start(r);
	ret = set_base(r, n);
	if (!ret)
		ret = find_blocking(r, n);
	return ret ? ret : act_all(r, n);
}

/* What is good of a file that is not, up to its first fault: *n becomes shorter. */
static int find_good_part(struct reader_v1 *r, const uint8_t *bytes, size_t *n)
{
	struct wire_report *report = calloc(1, sizeof(*report));
	int ret = -EBADMSG;

	if (!report)
		return v1_no_memory(r);
	wire_check(bytes, *n, report);
	*n = report->valid_bytes;
	if (report->generations)
		ret = 0;
	free(report);
	return ret;
}

/* Strings are the builder's, and so are those of the names. */
static int open_names(struct reader_v1 *r, const struct functab *names)
{
	if (!names || v1_trace_format(r->trace) >= WIRE_GO17)
		return 0;
	r->symbol = symbol_new(names, r->b->strings);
	return r->symbol ? 0 : v1_no_memory(r);
}

int from_v1(struct builder *b, const uint8_t *bytes, size_t n, const struct functab *names)
{
	struct reader_v1 r = {.b = b};
	struct fault fault = {0}, again = {0};
	int ret = v1_read(bytes, n, &r.trace, &fault);

	if (ret == -EBADMSG) {
		v1_free(r.trace);
		r.trace = NULL;
		ret = find_good_part(&r, bytes, &n);
		if (!ret)
			ret = v1_read(bytes, n, &r.trace, &again);
	}
	if (ret == -ENOMEM)
		v1_no_memory(&r);
	if (!ret)
		ret = open_names(&r, names);
	if (!ret)
		ret = convert(&r);
	if (fault.error.text[0] && (!ret || !b->result->generations)) {
		b->result->fault = fault.error;
		b->result->error_offset = fault.offset;
		ret = -EBADMSG;
	}
	v1_free(r.trace);
	if (r.symbol)
		symbol_free(r.symbol);
	idmap_free(&r.stacks);
	free(r.ps);
	free(r.blocks);
	return ret;
}
