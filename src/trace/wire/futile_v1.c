/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Drops futile wake-ups. From Go 1.5 on, a goroutine that was woken in vain wrote FutileWakeup before it
 * blocked again. Readers drop the wake-up, the start and the block before they check states (Go 1.21
 * src/internal/trace/parser.go, removeFutile).
 */
#include <errno.h>
#include <stdlib.h>

#include "trace/wire/buffer.h"
#include "trace/wire/trace_v1.h"

/* The events since a goroutine was woken, linked through `before`. */
struct wakeup {
	uint32_t last; /* index in the order; MAP64_NONE = none */
	bool futile;
};

struct dropping {
	struct v1_trace *trace;
	struct map64 index;
	struct wakeup *wakeups;
	size_t n, capacity;
	uint32_t *before; /* by index in the order */
	bool *drop;
};

/* The current event. */
struct marked_event {
	uint32_t at; /* index in the order */
	struct v1_record record;
	const struct v1_raw *raw;
};

static int futile_v1_find(struct dropping *d, uint64_t g, struct wakeup **wakeup)
{
	uint32_t index = map64_find(&d->index, g);

	if (index == MAP64_NONE) {
		index = (uint32_t)d->n;
		if (array_grow((void **)&d->wakeups, &d->capacity, d->n + 1, sizeof(*d->wakeups)) ||
		    map64_set(&d->index, g, index))
			return -ENOMEM;
		d->wakeups[d->n++] = (struct wakeup){.last = MAP64_NONE};
	}
	*wakeup = &d->wakeups[index];
	return 0;
}

static int futile_v1_on_unblock(struct dropping *d, const struct marked_event *ev)
{
	struct wakeup *wakeup;

	if (futile_v1_find(d, v1_arg(d->trace, ev->raw, 0), &wakeup))
		return -ENOMEM;
	wakeup->last = ev->at;
	d->before[ev->at] = MAP64_NONE;
	return 0;
}

static int on_run(struct dropping *d, const struct marked_event *ev)
{
	struct wakeup *wakeup;

	if (futile_v1_find(d, ev->record.g, &wakeup))
		return -ENOMEM;
	d->before[ev->at] = wakeup->last;
	wakeup->last = ev->at;
	if (ev->record.type == V1_FUTILE_WAKEUP)
		wakeup->futile = true;
	return 0;
}

static int on_block(struct dropping *d, const struct marked_event *ev)
{
	struct wakeup *wakeup;

	if (futile_v1_find(d, ev->record.g, &wakeup))
		return -ENOMEM;
	if (wakeup->futile) {
		d->drop[ev->at] = true;
		for (uint32_t i = wakeup->last; i != MAP64_NONE; i = d->before[i])
			d->drop[i] = true;
	}
	*wakeup = (struct wakeup){.last = MAP64_NONE};
	return 0;
}

static int futile_v1_mark(struct dropping *d, const struct marked_event *ev)
{
	switch (ev->record.type) {
	case V1_GO_UNBLOCK:
		return futile_v1_on_unblock(d, ev);
	case V1_GO_START:
	case V1_GO_PREEMPT:
	case V1_FUTILE_WAKEUP:
		return on_run(d, ev);
	default:
		return event_v1_spec(ev->record.type, d->trace->format)->futile ? on_block(d, ev) : 0;
	}
}

static void take_out(struct v1_trace *trace, bool *drop)
{
	for (uint64_t i = 0; i < trace->norder; i++)
		trace->dropped += drop[i];
	trace->norder -= trace->dropped;
	trace->drop = drop;
}

static int mark_all(struct dropping *d)
{
	struct marked_event ev = {.at = 0};
	int ret = 0;

	v1_rewind(d->trace);
	while (!ret && v1_walk_next(d->trace, &ev.record, &ev.raw)) {
		ret = futile_v1_mark(d, &ev);
		ev.at++;
	}
	return ret;
}

int v1_drop_futile(struct v1_trace *trace)
{
	struct dropping d = {.trace = trace};
	int ret = -ENOMEM;

	if (!trace->has_futile)
		return 0;
	d.before = calloc(trace->norder + 1, sizeof(*d.before));
	d.drop = calloc(trace->norder + 1, sizeof(*d.drop));
	if (d.before && d.drop)
		ret = mark_all(&d);
	if (ret)
		free(d.drop);
	else
		take_out(trace, d.drop);
	map64_free(&d.index);
	free(d.wakeups);
	free(d.before);
	return ret;
}
