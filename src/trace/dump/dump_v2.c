/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Prints the events of a v2 file as lines, generation by generation. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/dump/dump.h"
#include "trace/wire/visit.h"

struct dump_v2 {
	struct dump *dump;
	struct wire_view view;
	const struct wire_sample **samples; /* of the generation, by time */
	size_t next;                        /* index of the first sample that has not been printed */
	bool any, printed;
	int64_t base; /* ns; subtracted from all times */
	int64_t last; /* last printed time */
	struct wire_frame frames[MAX_FRAMES];
};

static struct line_text dump_v2_string_of(const struct dump_v2 *d, uint64_t id)
{
	struct line_text text;

	text.bytes = wire_view_string(&d->view, id, &text.len);
	return text;
}

static int dump_v2_print(struct dump_v2 *d, struct line *line)
{
	struct dump *dump = d->dump;

	line->time = (int64_t)((uint64_t)line->time - (uint64_t)d->base);
	/* As in Go's reader: times increase strictly, and a generation begins after the last one's end. */
	if (d->printed && line->time <= d->last && d->last < INT64_MAX)
		line->time = d->last + 1;
	d->last = line->time;
	d->printed = true;
	if (!dump->stacks)
		return line_write(line, dump->json, dump->out);
	line->frames = dump->frames;
	line->nframes = wire_view_stack(&d->view, line->stack, d->frames);
	for (size_t i = 0; i < line->nframes; i++)
		dump->frames[i] = (struct line_frame){dump_v2_string_of(d, d->frames[i].func),
						      dump_v2_string_of(d, d->frames[i].file),
						      d->frames[i].line, d->frames[i].pc};
	return line_write(line, dump->json, dump->out);
}

/* --- CPU samples, which a generation stores separately --- */

static int dump_v2_by_time(const void *a, const void *b)
{
	const struct wire_sample *x = *(const struct wire_sample *const *)a;
	const struct wire_sample *y = *(const struct wire_sample *const *)b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int sort_samples(struct dump_v2 *d)
{
	free(d->samples);
	d->next = 0;
	d->samples = malloc((d->view.nsamples + 1) * sizeof(struct wire_sample *));
	if (!d->samples)
		return -ENOMEM;
	for (size_t i = 0; i < d->view.nsamples; i++)
		d->samples[i] = &d->view.samples[i];
	qsort(d->samples, d->view.nsamples, sizeof(struct wire_sample *), dump_v2_by_time);
	return 0;
}

static int print_samples(struct dump_v2 *d, int64_t until)
{
	for (; d->next < d->view.nsamples && d->samples[d->next]->time <= until; d->next++) {
		const struct wire_sample *sample = d->samples[d->next];
		struct line line = {.time = sample->time,
				    .name = "CPUSample",
				    .m = sample->m,
				    .p = sample->p,
				    .g = sample->g,
				    .offset = sample->offset,
				    .stack = sample->stack};
		int ret = dump_v2_print(d, &line);

		if (ret)
			return ret;
	}
	return 0;
}

/* --- events --- */

/* Prints a line for the beginning of a generation, as the readers do. */
static int dump_v2_on_begin(void *ctx, const struct wire_view *view)
{
	struct dump_v2 *d = ctx;
	struct line line = {.time = view->start,
			    .offset = view->offset,
			    .name = "Sync",
			    .m = LINE_NONE,
			    .p = LINE_NONE,
			    .g = LINE_NONE};

	d->view = *view;
	if (!d->any && !d->dump->absolute)
		d->base = view->start;
	d->any = true;
	line_add_number(&line, "generation", view->number);
	if (view->has_clock) {
		line_add_number(&line, "mono", view->mono_ns);
		line_add_number(&line, "sec", view->wall_sec);
		line_add_number(&line, "nsec", view->wall_nsec);
	}
	return sort_samples(d) ? -ENOMEM : dump_v2_print(d, &line);
}

static const char *status_name(unsigned type, uint64_t status)
{
	static const char *const of_g[] = {"bad", "runnable", "running", "syscall", "waiting"};
	static const char *const of_p[] = {"bad", "running", "idle", "syscall", "abandoned"};

	if (status >= sizeof(of_g) / sizeof(of_g[0]))
		return "bad";
	return type == EV_PROC_STATUS ? of_p[status] : of_g[status];
}

static void dump_v2_add_arg(struct line *line, const struct dump_v2 *d, const struct wire_event *event,
			    unsigned i)
{
	const struct event_arg *arg = &event_spec(event->type)->args[i];
	uint64_t value = event->args[i];
	struct line_text text;
	const char *status;

	switch (arg->role) {
	case ARG_STRING:
	case ARG_TEXT:
		text = dump_v2_string_of(d, value);
		line_add_text(line, arg->name, text.bytes, text.len);
		break;
	case ARG_STACK:
		line->stack = value;
		break;
	case ARG_STATUS:
		status = status_name(event->type, event->type == EV_PROC_STATUS ? value : (uint8_t)value);
		line_add_text(line, arg->name, status, strlen(status));
		break;
	default:
		line_add_number(line, arg->name, value);
	}
}

static int dump_v2_on_event(void *ctx, const struct wire_event *event)
{
	struct dump_v2 *d = ctx;
	const struct event_spec *spec = event_spec(event->type);
	struct line line = {.time = event->time,
			    .offset = event->offset,
			    .name = spec->name,
			    .m = event->m,
			    .p = event->p,
			    .g = event->g};
	int ret = print_samples(d, event->time);

	for (unsigned i = 0; i < spec->nargs; i++)
		dump_v2_add_arg(&line, d, event, i);
	return ret ? ret : dump_v2_print(d, &line);
}

static int dump_v2_on_end(void *ctx)
{
	return print_samples(ctx, INT64_MAX);
}

int dump_v2(struct dump *dump, const uint8_t *bytes, size_t n, struct wire_report *report)
{
	struct dump_v2 *d = calloc(1, sizeof(*d));
	int ret = -ENOMEM;

	if (!d)
		return error_set(&report->error, ENOMEM, "out of memory");
	d->dump = dump;
	ret = wire_visit(bytes, n,
			 &(struct wire_visitor){.ctx = d,
						.begin = dump_v2_on_begin,
						.event = dump_v2_on_event,
						.end = dump_v2_on_end},
			 report);
	free(d->samples);
	free(d);
	return ret;
}
