/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/recorder_pipeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/kinds.h"
#include "flight/finding_eval.h"
#include "flight/trigger_eval.h"
#include "flight/snapshot_bytes.h"
#include "target/functions/functions.h"
#include "util/utf8.h"

enum {
	/* A generation should be a small part of max_bytes. A typical event has eight bytes. */
	EVENT_BYTES = 8,
	PARTS = 16,
	NAME_WIDTH = 120, /* width of function names in messages, which are searched for */
};

/* The first match of a trigger in the open generation, and the number of matches. */
struct trigger_matches {
	struct match_notice first;
	unsigned n;
};

struct recorder_pipeline {
	struct recorder_pipeline_options options;
	struct generation_ring *ring;
	struct trigger_eval *eval; /* NULL: there are no triggers */
	struct pipeline *pipe;
	bool take_due; /* take a snapshot with the next generation */
	bool closed;   /* the last record closed a generation */
	uint64_t lost; /* number of records lost so far */
	struct trigger_matches fired[MAX_TRIGGERS];
	struct finding_eval findings;
};

/* --- triggers --- */

static const char *string_of(void *ctx, uint32_t string)
{
	const struct recorder_pipeline *recorder = ctx;

	return model_string(pipeline_model(recorder->pipe), string);
}

static bool recorder_pipeline_is_system(void *ctx, uint32_t g)
{
	struct recorder_pipeline *recorder = ctx;
	struct model *model = pipeline_model(recorder->pipe);
	struct goroutine_stats row;
	const char *name;
	size_t len;

	if (model_is_own(model, g))
		return true;
	model_describe(model, g, &row);
	name = pipeline_function_name(recorder->pipe, &row, &len);
	/* os/signal.loop stays in a system call until a signal arrives. */
	return row.system || strcmp(name, "os/signal.loop") == 0;
}

/*
 * The reason says it of threads, but some are parked by a lock. Go's "sync" is for sync.Mutex and
 * sync.RWMutex, but also for sync.WaitGroup, and for the turn to use a file or socket
 * (internal/poll.fdMutex).
 */
static bool is_lock(void *ctx, const char *reason, uint32_t stack)
{
	const struct recorder_pipeline *recorder = ctx;

	if (strcmp(reason, "sync (mutex)") == 0 || strcmp(reason, "sync (rwlock)") == 0)
		return wait_by_outer(pipeline_place(recorder->pipe, stack).text) != ACT_COND;
	return strcmp(reason, "sync") == 0 && pipeline_waits_for_mutex(recorder->pipe, stack);
}

/* Java's Thread.sleep is a condition with a time-out. */
static bool is_sleep(void *ctx, uint32_t stack)
{
	const struct recorder_pipeline *recorder = ctx;
	struct place_text place = pipeline_place(recorder->pipe, stack);
	const char *called = strstr(place.text, " in ");

	return wait_by_outer(called ? called + strlen(" in ") : place.text) == ACT_SLEEP;
}

static bool recorder_is_of_threads(const struct recorder_pipeline *recorder)
{
	const struct log_target *target = model_target(pipeline_model(recorder->pipe));

	return target && target->flags & LOG_TARGET_THREADS;
}

/* "goroutine 17 (main.worker)", "thread 4711 (worker [server])" */
static struct text describe_g(struct recorder_pipeline *recorder, uint32_t g)
{
	struct model *model = pipeline_model(recorder->pipe);
	const char *what = recorder_is_of_threads(recorder) ? "thread" : "goroutine";
	struct goroutine_stats row;
	struct text name, text;

	model_describe(model, g, &row);
	name = pipeline_function(recorder->pipe, &row, NAME_WIDTH);
	if (g == NO_G)
		snprintf(text.bytes, sizeof(text.bytes), "nobody known");
	else
		snprintf(text.bytes, sizeof(text.bytes), "%s %llu (%.*s)", what,
			 (unsigned long long)model_goid(model, g), text_fit(name.bytes, 120), name.bytes);
	return text;
}

/* "queue>20: 21 goroutines wait for a P; the last one was made runnable by goroutine 17 (main.worker)" */
static void describe_count(struct recorder_pipeline *recorder, const struct trigger_match *match, char *text,
			   size_t size)
{
	bool threads = recorder_is_of_threads(recorder), queue = match->trigger->kind == TRIGGER_QUEUE;
	const char *trigger = match->trigger->text, *what = threads ? "threads" : "goroutines";
	struct text who = describe_g(recorder, match->g), count = text_count(match->value);
	size_t len;

	if (queue)
		snprintf(text, size, "%s: %s %s wait for a %s", trigger, count.bytes, what,
			 threads ? "CPU" : "P");
	else
		snprintf(text, size, "%s: there are %s %s", trigger, count.bytes, what);
	len = strlen(text);
	if (match->g != NO_G)
		snprintf(text + len, size - len, "; the last one was %s by %s",
			 queue ? "made runnable" : "created", who.bytes);
}

