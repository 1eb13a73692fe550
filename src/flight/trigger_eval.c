/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/trigger_eval.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/ledger/ledger.h"
#include "trace/ops/gap_log.h"
#include "util/array.h"
#include "util/map64.h"
#include "util/utf8.h"

/*
 * A match while the goroutine was not running. It is reported when the goroutine runs next, or at the end of
 * the generation.
 */
struct deferred_match {
	struct trigger_match match;
	bool is_flushed;
};

/* MAX_TASKS: open ones; later ones fire no trigger. */
enum { MAX_TASKS = 65536, TASK_NAME = 96 };

/* A call of a function that has a trigger. */
struct open_call {
	uint64_t since;
	uint32_t region; /* string id of its name */
	uint32_t stack;
	uint16_t still; /* one bit per trigger: reported as still open */
};

/* A task with a name that a trigger is for. */
struct timed_task {
	uint64_t task, since;
	uint32_t g; /* that began it */
	uint32_t stack;
	uint16_t which, still; /* one bit per trigger: is for it; reported as still open */
	char name[TASK_NAME];
};

/* What is known of a goroutine, beside its state. */
struct evaluated {
	bool queued;            /* counts as runnable */
	uint16_t still;         /* one bit per trigger: reported as still open */
	uint16_t fired;         /* one bit per trigger: fired for its state */
	bool has_deferred;      /* a deferred match of the goroutine is pending */
	bool timed;             /* a timer ended its last wait, or may have: it works by the clock */
	struct open_call *open; /* its open calls, innermost last */
	size_t nopen, capacity;
};

struct trigger_eval {
	struct trigger_eval_options options;
	struct ledger ledger;
	struct evaluated *gs; /* by goroutine index */
	size_t ngs;
	bool functions;                    /* there is a TRIGGER_FUNCTION */
	uint32_t region_ids[MAX_TRIGGERS]; /* string ids of the regions' names; 0 = not seen yet */
	struct deferred_match *deferred;
	size_t ndeferred;
	unsigned matches[MAX_TRIGGERS]; /* number in this generation */
	bool requests;                  /* there is a TRIGGER_REQUEST */
	struct timed_task *tasks;       /* in no order */
	size_t ntasks, task_capacity;
	struct map64 tasks_by_id; /* id -> index in tasks */
	uint64_t alive;           /* number of goroutines */
	uint64_t queued;          /* number of goroutines that are runnable */
	bool counts_changed;      /* by the current op: the two above, or what is runnable */
	uint32_t counted_by;      /* the goroutine that did it, or NO_G */
	uint64_t now;             /* end of the last generation */
	uint16_t above;           /* one bit per trigger: trigger_rises() */
	long place;               /* index of the current op */
	struct trigger_match stw; /* the open stop: time, g, reason, stack; time 0 = the world is running */
};

_Static_assert(MAX_TRIGGERS <= 16, "a bit for each trigger");

static int trigger_eval_on_change(void *ctx, const struct ledger_change *change);
static int trigger_eval_on_gap(void *ctx, uint64_t time, bool begins);

static void begin_ledger(struct trigger_eval *eval)
{
	ledger_init(&eval->ledger, &(struct ledger_observer){.ctx = eval,
							     .change = trigger_eval_on_change,
							     .gap = trigger_eval_on_gap});
}

struct trigger_eval *trigger_eval_new(const struct trigger_eval_options *options)
{
	struct trigger_eval *eval = calloc(1, sizeof(*eval));

	if (!eval)
		return NULL;
	eval->options = *options;
	eval->functions = triggers_have(options->triggers, options->ntriggers, 1u << TRIGGER_FUNCTION);
	eval->requests = triggers_have(options->triggers, options->ntriggers, 1u << TRIGGER_REQUEST);
	eval->deferred = calloc((size_t)MAX_TRIGGERS * MAX_MATCHES, sizeof(*eval->deferred));
	if (!eval->deferred) {
		free(eval);
		return NULL;
	}
	begin_ledger(eval);
	return eval;
}

