/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "analysis/strips.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/path.h"
#include "analysis/state.h"
#include "trace/ops/own_names.h"
#include "util/array.h"
#include "util/json.h"

/*
 * MOST_SPANS bounds the memory of all strips together to about 30 MB. Each finding with a place has an equal
 * share of it: a busy time early in the trace does not take the memory of a later one.
 */
enum { MOST_SPANS = 1 << 19, COLUMNS = 400, LANES = 6, WAKES = 100 };

struct strip_span { /* 56 bytes */
	uint64_t goid;
	struct span span;
};

struct strip {
	struct analysis_place place;
	bool has_place, is_truncated;
	struct strip_span *spans;
	size_t n, capacity;
};

struct strips {
	struct strip *all; /* by finding */
	size_t n, share;   /* share: the most spans of each */
};

/* The goroutines of a strip that are shown. */
struct lanes {
	uint64_t goids[LANES];
	unsigned n;
};

struct strips *strips_new(const struct analysis *a)
{
	struct strips *strips = calloc(1, sizeof(*strips));
	size_t nplaces = 0;

	if (!strips)
		return NULL;
	strips->all = calloc(a->nfindings ? a->nfindings : 1, sizeof(*strips->all));
	if (!strips->all) {
		free(strips);
		return NULL;
	}
	strips->n = a->nfindings;
	for (size_t i = 0; i < strips->n; i++) {
		strips->all[i].has_place = analysis_finding_place(a, (unsigned)i, &strips->all[i].place);
		nplaces += strips->all[i].has_place;
	}
	strips->share = MOST_SPANS / (nplaces ? nplaces : 1);
	return strips;
}

void strips_free(struct strips *strips)
{
	if (!strips)
		return;
	for (size_t i = 0; i < strips->n; i++)
		free(strips->all[i].spans);
	free(strips->all);
	free(strips);
}

/* --- the second pass --- */

static void strip_keep(struct strip *strip, size_t most, uint64_t goid, const struct span *span)
{
	if (strip->n >= most ||
	    array_grow(&strip->spans, &strip->capacity, strip->n + 1, sizeof(*strip->spans))) {
		strip->is_truncated = true;
		return;
	}
	strip->spans[strip->n++] = (struct strip_span){goid, *span};
}

static void strips_on_span(void *ctx, const struct analysis *a, uint64_t goid, const struct span *span)
{
	struct strips *strips = ctx;

	if (!goid || goid_is_own(goid) || span->end <= span->start)
		return;
	for (size_t i = 0; i < strips->n; i++) {
		struct strip *strip = &strips->all[i];

		if (strip->has_place && span->end > a->begin + strip->place.from &&
		    span->start < a->begin + strip->place.to)
			strip_keep(strip, strips->share, goid, span);
	}
}

void strips_watch(struct strips *strips, struct analysis *a)
{
	for (size_t i = 0; i < strips->n; i++) {
		strips->all[i].n = 0;
		strips->all[i].is_truncated = false;
	}
	a->observer = (struct observer){.ctx = strips, .span = strips_on_span};
}

/* --- the goroutines that are shown --- */

static int lane_of(const struct lanes *lanes, uint64_t goid)
{
	for (unsigned i = 0; i < lanes->n; i++) {
		if (lanes->goids[i] == goid)
			return (int)i;
	}
	return -1;
}

static void lane_add(struct lanes *lanes, uint64_t goid)
{
	if (goid && !goid_is_own(goid) && lanes->n < LANES && lane_of(lanes, goid) < 0)
		lanes->goids[lanes->n++] = goid;
}

static bool is_in_instance(const struct analysis *a, const struct strip *strip, const struct span *span)
{
	return span->end >= a->begin + strip->place.begin && span->start <= a->begin + strip->place.end;
}

/* The last wake-up before the end of the instance counts most, so the spans are visited from the end. */
static void add_wakers(const struct analysis *a, const struct strip *strip, struct lanes *lanes,
		       uint64_t goid)
{
	for (size_t i = strip->n; i-- > 0;) {
		const struct strip_span *one = &strip->spans[i];

		if (one->goid == goid && is_in_instance(a, strip, &one->span))
			lane_add(lanes, one->span.waker);
	}
}

/* Those that wait at the place of the finding at that time, too. */
static void add_peers(const struct analysis *a, const struct strip *strip, uint32_t stack,
		      struct lanes *lanes)
{
	for (size_t i = 0; stack && i < strip->n; i++) {
		if (strip->spans[i].span.stack == stack && is_in_instance(a, strip, &strip->spans[i].span))
			lane_add(lanes, strip->spans[i].goid);
	}
}

/* The goroutine of the instance, who woke it, who woke those, others that wait there, then any. */
static void choose_lanes(const struct analysis *a, const struct strip *strip, uint32_t stack,
			 struct lanes *lanes)
{
	lane_add(lanes, strip->place.goroutine);
	if (!lanes->n)
		add_peers(a, strip, stack, lanes);
	for (unsigned i = 0; i < lanes->n; i++)
		add_wakers(a, strip, lanes, lanes->goids[i]);
	add_peers(a, strip, stack, lanes);
	for (size_t i = 0; !lanes->n && i < strip->n; i++)
		lane_add(lanes, strip->spans[i].goid);
}

/* --- JSON --- */