static void recorder_pipeline_describe(struct recorder_pipeline *recorder, const struct trigger_match *match,
				       char *text, size_t size)
{
	struct text who = describe_g(recorder, match->g), time = text_time(match->value);
	const char *trigger = match->trigger->text, *reason = string_of(recorder, match->reason);
	const char *tense = match->still ? "has been" : "was";

	switch (match->trigger->kind) {
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
		snprintf(text, size, "%s: %s %s in %.*s for %s", trigger, who.bytes, tense,
			 text_fit(reason, 256), reason, time.bytes);
		break;
	case TRIGGER_GC_PAUSE:
		snprintf(text, size, "%s: %s stopped the world for %s: %s", trigger, who.bytes, time.bytes,
			 reason);
		break;
	case TRIGGER_GOROUTINES:
	case TRIGGER_QUEUE:
		describe_count(recorder, match, text, size);
		break;
	case TRIGGER_HEAP:
		snprintf(text, size, "%s: the heap may grow to %s before the next collection ends", trigger,
			 text_bytes(match->value).bytes);
		break;
	case TRIGGER_REQUEST:
		snprintf(text, size, "%s: %s %s open for %s; begun by %s", trigger,
			 match->name[0] ? match->name : "a task", tense, time.bytes, who.bytes);
		break;
	case TRIGGER_FINDING: /* finding_eval.h */
	case TRIGGER_CPU:     /* host_eval.h */
	case TRIGGER_CGROUP_CPU:
	case TRIGGER_THROTTLED:
	case TRIGGER_RSS:
		text[0] = '\0';
		break;
	}
}

/*
 * " at main.fetch (fetch.go:42); ended by goroutine 5 (main.send) at main.send (fetch.go:50)". A waker that
 * is not one of the target's goroutines or threads is described only by its stack.
 */
static void describe_places(struct recorder_pipeline *recorder, const struct trigger_match *match, char *text,
			    size_t size)
{
	struct place_text at = pipeline_place(recorder->pipe, match->stack),
			  waker = pipeline_place(recorder->pipe, match->waker_stack);
	struct text who = describe_g(recorder, match->waker);
	const char *by = match->waker != NO_G ? who.bytes : waker.text[0] ? waker.text : "the runtime";
	bool has_place = match->waker != NO_G && waker.text[0];

	text[0] = '\0';
	if (at.text[0])
		snprintf(text, size, " at %s", at.text);
	if (match->woken)
		snprintf(text + strlen(text), size - strlen(text), "; ended by %s%s%s", by,
			 has_place ? " at " : "", has_place ? waker.text : "");
}

static void fire(void *ctx, const struct trigger_match *match)
{
	struct recorder_pipeline *recorder = ctx;
	struct trigger_matches *fired = &recorder->fired[match->trigger - recorder->options.flight->triggers];
	char text[sizeof(fired->first.text)];

	recorder_pipeline_describe(recorder, match, text, sizeof(text));
	describe_places(recorder, match, text + strlen(text), sizeof(text) - strlen(text));
	annotate_log(pipeline_model(recorder->pipe), match->place, match->stack, text);
	if (match->over || fired->n++)
		return;
	fired->first.time = match->time;
	fired->first.trigger = (uint32_t)(match->trigger - recorder->options.flight->triggers);
	memcpy(fired->first.text, text, sizeof(text));
}

static void recorder_pipeline_report(struct recorder_pipeline *recorder, struct trigger_matches *fired)
{
	struct match_notice *notice = &fired->first;
	size_t len = strlen(notice->text);

	if (fired->n > 1)
		snprintf(notice->text + len, sizeof(notice->text) - len, " (and %u more)", fired->n - 1);
	status_page_add(recorder->options.page, notice);
}

static void recorder_pipeline_watch(void *ctx, const struct op *ops, size_t n, uint64_t now)
{
	struct recorder_pipeline *recorder = ctx;

	if (!recorder->eval)
		return;
	memset(recorder->fired, 0, sizeof(recorder->fired));
	if (trigger_eval_generation(recorder->eval, ops, n, now))
		return; /* out of memory: nothing fires */
	for (unsigned i = 0; i < recorder->options.flight->ntriggers; i++) {
		if (recorder->fired[i].n)
			recorder_pipeline_report(recorder, &recorder->fired[i]);
	}
}

/* After a gap or loss, goroutines may have changed state without a record: restarts all durations. */
static void notice_gaps(struct recorder_pipeline *recorder, const struct log_record *record)
{
	uint64_t lost = log_loss_records(&model_stats(pipeline_model(recorder->pipe))->loss);
	const struct log_note *note = record->type == LOG_NOTE ? record->data : NULL;
	bool gap = note && note->flags & (LOG_NOTE_GAP | LOG_NOTE_RESUMED);

	if (recorder->eval && gap) /* each of them has closed a generation */
		trigger_eval_gap(recorder->eval, note->time, note->flags & LOG_NOTE_GAP);
	else if (recorder->eval && lost != recorder->lost)
		trigger_eval_forget(recorder->eval);
	recorder->lost = lost;
}

/* --- generations --- */

static int take_header(void *ctx)
{
	struct recorder_pipeline *recorder = ctx;

	return generation_ring_header(recorder->ring);
}