void trigger_eval_free(struct trigger_eval *eval)
{
	if (!eval)
		return;
	for (size_t g = 0; g < eval->ngs; g++)
		free(eval->gs[g].open);
	ledger_free(&eval->ledger);
	map64_free(&eval->tasks_by_id);
	free(eval->tasks);
	free(eval->gs);
	free(eval->deferred);
	free(eval);
}

/* Returns a goroutine of the ledger, or of an op; NULL when out of memory. */
static struct evaluated *evaluated_at(struct trigger_eval *eval, uint32_t g)
{
	return array_grow(&eval->gs, &eval->ngs, (size_t)g + 1, sizeof(*eval->gs)) ? NULL : &eval->gs[g];
}

static bool may_fire(struct trigger_eval *eval, unsigned which)
{
	if (eval->matches[which] >= MAX_MATCHES)
		return false;
	eval->matches[which]++;
	return true;
}

/* --- states of goroutines --- */

/* Channels, locks and conditions, of goroutines and of threads ("sync (mutex)"). Devices, children, signals
 * and what the kernel does are nothing that another goroutine or thread of the program gives back. */
static bool is_wait_for_others(const char *reason)
{
	return strcmp(reason, "select") == 0 || strncmp(reason, "chan ", 5) == 0 ||
	       (strncmp(reason, "sync", 4) == 0 && strncmp(reason, "sync (mmap_lock", 15) != 0);
}

static bool is_at_channel(const struct trigger_eval *eval, const struct ledger_interval *interval)
{
	const char *reason = eval->options.string(eval->options.ctx, interval->reason);

	return interval->state == G_WAITING &&
	       (strcmp(reason, "select") == 0 || strcmp(reason, "chan receive") == 0);
}

/*
 * A timer may end a wait at a channel if no goroutine does: a ticker's loop, or a time-out. That is a sleep.
 * A wake-up that is inferred may have had a waker. Why a goroutine waits that waited before the trace is not
 * recorded.
 */
static bool may_be_timed(const struct trigger_eval *eval, const struct ledger_change *change)
{
	const struct ledger_interval *from = change->from;

	if (!change->wakes || change->by != NO_G)
		return false;
	return is_at_channel(eval, from) ||
	       (from->before && !*eval->options.string(eval->options.ctx, from->reason));
}

/* The trigger is for waits for other goroutines, for whatever reason. */
static bool is_for_others(const struct trigger *trigger)
{
	return trigger->kind == TRIGGER_BLOCKED && !trigger->name[0];
}

/* "sync" is also for "sync (mutex)", but not for conditions: "sync.(*Cond).Wait", "sync (condition)". */
static bool begins_with_words(const char *reason, const char *words)
{
	size_t len = strlen(words);

	if (strcmp(words, "sync") == 0 && strcmp(reason, "sync (condition)") == 0)
		return false;
	return strncmp(reason, words, len) == 0 &&
	       (!reason[len] || reason[len] == ' ' || words[len - 1] == ' ');
}

static bool is_meant(const struct trigger_eval *eval, const struct trigger *trigger,
		     const struct ledger_interval *interval)
{
	const char *reason;

	switch (interval->state) {
	case G_RUNNABLE:
		return trigger->kind == TRIGGER_RUNNABLE;
	case G_SYSCALL:
		return trigger->kind == TRIGGER_SYSCALL;
	case G_WAITING:
		if (trigger->kind != TRIGGER_BLOCKED)
			return false;
		reason = eval->options.string(eval->options.ctx, interval->reason);
		if (strcmp(trigger->name, TRIGGER_LOCK) == 0)
			return eval->options.is_lock(eval->options.ctx, reason,
						     interval->others ? 0 : interval->stack);
		if (trigger->name[0])
			return begins_with_words(reason, trigger->name);
		return is_wait_for_others(reason) &&
		       !(eval->options.is_sleep &&
			 eval->options.is_sleep(eval->options.ctx, interval->others ? 0 : interval->stack));
	default:
		return false;
	}
}