/* The place of a time in the window, in columns. */
static double column_of(const struct analysis *a, const struct strip *strip, uint64_t time)
{
	uint64_t from = a->begin + strip->place.from, length = strip->place.to - strip->place.from;

	if (time <= from || !length)
		return 0;
	return time - from >= length ? COLUMNS : COLUMNS * ((double)(time - from) / (double)length);
}

/* How much of each column each state takes. */
struct lane_columns {
	float part[COLUMNS][ACT_COUNT];
};

static void columns_add_span(struct lane_columns *columns, double from, double to, unsigned activity)
{
	for (unsigned i = (unsigned)from; i < COLUMNS && i < to; i++) {
		double begin = from > i ? from : i, end = to < i + 1 ? to : i + 1;

		columns->part[i][activity] += (float)(end - begin);
	}
}

static unsigned largest(const float part[ACT_COUNT])
{
	unsigned best = ACT_NONE;

	for (unsigned i = 1; i < ACT_COUNT; i++) {
		if (part[i] > part[best])
			best = i;
	}
	return best;
}

/* "runs":[[column, columns, state], ...] */
static void put_runs(struct json *json, const struct lane_columns *columns)
{
	unsigned begin = 0;

	json_open(json, "runs", '[');
	while (begin < COLUMNS) {
		unsigned state = largest(columns->part[begin]), end = begin + 1;

		while (end < COLUMNS && largest(columns->part[end]) == state)
			end++;
		if (state != ACT_NONE) {
			json_open(json, NULL, '[');
			json_number(json, NULL, begin);
			json_number(json, NULL, end - begin);
			json_number(json, NULL, state);
			json_close(json, ']');
		}
		begin = end;
	}
	json_close(json, ']');
}

static void put_lane(struct json *json, const struct analysis *a, const struct strip *strip, uint64_t goid,
		     struct lane_columns *columns)
{
	const char *name = "";

	memset(columns, 0, sizeof(*columns));
	for (size_t i = 0; i < strip->n; i++) {
		const struct span *span = &strip->spans[i].span;

		if (strip->spans[i].goid != goid)
			continue;
		columns_add_span(columns, column_of(a, strip, span->start), column_of(a, strip, span->end),
				 span->activity);
		/* The stack of a runnable goroutine is its waker's. */
		if (!*name && span->stack && span->activity != ACT_RUNNABLE)
			name = name_text(a, stack_root(a, span->stack)->func);
	}
	json_open(json, NULL, '{');
	json_number(json, "g", goid);
	json_text(json, "name", name);
	put_runs(json, columns);
	json_close(json, '}');
}

/* "wakes":[[column, lane of the waker, lane], ...] */
static void put_wakes(struct json *json, const struct analysis *a, const struct strip *strip,
		      const struct lanes *lanes)
{
	unsigned n = 0;

	json_open(json, "wakes", '[');
	for (size_t i = strip->n; i-- > 0 && n < WAKES;) {
		const struct strip_span *one = &strip->spans[i];
		int from = one->span.waker ? lane_of(lanes, one->span.waker) : -1;
		int to = lane_of(lanes, one->goid);

		if (from < 0 || to < 0 || from == to || one->span.activity == ACT_RUNNABLE ||
		    one->span.end > a->begin + strip->place.to)
			continue;
		json_open(json, NULL, '[');
		json_number(json, NULL, (uint64_t)column_of(a, strip, one->span.end));
		json_number(json, NULL, (uint64_t)from);
		json_number(json, NULL, (uint64_t)to);
		json_close(json, ']');
		n++;
	}
	json_close(json, ']');
}

static void put_strip(struct json *json, const struct analysis *a, const struct strip *strip, uint32_t stack,
		      struct lane_columns *columns)
{
	struct lanes lanes = {.n = 0};

	choose_lanes(a, strip, stack, &lanes);
	json_open(json, NULL, '{');
	json_number(json, "goroutine", strip->place.goroutine);
	json_number(json, "from_ns", strip->place.from);
	json_number(json, "to_ns", strip->place.to);
	json_number(json, "begin_ns", strip->place.begin);
	json_number(json, "end_ns", strip->place.end);
	json_number(json, "columns", COLUMNS);
	json_bool(json, "truncated", strip->is_truncated);
	json_open(json, "lanes", '[');
	for (unsigned i = 0; i < lanes.n; i++)
		put_lane(json, a, strip, lanes.goids[i], columns);
	json_close(json, ']');
	put_wakes(json, a, strip, &lanes);
	json_close(json, '}');
}

void strips_json(const struct strips *strips, const struct analysis *a, FILE *out)
{
	struct json json = {.out = out};
	struct lane_columns *columns = malloc(sizeof(*columns));

	json_open(&json, NULL, '{');
	json_open(&json, "states", '[');
	for (unsigned i = 0; i < ACT_COUNT; i++)
		json_text(&json, NULL, activity_name((enum activity)i));
	json_close(&json, ']');
	json_open(&json, "findings", '[');
	for (size_t i = 0; columns && strips && i < strips->n && i < a->nfindings; i++) {
		if (strips->all[i].has_place && (strips->all[i].n || strips->all[i].is_truncated))
			put_strip(&json, a, &strips->all[i], a->findings[i].stack, columns);
		else
			json_text(&json, NULL, NULL);
	}
	json_close(&json, ']');
	json_close(&json, '}');
	free(columns);
}
