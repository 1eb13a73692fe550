/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Converts the tables and ordered events of a v1 or v0 file to ops. The format has no generations; this file
 * makes them, so that only one is in memory at a time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/convert/from.h"
#include "trace/convert/v1.h"
#include "trace/wire/buffer.h"
#include "trace/wire/wire.h"

/* A generation ends after this many ops or, as in the runtime, after a second. */
enum { MAX_OPS = 1 << 18 };
#define MAX_NS    1000000000ull
#define LATEST_NS (INT64_MAX / 2)
/* Time before the first event, for the start of the first generation. */
#define EARLIEST_NS 100000u

/* --- before the first event --- */

/*
 * Marks system calls that lose their P: the goroutine's next event is then GoSysBlock. last: by goroutine,
 * 1 + the index of its last event if that is a system call, else 0.
 */
static int mark_blocking(struct reader_v1 *r, struct map64 *last)
{
	struct v1_event ev;
	uint32_t call;

	for (uint32_t i = 0; v1_next(r->trace, &ev); i++) {
		if (ev.type == V1_CPU_SAMPLE)
			continue;
		call = map64_find(last, ev.g);
		if (call != MAP64_NONE && call && ev.type == V1_GO_SYS_BLOCK)
			r->blocks[(call - 1) / 8] |= (uint8_t)(1 << (call - 1) % 8);
		if (ev.type != V1_GO_SYSCALL && (call == MAP64_NONE || !call))
			continue;
		if (map64_set(last, ev.g, ev.type == V1_GO_SYSCALL ? i + 1 : 0))
			return v1_no_memory(r);
	}
	return 0;
}

static int find_blocking(struct reader_v1 *r, uint64_t n)
{
	struct map64 last = {0};
	int ret;

	r->blocks = calloc(n / 8 + 1, 1);
	if (!r->blocks)
		return v1_no_memory(r);
	v1_rewind(r->trace);
	ret = mark_blocking(r, &last);
	map64_free(&last);
	return ret;
}

/* Returns true if there is a Gomaxprocs, which ends the initial list of goroutines. */
static bool has_start(const struct reader_v1 *r)
{
	struct v1_summary summary;

	v1_summarize(r->trace, &summary);
	return summary.events[V1_GOMAXPROCS];
}

/* Keeps the file's clock if it has one. Otherwise the trace begins shortly after 0. */
static int set_base(struct reader_v1 *r)
{
	uint64_t freq = v1_trace_frequency(r->trace);
	struct v1_event ev;
	__uint128_t ns;

	r->base = EARLIEST_NS;
	v1_rewind(r->trace);
	if (freq == 0 || !v1_next(r->trace, &ev) || ev.ticks < 0 || ev.time < 0)
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

/* No generation begins while the world is stopped, or between GoCreate and the new goroutine's status. */
static bool may_cut(const struct reader_v1 *r, uint8_t before)
{
	return !r->starting && r->b->sched.nstw == 0 && before != V1_GO_CREATE &&
	       r->ev.type != V1_GO_WAITING && r->ev.type != V1_GO_IN_SYSCALL;
}

static bool is_full(const struct reader_v1 *r, uint64_t began)
{
	return r->b->ops.n > MAX_OPS || (r->time > began && r->time - began > MAX_NS);
}

static int take_event(struct reader_v1 *r)
{
	r->b->result->error_offset = r->ev.offset;
	if (r->ev.time < 0 || (uint64_t)r->ev.time > LATEST_NS - r->base)
		return error_set(r->b->err, EBADMSG, "the times are implausible");
	r->time = r->base + (uint64_t)r->ev.time;
	return 0;
}

static int act_all(struct reader_v1 *r)
{
	uint64_t began = r->base;
	uint8_t before = 0;
	int ret = builder_open(r->b, r->base);

	v1_rewind(r->trace);
	for (size_t i = 0; !ret && v1_next(r->trace, &r->ev); i++) {
		ret = take_event(r);
		if (!ret && is_full(r, began) && may_cut(r, before)) {
			began = r->time;
			ret = next_generation(r);
		}
		if (!ret && r->procs_due)
			ret = v1_emit_procs(r);
		if (!ret)
			ret = v1_act(r, i);
		before = r->ev.type;
	}
	return ret ? ret : builder_close(r->b, true);
}

static int from_v1_convert(struct reader_v1 *r)
{
	int ret;

	r->format = v1_trace_format(r->trace);
	r->b->result->version = r->format;
	r->starting = has_start(r);
	ret = set_base(r);
	if (!ret)
		ret = find_blocking(r, v1_count(r->trace));
	return ret ? ret : act_all(r);
}

/* Reduces *n to the valid prefix of the file. */
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

/* Prepares the lookup of names for frames without them. The names go into the builder's string table. */
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
		ret = from_v1_convert(&r);
	if (fault.error.text[0] && (!ret || !b->result->generations)) {
		b->result->fault = fault.error;
		b->result->error_offset = fault.offset;
		ret = -EBADMSG;
	}
	v1_free(r.trace);
	if (r.symbol)
		symbol_free(r.symbol);
	map64_free(&r.stacks);
	free(r.ps);
	free(r.blocks);
	return ret;
}