/* Returns the triggers that this interval of g newly fires, one bit each. */
static uint16_t triggered(struct trigger_eval *eval, uint32_t g, const struct ledger_interval *interval,
			  uint64_t now)
{
	const struct trigger_eval_options *options = &eval->options;
	uint16_t fired = 0;

	if (interval->before || now <= interval->since)
		return 0;
	for (unsigned i = 0; i < options->ntriggers; i++) {
		const struct trigger *trigger = &options->triggers[i];

		if (eval->gs[g].timed && is_for_others(trigger) && is_at_channel(eval, interval))
			continue;
		if (now - interval->since > trigger->limit && !(eval->gs[g].fired & 1u << i) &&
		    is_meant(eval, trigger, interval) && !options->is_system(options->ctx, g))
			fired |= (uint16_t)(1u << i);
	}
	eval->gs[g].fired |= fired;
	return fired;
}

static struct trigger_match match_of(const struct trigger_eval *eval, unsigned which, uint32_t g,
				     const struct ledger_interval *interval, uint64_t now)
{
	return (struct trigger_match){
		.trigger = &eval->options.triggers[which],
		.g = g,
		.place = NO_PLACE,
		.value = now - interval->since,
		.time = now,
		.reason = interval->state == G_WAITING ? interval->reason : 0,
		.stack = interval->others ? 0 : interval->stack,
	};
}

/* A state ends. Reports matches after ops[place] if the goroutine runs there, else when it runs next. */
static void trigger_eval_leave(struct trigger_eval *eval, const struct ledger_change *change, long place)
{
	uint16_t reported = eval->gs[change->g].still;
	uint16_t fired = triggered(eval, change->g, change->from, change->time) | reported;
	bool may_be = may_be_timed(eval, change), timed = may_be && !change->op->inferred;

	/* Of the next waits, none counts until a goroutine is known to have ended one. */
	if (change->from->state == G_WAITING)
		eval->gs[change->g].timed = may_be;

	for (unsigned i = 0; fired >> i; i++) {
		struct trigger_match match;

		if (timed && is_for_others(&eval->options.triggers[i]) && !(reported >> i & 1))
			continue;
		if (!(fired >> i & 1) || !may_fire(eval, i))
			continue;
		match = match_of(eval, i, change->g, change->from, change->time);
		/* Where wakers are not recorded, who ended it is not known. */
		match.woken = change->wakes && (change->by != NO_G || !change->op->inferred);
		match.waker = change->by;
		match.waker_stack = change->wakes ? change->to->stack : 0;
		match.place = place;
		match.over = reported >> i & 1;
		if (place != NO_PLACE) {
			eval->options.fire(eval->options.ctx, &match);
		} else {
			eval->deferred[eval->ndeferred++] = (struct deferred_match){.match = match};
			eval->gs[change->g].has_deferred = true;
		}
	}
}

/* The goroutine runs now, after ops[place]. */
static void flush_deferred(struct trigger_eval *eval, uint32_t g, long place)
{
	for (size_t i = 0; i < eval->ndeferred && eval->gs[g].has_deferred; i++) {
		struct deferred_match *one = &eval->deferred[i];

		if (one->match.g != g || one->is_flushed)
			continue;
		one->is_flushed = true;
		one->match.place = place;
		eval->options.fire(eval->options.ctx, &one->match);
	}
	eval->gs[g].has_deferred = false;
}

/* --- calls of functions --- */

/* Returns the triggers for calls with this name, one bit each. */
static uint16_t waiting_for(struct trigger_eval *eval, uint32_t region)
{
	const struct trigger_eval_options *options = &eval->options;
	uint16_t which = 0;

	for (unsigned i = 0; i < options->ntriggers; i++) {
		if (options->triggers[i].kind != TRIGGER_FUNCTION)
			continue;
		if (!eval->region_ids[i] &&
		    strcmp(options->string(options->ctx, region), options->regions[i]) == 0)
			eval->region_ids[i] = region;
		if (eval->region_ids[i] == region)
			which |= (uint16_t)(1u << i);
	}
	return which;
}

