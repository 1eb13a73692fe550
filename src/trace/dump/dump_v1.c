/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Prints the events of a v1 or v0 file as lines. */
#include <errno.h>
#include <stdlib.h>

#include "trace/dump/dump.h"
#include "trace/wire/read_v1.h"

enum { MAX_TEXT = 4096 }; /* bytes printed of a string */

struct dump_v1 {
	struct dump *dump;
	struct v1_trace *trace;
	uint64_t *threads; /* by P; LINE_NONE = unknown */
	struct v1_frame *frames;
};

/* The runtime writes at most 1024 bytes. A file may contain longer strings and refer to them many times. */
static struct line_text as_text(struct v1_text text)
{
	return (struct line_text){(const char *)text.bytes, text.len < MAX_TEXT ? text.len : MAX_TEXT};
}

/* ProcStart names the thread; after ProcStop it is unknown. */
static uint64_t dump_v1_thread_of(struct dump_v1 *d, const struct v1_event *event)
{
	uint64_t *thread = &d->threads[event->proc], m;

	if (event->type == V1_CPU_SAMPLE || event->p < 0)
		return LINE_NONE;
	if (event->type == V1_PROC_START && event->nargs)
		*thread = event->args[0];
	m = *thread;
	if (event->type == V1_PROC_STOP)
		*thread = LINE_NONE;
	return m;
}

static void dump_v1_add_arg(struct line *line, const struct dump_v1 *d, const struct v1_event *event,
			    unsigned i)
{
	const struct event_arg *arg = &event_v1_spec(event->type, v1_trace_format(d->trace))->args[i];

	if (arg->role == ARG_STRING)
		line_add_text(line, arg->name, as_text(event->text).bytes, as_text(event->text).len);
	else if (arg->role == ARG_ENTRY && v1_trace_format(d->trace) < WIRE_GO17)
		line_add_number(line, "pc", event->args[i]);
	else
		line_add_number(line, arg->name, event->args[i]);
}

static void add_args(struct line *line, const struct dump_v1 *d, const struct v1_event *event)
{
	/* GCStart and GoSysExit gained an argument; nargs shows whether the format has it. */
	for (unsigned i = 0; i < event->nargs; i++)
		dump_v1_add_arg(line, d, event, i);
	if (event->type == V1_USER_LOG)
		line_add_text(line, "message", (const char *)event->message.bytes, event->message.len);
	if (event->type == V1_STW_START && event->nargs) {
		const char *kind = event_v1_stw_kind(v1_trace_format(d->trace), event->args[0]);

		if (kind)
			line_add_text(line, "reason", kind, __builtin_strlen(kind));
	}
}

static void dump_v1_add_frames(struct line *line, const struct dump_v1 *d)
{
	struct dump *dump = d->dump;

	line->frames = dump->frames;
	line->nframes = v1_stack(d->trace, line->stack, d->frames, DUMP_MAX_FRAMES);
	for (size_t i = 0; i < line->nframes; i++)
		dump->frames[i] = (struct line_frame){as_text(d->frames[i].func), as_text(d->frames[i].file),
						      d->frames[i].line, d->frames[i].pc};
}

static int64_t absolute(const struct v1_trace *trace, int64_t ticks)
{
	uint64_t frequency = v1_trace_frequency(trace);

	return frequency ? (int64_t)((__int128)ticks * 1000000000 / (__int128)frequency) : ticks;
}

static int print_event(struct dump_v1 *d, const struct v1_event *event)
{
	struct line line = {.name = event_v1_name(event->type, v1_trace_format(d->trace)),
			    .time = d->dump->absolute ? absolute(d->trace, event->ticks) : event->time,
			    .m = dump_v1_thread_of(d, event),
			    .p = event->p < 0 ? LINE_NONE : (uint64_t)event->p,
			    .g = event->g ? event->g : LINE_NONE,
			    .offset = event->offset,
			    .stack = event->stack};

	add_args(&line, d, event);
	if (d->dump->stacks)
		dump_v1_add_frames(&line, d);
	return line_write(&line, d->dump->json, d->dump->out);
}

static int print_all(struct dump_v1 *d)
{
	size_t procs = v1_procs(d->trace);
	struct v1_event event;
	int ret = 0;

	d->threads = malloc((procs + 1) * sizeof(*d->threads));
	d->frames = calloc(DUMP_MAX_FRAMES, sizeof(*d->frames));
	if (!d->threads || !d->frames)
		ret = -ENOMEM;
	for (size_t i = 0; i < procs && !ret; i++)
		d->threads[i] = LINE_NONE;
	v1_rewind(d->trace);
	while (!ret && v1_next(d->trace, &event))
		ret = print_event(d, &event);
	free(d->threads);
	free(d->frames);
	return ret;
}

int dump_v1(struct dump *dump, const uint8_t *bytes, size_t n, struct wire_report *report)
{
	struct dump_v1 d = {.dump = dump};
	struct fault fault = {0};
	struct v1_trace *trace;
	int ret = v1_read(bytes, n, &trace, &fault), printed = 0;

	d.trace = trace;
	if (trace)
		printed = print_all(&d);
	v1_free(trace);
	if (printed)
		return printed;
	if (ret == -EBADMSG)
		wire_check(bytes, n, report); /* how much of it is valid */
	report->error = fault.error;
	report->error_offset = fault.offset;
	return ret;
}
