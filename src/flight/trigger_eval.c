/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/trigger_eval.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/ledger/ledger.h"
#include "trace/ops/gap_log.h"
#include "util/array.h"

/*
 * A match while the goroutine was not running. It is reported when the goroutine runs next, or at the end of
 * the generation.
 */
struct deferred_match {
	struct trigger_match match;
	bool is_flushed;
};

/* A call of a function that has a trigger. */
struct open_call {
	uint64_t since;
	uint32_t region; /* string id of its name */
	uint32_t stack;
	uint16_t still; /* one bit per trigger: reported as still open */
};

/* What is known of a goroutine, beside its state. */
struct evaluated {
	uint16_t still;         /* one bit per trigger: reported as still open */
	uint16_t fired;         /* one bit per trigger: fired for its state */
	bool has_deferred;      /* a deferred match of the goroutine is pending */
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
	uint64_t alive;                 /* number of goroutines */
	uint64_t now;                   /* end of the last generation */
	uint16_t above;                 /* one bit per trigger: has fired and is still above the limit */
	long place;                     /* index of the current op */
	struct trigger_match stw; /* the open stop: time, g, reason, stack; time 0 = the world is running */
};

_Static_assert(MAX_TRIGGERS <= 16, "a bit for each trigger");

static int on_change(void *ctx, const struct ledger_change *change);
static int on_gap(void *ctx, uint64_t time, bool begins);

static void begin_ledger(struct trigger_eval *eval)
{
	ledger_init(&eval->ledger,
		    &(struct ledger_observer){.ctx = eval, .change = on_change, .gap = on_gap});
}

struct trigger_eval *trigger_eval_new(const struct trigger_eval_options *options)
{
	struct trigger_eval *eval = calloc(1, sizeof(*eval));

	if (!eval)
		return NULL;
	eval->options = *options;
	for (unsigned i = 0; i < options->ntriggers; i++)
		eval->functions |= options->triggers[i].kind == TRIGGER_FUNCTION;
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

/* Reasons for intended waits, which are not waits for another goroutine of the program; and one that says
 * nothing. */
static const char *const own_reasons[] = {
	"forever",
	"network",
	"sleep",
	"system goroutine wait",
	"GC background sweeper wait",
	"preempted",
	"unspecified",
	"",
	GAP_REASON,
};

static bool is_wait_for_others(const char *reason)
{
	for (size_t i = 0; i < sizeof(own_reasons) / sizeof(own_reasons[0]); i++) {
		if (strcmp(reason, own_reasons[i]) == 0)
			return false;
	}
	return true;
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
		if (trigger->name[0])
			return strncmp(reason, trigger->name, strlen(trigger->name)) == 0;
		return is_wait_for_others(reason);
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
static void leave(struct trigger_eval *eval, const struct ledger_change *change, long place)
{
	uint16_t reported = eval->gs[change->g].still;
	uint16_t fired = triggered(eval, change->g, change->from, change->time) | reported;

	for (unsigned i = 0; fired >> i; i++) {
		struct trigger_match match;

		if (!(fired >> i & 1) || !may_fire(eval, i))
			continue;
		match = match_of(eval, i, change->g, change->from, change->time);
		match.woken = change->wakes;
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

static void begin_call(struct trigger_eval *eval, const struct op *op)
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
static void end_call(struct trigger_eval *eval, const struct op *op, long place)
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

/* --- number of goroutines --- */

static void count(struct trigger_eval *eval, const struct op *op, uint32_t creator, long place)
{
	const struct trigger_eval_options *options = &eval->options;

	for (unsigned i = 0; i < options->ntriggers; i++) {
		const struct trigger *trigger = &options->triggers[i];
		uint16_t bit = (uint16_t)(1u << i);

		if (trigger->kind != TRIGGER_GOROUTINES)
			continue;
		/* The trigger fires again only after the number has dropped 10% below the limit. */
		if (eval->alive < trigger->limit - trigger->limit / 10)
			eval->above &= (uint16_t)~bit;
		if (eval->alive <= trigger->limit || eval->above & bit || !may_fire(eval, i))
			continue;
		eval->above |= bit;
		options->fire(options->ctx,
			      &(struct trigger_match){.trigger = trigger,
						      .g = creator,
						      .place = creator ? place : NO_PLACE,
						      .value = eval->alive,
						      .time = op->time,
						      .stack = op->kind == OP_GO_STATUS ? 0 : op->stack});
	}
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
	eval->gs[change->g].has_deferred = false;
	if (!appears)
		end_calls(eval, change->g, change->time);
	eval->alive += appears ? 1 : (uint64_t)-1;
	count(eval, change->op, change->by, eval->place);
}

static int on_change(void *ctx, const struct ledger_change *change)
{
	struct trigger_eval *eval = ctx;
	struct evaluated *g = evaluated_at(eval, change->g);
	long place = NO_PLACE;

	if (!g)
		return -ENOMEM;
	if (!change->op) { /* of a gap: how long the state lasts in all will not be known */
		g->still = 0;
		return 0;
	}
	if (change->was.state == LEDGER_NONE || change->to->state == LEDGER_NONE) {
		count_change(eval, change);
		return 0;
	}
	/* In a coroutine switch, the op's place belongs to the other goroutine. */
	if (change->to->state == G_RUNNING && change->op->g == change->g)
		place = eval->place;
	if (!change->hidden)
		leave(eval, change, place);
	g->still = g->fired = 0;
	if (change->to->state == G_RUNNING)
		flush_deferred(eval, change->g, place);
	return 0;
}

static int look(struct trigger_eval *eval, const struct op *op)
{
	int rc = ledger_step(&eval->ledger, op);

	switch (op->kind) {
	case OP_REGION_BEGIN:
		begin_call(eval, op);
		break;
	case OP_REGION_END:
		end_call(eval, op, eval->place);
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
	eval->alive = 0;
	eval->stw.time = 0;
	forget_calls(eval);
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
	return 0;
}

/* A call may have ended without a record; it would then appear to last as long as its goroutine. */
static int on_gap(void *ctx, uint64_t time, bool begins)
{
	struct trigger_eval *eval = ctx;

	(void)time;
	(void)begins;
	forget_calls(eval);
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