static void trigger_eval_begin_call(struct trigger_eval *eval, const struct op *op)
{
	uint64_t watched = eval->ledger.watched_since;
	struct evaluated *g;

	if (!eval->functions || op->g == NO_G || !waiting_for(eval, op->string))
		return;
	g = evaluated_at(eval, op->g);
	/* Out of memory: the call does not fire. */
	if (!g || array_grow(&g->open, &g->capacity, g->nopen + 1, sizeof(*g->open)))
		return;
	g->open[g->nopen++] = (struct open_call){
		.since = op->time > watched ? op->time : watched, .region = op->string, .stack = op->stack};
}

/* Fires for a call that has ended or is `still` open. The goroutine runs after ops[place]. */
static void fire_call(struct trigger_eval *eval, uint32_t g, struct open_call *call, uint64_t now, long place,
		      bool still)
{
	const struct trigger_eval_options *options = &eval->options;
	uint16_t which = waiting_for(eval, call->region);

	for (unsigned i = 0; which >> i; i++) {
		bool reported = call->still >> i & 1;
		struct trigger_match match = {.trigger = &options->triggers[i],
					      .g = g,
					      .still = still,
					      .over = reported,
					      .place = place,
					      .value = now - call->since,
					      .time = now,
					      .reason = call->region,
					      .stack = call->stack};

		if (!(which >> i & 1) || now <= call->since || eval->ledger.unwatched ||
		    match.value <= options->triggers[i].limit || (reported && still) || !may_fire(eval, i))
			continue;
		if (still)
			call->still |= (uint16_t)(1u << i);
		options->fire(options->ctx, &match);
	}
}

/* Regions nest, so only the innermost call can end. */
static void trigger_eval_end_call(struct trigger_eval *eval, const struct op *op, long place)
{
	struct evaluated *g = op->g < eval->ngs ? &eval->gs[op->g] : NULL;

	if (g && g->nopen && g->open[g->nopen - 1].region == op->string)
		fire_call(eval, op->g, &g->open[--g->nopen], op->time, place, false);
}

/* Ends all open calls of a goroutine that has ended. */
static void end_calls(struct trigger_eval *eval, uint32_t g, uint64_t now)
{
	while (eval->gs[g].nopen)
		fire_call(eval, g, &eval->gs[g].open[--eval->gs[g].nopen], now, NO_PLACE, false);
}

static void check_calls(struct trigger_eval *eval, uint64_t now)
{
	for (uint32_t g = 1; eval->functions && g < eval->ngs; g++) {
		for (size_t i = 0; i < eval->gs[g].nopen; i++)
			fire_call(eval, g, &eval->gs[g].open[i], now, NO_PLACE, true);
	}
}

/* --- tasks --- */

/* Returns the triggers for tasks of this name, one bit each. */
static uint16_t waiting_for_task(const struct trigger_eval *eval, const char *name)
{
	uint16_t which = 0;

	for (unsigned i = 0; i < eval->options.ntriggers; i++) {
		const struct trigger *trigger = &eval->options.triggers[i];

		if (trigger->kind == TRIGGER_REQUEST && trigger_takes_name(trigger, name))
			which |= (uint16_t)(1u << i);
	}
	return which;
}

