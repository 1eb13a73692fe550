/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/tape.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flight/lookout.h"
#include "flight/snapshot_bytes.h"
#include "native/functions.h"

enum {
	/* A generation shall be a small part of what may be kept: a typical event has eight bytes. */
	EVENT_BYTES = 8,
	PARTS = 16,
	NAME_WIDTH = 60, /* of functions, for people */
};

/* What a trigger did in the open generation: the first firing in full. */
struct fired {
	struct news first;
	unsigned n;
};

struct tape {
	struct tape_options options;
	struct keeper *keeper;
	struct lookout *lookout; /* NULL: there is no trigger */
	struct pipeline *pipe;
	bool take_due; /* with the next generation */
	bool closed;   /* a generation was, by the last boundary */
	uint64_t lost; /* records, so far */
	struct fired fired[MAX_TRIGGERS];
};

/* --- triggers --- */

static const char *string_of(void *ctx, uint32_t string)
{
	const struct tape *tape = ctx;

	return model_string(pipeline_model(tape->pipe), string);
}

static bool is_system(void *ctx, uint32_t g)
{
	struct tape *tape = ctx;
	struct model *model = pipeline_model(tape->pipe);
	struct goroutine_stats row;
	const char *name;
	size_t len;

	if (model_is_own(model, g))
		return true;
	model_describe(model, g, &row);
	name = pipeline_function_name(tape->pipe, &row, &len);
	/* os/signal.loop is in a system call until a signal comes. */
	return (strncmp(name, "runtime.", 8) == 0 && strcmp(name, "runtime.main") != 0) ||
	       strcmp(name, "os/signal.loop") == 0;
}

/* "goroutine 17 (main.worker)", "thread 4711 (worker [server])" */
static struct text describe_g(struct tape *tape, uint32_t g)
{
	struct model *model = pipeline_model(tape->pipe);
	const struct log_target *target = model_target(model);
	bool thread = target && target->flags & LOG_TARGET_THREADS;
	struct goroutine_stats row;
	struct text name, text;

	model_describe(model, g, &row);
	name = pipeline_function(tape->pipe, &row, NAME_WIDTH);
	if (g == NO_G)
		snprintf(text.bytes, sizeof(text.bytes), "nobody known");
	else
		snprintf(text.bytes, sizeof(text.bytes), "%s %llu (%.*s)", thread ? "thread" : "goroutine",
			 (unsigned long long)model_goid(model, g), NAME_WIDTH + 3, name.bytes);
	return text;
}

static void describe(struct tape *tape, const struct firing *firing, char *text, size_t size)
{
	struct text who = describe_g(tape, firing->g), time = text_time(firing->value);
	const char *trigger = firing->trigger->text, *reason = string_of(tape, firing->reason);
	const char *tense = firing->still ? "has been" : "was";

	switch (firing->trigger->kind) {
	case TRIGGER_BLOCKED:
		snprintf(text, size, "%s: %s %s blocked for %s: %s", trigger, who.bytes, tense, time.bytes,
			 reason);
		break;
	case TRIGGER_RUNNABLE:
		snprintf(text, size, "%s: %s %s runnable for %s", trigger, who.bytes, tense, time.bytes);
		break;
	case TRIGGER_SYSCALL:
		snprintf(text, size, "%s: %s %s in a system call for %s", trigger, who.bytes, tense,
			 time.bytes);
		break;
	case TRIGGER_FUNCTION:
		snprintf(text, size, "%s: %s %s in %.256s for %s", trigger, who.bytes, tense, reason,
			 time.bytes);
		break;
	case TRIGGER_GC_PAUSE:
		snprintf(text, size, "%s: %s stopped the world for %s: %s", trigger, who.bytes, time.bytes,
			 reason);
		break;
	case TRIGGER_GOROUTINES:
		snprintf(text, size, "%s: there are %s goroutines; the last one by %s", trigger,
			 text_count(firing->value).bytes, who.bytes);
		break;
	}
}

static void fire(void *ctx, const struct firing *firing)
{
	struct tape *tape = ctx;
	struct fired *fired = &tape->fired[firing->trigger - tape->options.flight->triggers];
	char text[sizeof(fired->first.text)];

	describe(tape, firing, text, sizeof(text));
	model_log(pipeline_model(tape->pipe), firing->place, firing->stack, text);
	if (firing->over || fired->n++)
		return;
	fired->first.time = firing->time;
	memcpy(fired->first.text, text, sizeof(text));
}

static void tell(struct tape *tape, struct fired *fired)
{
	struct news *news = &fired->first;
	size_t len = strlen(news->text);

	if (fired->n > 1)
		snprintf(news->text + len, sizeof(news->text) - len, " (and %u more)", fired->n - 1);
	board_tell(tape->options.board, news);
}

static void watch(void *ctx, const struct op *ops, size_t n, uint64_t now)
{
	struct tape *tape = ctx;

	if (!tape->lookout)
		return;
	memset(tape->fired, 0, sizeof(tape->fired));
	if (lookout_generation(tape->lookout, ops, n, now))
		return; /* no memory: nothing fires */
	for (unsigned i = 0; i < tape->options.flight->ntriggers; i++) {
		if (tape->fired[i].n)
			tell(tape, &tape->fired[i]);
	}
}