static void take(struct recorder_pipeline *recorder)
{
	struct generation_ring_stats stats = generation_ring_stats(recorder->ring);
	struct generation_refs *kept = generation_ring_take(recorder->ring);
	struct error why;

	if (!kept && stats.too_large)
		error_set(&why, EFBIG, "a single generation has %zu bytes: --max-bytes is too small",
			  stats.too_large);
	else if (!kept)
		error_set(&why, ENODATA, "nothing has been recorded yet");
	recorder->take_due = false;
	snapshot_worker_put(recorder->options.worker, kept, &why);
}

static void notice_findings(struct recorder_pipeline *recorder, const struct generation *gen)
{
	struct match_notice notices[MAX_TRIGGERS];
	unsigned n =
		finding_eval_generation(&recorder->findings, recorder->ring, gen->start, gen->end, notices);

	for (unsigned i = 0; i < n; i++)
		status_page_add(recorder->options.page, &notices[i]);
}

static int recorder_pipeline_take_generation(void *ctx, const struct generation *gen)
{
	struct recorder_pipeline *recorder = ctx;
	int rc = generation_ring_generation(recorder->ring, gen->start);
	struct generation_ring_stats stats = generation_ring_stats(recorder->ring);

	status_page_update(recorder->options.page, &stats);
	recorder->closed = true;
	if (rc == 0)
		notice_findings(recorder, gen);
	if (rc == 0 && recorder->take_due)
		take(recorder);
	return rc;
}

int recorder_pipeline_put(void *ctx, const struct log_record *record)
{
	struct recorder_pipeline *recorder = ctx;
	int rc;

	if (record->type == SNAPSHOT_TAKE || record->type == SNAPSHOT_TAKE_NOW) {
		/* A stop-the-world delays the end of a generation. */
		if (recorder->closed || record->type == SNAPSHOT_TAKE_NOW)
			take(recorder);
		else
			recorder->take_due = true;
		return 0;
	}
	recorder->closed = false;
	rc = pipeline_put(recorder->pipe, record);
	notice_gaps(recorder, record);
	return rc;
}

void recorder_pipeline_finish(struct recorder_pipeline *recorder)
{
	pipeline_finish(recorder->pipe);
	if (recorder->take_due)
		take(recorder); /* no generation was closed */
}

/* --- lifetime --- */

static bool make_eval(struct recorder_pipeline *recorder)
{
	const struct flight_plan *flight = recorder->options.flight;
	struct trigger_eval_options wanted = {
		.triggers = flight->triggers,
		.ntriggers = flight->ntriggers,
		.is_system = recorder_pipeline_is_system,
		.is_lock = is_lock,
		.is_sleep = is_sleep,
		.string = string_of,
		.fire = fire,
		.ctx = recorder,
	};

	for (unsigned i = 0; i < flight->ntriggers; i++) {
		const struct trigger *trigger = &flight->triggers[i];
		const struct function_want want = {.text = trigger->name, .kind = FUNCTION_REGION};

		wanted.regions[i] = trigger->kind == TRIGGER_FUNCTION ? functions_shown(&want) : NULL;
	}
	if (flight->ntriggers)
		recorder->eval = trigger_eval_new(&wanted);
	return recorder->eval || !flight->ntriggers;
}

static bool make_pipeline(struct recorder_pipeline *recorder)
{
	const struct flight_plan *flight = recorder->options.flight;
	struct pipeline_keep keep = {
		.out = {.write = generation_ring_write, .ctx = recorder->ring},
		.header = take_header,
		.generation = recorder_pipeline_take_generation,
		.watch = flight->ntriggers ? recorder_pipeline_watch : NULL,
		.generation_ops = flight->max_bytes / (EVENT_BYTES * PARTS),
		.ctx = recorder,
	};
	struct pipeline_options wanted = {
		.keep = &keep,
		.trace_options = recorder->options.trace_options,
	};

	wanted.trace_options.format = snapshot_kept_format(wanted.trace_options.format);
	recorder->pipe = pipeline_new(&wanted);
	return recorder->pipe;
}

struct recorder_pipeline *recorder_pipeline_new(const struct recorder_pipeline_options *options)
{
	/* Recording for --after must not push the match out of the window. */
	struct generation_ring_options ring = {.window_ns =
						       options->flight->window_ns + options->flight->after_ns,
					       .max_bytes = options->flight->max_bytes,
					       .share = options->flight->share};
	struct recorder_pipeline *recorder = calloc(1, sizeof(*recorder));

	if (!recorder)
		return NULL;
	recorder->options = *options;
	recorder->findings.plan = options->flight;
	recorder->ring = generation_ring_new(&ring);
	if (!recorder->ring || !make_eval(recorder) || !make_pipeline(recorder)) {
		recorder_pipeline_free(recorder);
		return NULL;
	}
	return recorder;
}

void recorder_pipeline_free(struct recorder_pipeline *recorder)
{
	if (!recorder)
		return;
	pipeline_free(recorder->pipe);
	trigger_eval_free(recorder->eval);
	generation_ring_free(recorder->ring);
	free(recorder);
}

struct pipeline *recorder_pipeline_inner(struct recorder_pipeline *recorder)
{
	return recorder->pipe;
}