/* The name is copied: the model may forget it before the task ends. */
static void begin_task(struct trigger_eval *eval, const struct op *op)
{
	const char *name = eval->requests ? eval->options.string(eval->options.ctx, op->string) : NULL;
	uint16_t which = name ? waiting_for_task(eval, name) : 0;
	struct timed_task *task;

	/* Out of memory: the task does not fire. */
	if (!which || eval->ledger.unwatched || eval->ntasks == MAX_TASKS ||
	    map64_get(&eval->tasks_by_id, op->arg) ||
	    array_grow(&eval->tasks, &eval->task_capacity, eval->ntasks + 1, sizeof(*task)) ||
	    map64_set(&eval->tasks_by_id, op->arg, (uint32_t)eval->ntasks))
		return;
	task = &eval->tasks[eval->ntasks++];
	*task = (struct timed_task){
		.task = op->arg, .since = op->time, .g = op->g, .stack = op->stack, .which = which};
	snprintf(task->name, sizeof(task->name), "%.*s", text_fit(name, sizeof(task->name) - 1), name);
}

/* Fires for a task that has ended or is `still` open. Its goroutine runs after ops[place], or NO_PLACE. */
static void fire_task(struct trigger_eval *eval, struct timed_task *task, uint64_t now, long place,
		      bool still)
{
	for (unsigned i = 0; task->which >> i; i++) {
		const struct trigger *trigger = &eval->options.triggers[i];
		bool reported = task->still >> i & 1;

		if (!(task->which >> i & 1) || now <= task->since || now - task->since <= trigger->limit ||
		    (reported && still) || !may_fire(eval, i))
			continue;
		if (still)
			task->still |= (uint16_t)(1u << i);
		eval->options.fire(eval->options.ctx, &(struct trigger_match){.trigger = trigger,
									      .g = task->g,
									      .still = still,
									      .over = reported,
									      .place = place,
									      .value = now - task->since,
									      .time = now,
									      .stack = task->stack,
									      .name = task->name});
	}
}

static void end_task(struct trigger_eval *eval, const struct op *op, long place)
{
	const uint32_t *known = map64_get(&eval->tasks_by_id, op->arg);
	uint32_t at = known ? *known : 0;

	if (!known)
		return;
	fire_task(eval, &eval->tasks[at], op->time, op->g == eval->tasks[at].g ? place : NO_PLACE, false);
	map64_del(&eval->tasks_by_id, op->arg);
	eval->tasks[at] = eval->tasks[--eval->ntasks];
	if (at < eval->ntasks) /* an existing key: needs no memory */
		*map64_get(&eval->tasks_by_id, eval->tasks[at].task) = at;
}

static void check_tasks(struct trigger_eval *eval, uint64_t now)
{
	for (size_t i = 0; i < eval->ntasks; i++)
		fire_task(eval, &eval->tasks[i], now, NO_PLACE, true);
}

static void forget_tasks(struct trigger_eval *eval)
{
	eval->ntasks = 0;
	map64_clear(&eval->tasks_by_id);
}

/* --- levels: numbers of goroutines, the heap --- */

/* A value of this kind has changed. match: who did it and where. */
static void check_level(struct trigger_eval *eval, enum trigger_kind kind, const struct trigger_match *match)
{
	for (unsigned i = 0; i < eval->options.ntriggers; i++) {
		const struct trigger *trigger = &eval->options.triggers[i];
		struct trigger_match now = *match;

		if (trigger->kind != kind || !trigger_rises(trigger, i, match->value, &eval->above) ||
		    !may_fire(eval, i))
			continue;
		now.trigger = trigger;
		eval->options.fire(eval->options.ctx, &now);
	}
}

/* A goroutine has appeared, ended, or changed its state, by op and `by`, which runs after it. */
static void check_counts(struct trigger_eval *eval, const struct op *op, uint32_t by)
{
	struct trigger_match match = {.g = by,
				      .place = by ? eval->place : NO_PLACE,
				      .value = eval->alive,
				      .time = op->time,
				      .stack = op->kind == OP_GO_STATUS ? 0 : op->stack};

	if (eval->ledger.unwatched)
		return;
	check_level(eval, TRIGGER_GOROUTINES, &match);
	match.value = eval->queued;
	check_level(eval, TRIGGER_QUEUE, &match);
}