/* What goroutines do may have changed unseen. */
static void notice_gaps(struct tape *tape, const struct log_record *record)
{
	const struct log_loss *loss = &model_stats(pipeline_model(tape->pipe))->loss;
	uint64_t lost = loss->ring_full + loss->unreadable + loss->missed;
	const struct log_note *note = record->type == LOG_NOTE ? record->data : NULL;
	bool gap = note && note->flags & (LOG_NOTE_GAP | LOG_NOTE_SEEN);

	if (tape->lookout && (gap || lost != tape->lost))
		lookout_forget(tape->lookout, gap ? note->time : 0);
	tape->lost = lost;
}

/* --- generations --- */

static int take_header(void *ctx)
{
	struct tape *tape = ctx;

	return keeper_header(tape->keeper);
}

static void take(struct tape *tape)
{
	struct keeper_stats stats = keeper_stats(tape->keeper);
	struct kept *kept = keeper_take(tape->keeper);
	struct error why;

	if (!kept && stats.too_large)
		error_set(&why, EFBIG, "a single generation has %zu bytes: --max-bytes is too small",
			  stats.too_large);
	else if (!kept)
		error_set(&why, ENODATA, "nothing has been seen yet");
	tape->take_due = false;
	scribe_put(tape->options.scribe, kept, &why);
}

static int take_generation(void *ctx, const struct generation *gen)
{
	struct tape *tape = ctx;
	int rc = keeper_generation(tape->keeper, gen->start);
	struct keeper_stats stats = keeper_stats(tape->keeper);

	board_show(tape->options.board, &stats);
	tape->closed = true;
	if (rc == 0 && tape->take_due)
		take(tape);
	return rc;
}

int tape_put(void *ctx, const struct log_record *record)
{
	struct tape *tape = ctx;
	int rc;

	if (record->type == TAPE_TAKE || record->type == TAPE_TAKE_NOW) {
		/* A stop-the-world puts the end of a generation off. */
		if (tape->closed || record->type == TAPE_TAKE_NOW)
			take(tape);
		else
			tape->take_due = true;
		return 0;
	}
	tape->closed = false;
	rc = pipeline_put(tape->pipe, record);
	notice_gaps(tape, record);
	return rc;
}

void tape_finish(struct tape *tape)
{
	pipeline_finish(tape->pipe);
	if (tape->take_due)
		take(tape); /* there is nothing */
}

/* --- life --- */

static bool make_lookout(struct tape *tape)
{
	const struct flight_plan *flight = tape->options.flight;
	struct lookout_options wanted = {
		.triggers = flight->triggers,
		.ntriggers = flight->ntriggers,
		.is_system = is_system,
		.string = string_of,
		.fire = fire,
		.ctx = tape,
	};

	for (unsigned i = 0; i < flight->ntriggers; i++) {
		const struct trigger *trigger = &flight->triggers[i];
		const struct function_want want = {.text = trigger->name, .kind = FUNCTION_REGION};

		wanted.regions[i] = trigger->kind == TRIGGER_FUNCTION ? functions_shown(&want) : NULL;
	}
	if (flight->ntriggers)
		tape->lookout = lookout_new(&wanted);
	return tape->lookout || !flight->ntriggers;
}

static bool make_pipeline(struct tape *tape)
{
	const struct flight_plan *flight = tape->options.flight;
	struct pipeline_keep keep = {
		.out = {.write = keeper_write, .ctx = tape->keeper},
		.header = take_header,
		.generation = take_generation,
		.watch = flight->ntriggers ? watch : NULL,
		.generation_ops = flight->max_bytes / (EVENT_BYTES * PARTS),
		.ctx = tape,
	};
	struct pipeline_options wanted = {
		.keep = &keep,
		.format = snapshot_kept_format(tape->options.format),
		.runtime_frames = tape->options.runtime_frames,
	};

	tape->pipe = pipeline_new(&wanted);
	return tape->pipe;
}

struct tape *tape_new(const struct tape_options *options)
{
	/* What --after adds shall not push the moment itself out. */
	struct keeper_options keeper = {.window_ns = options->flight->window_ns + options->flight->after_ns,
					.max_bytes = options->flight->max_bytes};
	struct tape *tape = calloc(1, sizeof(*tape));

	if (!tape)
		return NULL;
	tape->options = *options;
	tape->keeper = keeper_new(&keeper);
	if (!tape->keeper || !make_lookout(tape) || !make_pipeline(tape)) {
		tape_free(tape);
		return NULL;
	}
	return tape;
}

void tape_free(struct tape *tape)
{
	if (!tape)
		return;
	pipeline_free(tape->pipe);
	lookout_free(tape->lookout);
	keeper_free(tape->keeper);
	free(tape);
}

struct pipeline *tape_pipeline(struct tape *tape)
{
	return tape->pipe;
}
