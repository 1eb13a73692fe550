/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A goroutine of Go 1.5 that was woken in vain wrote FutileWakeup before it blocked again. Readers drop the
 * wake-up, the start and the block before they check states (Go 1.21 src/internal/trace/parser.go,
 * removeFutile).
 */
#include <errno.h>
#include <stdlib.h>

#include "wire/buffer.h"
#include "wire/trace_v1.h"

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

static int find(struct dropping *d, uint64_t g, struct wakeup **wakeup)
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

static int on_unblock(struct dropping *d, uint32_t at)
{
	struct wakeup *wakeup;
	struct v1_raw raw;

	v1_decode_again(d->trace, d->trace->order[at], &raw);
	if (find(d, v1_arg(d->trace, &raw, 0), &wakeup))
		return -ENOMEM;
	wakeup->last = at;
	d->before[at] = MAP64_NONE;
	return 0;
}

static int on_run(struct dropping *d, uint32_t at)
{
	const struct v1_record *record = v1_ordered(d->trace, at);
	struct wakeup *wakeup;

	if (find(d, record->g, &wakeup))
		return -ENOMEM;
	d->before[at] = wakeup->last;
	wakeup->last = at;
	if (record->type == V1_FUTILE_WAKEUP)
		wakeup->futile = true;
	return 0;
}

static int on_block(struct dropping *d, uint32_t at)
{
	struct wakeup *wakeup;

	if (find(d, v1_ordered(d->trace, at)->g, &wakeup))
		return -ENOMEM;
	if (wakeup->futile) {
		d->drop[at] = true;
		for (uint32_t i = wakeup->last; i != MAP64_NONE; i = d->before[i])
			d->drop[i] = true;
	}
	*wakeup = (struct wakeup){.last = MAP64_NONE};
	return 0;
}

static int mark(struct dropping *d, uint32_t at)
{
	unsigned type = v1_ordered(d->trace, at)->type;

	switch (type) {
	case V1_GO_UNBLOCK:
		return on_unblock(d, at);
	case V1_GO_START:
	case V1_GO_PREEMPT:
	case V1_FUTILE_WAKEUP:
		return on_run(d, at);
	default:
		return event_v1_spec(type, d->trace->format)->futile ? on_block(d, at) : 0;
	}
}

static void take_out(struct v1_trace *trace, const bool *drop)
{
	size_t kept = 0;

	for (size_t i = 0; i < trace->norder; i++)
		if (!drop[i])
			trace->order[kept++] = trace->order[i];
	trace->dropped += trace->norder - kept;
	trace->norder = kept;
}

static int drop_all(struct v1_trace *trace)
{
	struct dropping d = {.trace = trace};
	int ret = 0;

	d.before = calloc(trace->norder, sizeof(*d.before));
	d.drop = calloc(trace->norder, sizeof(*d.drop));
	if (!d.before || !d.drop)
		ret = -ENOMEM;
	for (size_t i = 0; i < trace->norder && !ret; i++)
		ret = mark(&d, (uint32_t)i);
	if (!ret)
		take_out(trace, d.drop);
	map64_free(&d.index);
	free(d.wakeups);
	free(d.before);
	free(d.drop);
	return ret;
}

int v1_drop_futile(struct v1_trace *trace)
{
	for (size_t i = 0; i < trace->norder; i++)
		if (v1_ordered(trace, i)->type == V1_FUTILE_WAKEUP)
			return drop_all(trace);
	return 0;
}