/* Without a goal (GOGC=off, and no limit) it is the largest number. */
static void trigger_eval_heap_goal(struct trigger_eval *eval, const struct op *op)
{
	const struct trigger_match match = {
		.g = NO_G, .place = NO_PLACE, .value = op->arg >> 62 ? 0 : op->arg, .time = op->time};

	if (!eval->ledger.unwatched)
		check_level(eval, TRIGGER_HEAP, &match);
}

/* --- stop-the-world --- */

static void world_stops(struct trigger_eval *eval, const struct op *op)
{
	eval->stw = (struct trigger_match){
		.g = op->g, .time = op->time, .reason = op->string, .stack = op->stack};
}

static void world_goes_on(struct trigger_eval *eval, const struct op *op, long place)
{
	const struct trigger_eval_options *options = &eval->options;
	struct trigger_match *stw = &eval->stw;
	uint64_t pause = op->time - stw->time;

	for (unsigned i = 0; i < options->ntriggers && stw->time; i++) {
		const struct trigger *trigger = &options->triggers[i];
		struct trigger_match match = *stw;

		if (trigger->kind != TRIGGER_GC_PAUSE || pause <= trigger->limit ||
		    strncmp(options->string(options->ctx, stw->reason), "GC ", 3) != 0 || !may_fire(eval, i))
			continue;
		match.trigger = trigger;
		match.value = pause;
		match.time = op->time;
		match.place = op->g == stw->g ? place : NO_PLACE;
		options->fire(options->ctx, &match);
	}
	stw->time = 0;
}

/* --- ops --- */

/* A goroutine appears or ends. Its creator runs after the op. */
static void count_change(struct trigger_eval *eval, const struct ledger_change *change)
{
	bool appears = change->was.state == LEDGER_NONE;

	eval->gs[change->g].still = eval->gs[change->g].fired = 0;
	eval->gs[change->g].has_deferred = eval->gs[change->g].timed = false;
	if (!appears)
		end_calls(eval, change->g, change->time);
	if (!ledger_is_own(&eval->ledger.gs[change->g]))
		eval->alive += appears ? 1 : (uint64_t)-1;
}

/* In a gap, nothing counts as runnable; after it, only what an op has moved since: it may have run. */
static void count_queued(struct trigger_eval *eval, const struct ledger_change *change)
{
	struct evaluated *g = &eval->gs[change->g];
	bool queued =
		change->op && change->to->state == G_RUNNABLE && !change->hidden && !eval->ledger.unwatched;

	eval->queued += (uint64_t)queued - g->queued;
	g->queued = queued;
}

/* One op may change several goroutines, so the numbers are right only after it. */
static void counts_change(struct trigger_eval *eval, uint32_t by)
{
	eval->counts_changed = true;
	eval->counted_by = by;
}

static int trigger_eval_on_change(void *ctx, const struct ledger_change *change)
{
	struct trigger_eval *eval = ctx;
	struct evaluated *g = evaluated_at(eval, change->g);
	long place = NO_PLACE;

	if (!g)
		return -ENOMEM;
	count_queued(eval, change);
	if (!change->op) { /* of a gap: how long the state lasts in all, and what ended waits, will not be
			      known */
		g->still = 0;
		g->timed = true;
		return 0;
	}
	if (change->was.state == LEDGER_NONE || change->to->state == LEDGER_NONE) {
		count_change(eval, change);
		counts_change(eval, change->by);
		return 0;
	}
	if (change->to->state == G_RUNNABLE || change->was.state == G_RUNNABLE)
		counts_change(eval, change->by);
	/* In a coroutine switch, the op's place belongs to the other goroutine. */
	if (change->to->state == G_RUNNING && change->op->g == change->g)
		place = eval->place;
	if (!change->hidden)
		trigger_eval_leave(eval, change, place);
	g->still = g->fired = 0;
	if (change->to->state == G_RUNNING)
		flush_deferred(eval, change->g, place);
	return 0;
}

static int look(struct trigger_eval *eval, const struct op *op)
{
	int rc = ledger_step(&eval->ledger, op);

	if (eval->counts_changed)
		check_counts(eval, op, eval->counted_by);
	eval->counts_changed = false;
	switch (op->kind) {
	case OP_REGION_BEGIN:
		trigger_eval_begin_call(eval, op);
		break;
	case OP_REGION_END:
		trigger_eval_end_call(eval, op, eval->place);
		break;
	case OP_TASK_BEGIN:
		begin_task(eval, op);
		break;
	case OP_TASK_END:
		end_task(eval, op, eval->place);
		break;
	case OP_HEAP_GOAL:
		trigger_eval_heap_goal(eval, op);
		break;
	case OP_STW_BEGIN:
		world_stops(eval, op);
		break;
	case OP_STW_END:
		world_goes_on(eval, op, eval->place);
		break;
	default:
		break;
	}
	return rc;
}

/* Reports deferred matches of goroutines that did not run again, and states that continue. */
static void eval_end(struct trigger_eval *eval, uint64_t now)
{
	for (size_t i = 0; i < eval->ndeferred; i++) {
		if (!eval->deferred[i].is_flushed)
			eval->options.fire(eval->options.ctx, &eval->deferred[i].match);
		eval->gs[eval->deferred[i].match.g].has_deferred = false;
	}
	eval->ndeferred = 0;
	for (uint32_t g = 1; g < eval->ledger.ngs; g++) {
		const struct ledger_g *alive = ledger_alive(&eval->ledger, g);
		struct ledger_interval interval = alive ? ledger_watched(&eval->ledger, alive)
							: (struct ledger_interval){.before = true};
		uint16_t fired = triggered(eval, g, &interval, now);

		eval->gs[g].still |= fired;
		for (unsigned i = 0; fired; i++, fired >>= 1) {
			struct trigger_match match;

			if (!(fired & 1) || !may_fire(eval, i))
				continue;
			match = match_of(eval, i, g, &interval, now);
			match.still = true;
			eval->options.fire(eval->options.ctx, &match);
		}
	}
}

static void forget_calls(struct trigger_eval *eval)
{
	for (size_t g = 0; g < eval->ngs; g++)
		eval->gs[g].nopen = 0;
}

/* Ops were not evaluated, so no state is known until the next status of each goroutine. */
static void forget_states(struct trigger_eval *eval)
{
	ledger_free(&eval->ledger);
	begin_ledger(eval);
	eval->ndeferred = 0;
	eval->alive = eval->queued = 0;
	for (size_t g = 0; g < eval->ngs; g++)
		eval->gs[g].queued = false;
	eval->stw.time = 0;
	forget_calls(eval);
	forget_tasks(eval);
}

int trigger_eval_generation(struct trigger_eval *eval, const struct op *ops, size_t n, uint64_t now)
{
	memset(eval->matches, 0, sizeof(eval->matches));
	eval->now = now;
	for (size_t i = 0; i < n; i++) {
		eval->place = (long)i;
		if (look(eval, &ops[i])) {
			forget_states(eval);
			return -ENOMEM;
		}
	}
	eval_end(eval, now);
	check_calls(eval, now);
	check_tasks(eval, now);
	return 0;
}

/* A call or task may have ended without a record; it would then appear to last much longer. */
static int trigger_eval_on_gap(void *ctx, uint64_t time, bool begins)
{
	struct trigger_eval *eval = ctx;

	(void)time;
	(void)begins;
	forget_calls(eval);
	forget_tasks(eval);
	eval->stw.time = 0;
	return 0;
}

void trigger_eval_gap(struct trigger_eval *eval, uint64_t now, bool begins)
{
	uint64_t time = now > eval->now ? now : eval->now;

	if (!begins) /* its begin was lost, unless it is known */
		ledger_gap(&eval->ledger, time, true);
	ledger_gap(&eval->ledger, time, begins);
}

void trigger_eval_forget(struct trigger_eval *eval)
{
	if (!eval->ledger.unwatched)
		trigger_eval_gap(eval, 0, false);
}
