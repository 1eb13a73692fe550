/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/trigger_eval.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/ops/transition.h"
#include "util/array.h"
#include "trace/ops/gap_log.h"

/* The current state of a goroutine. */
struct interval {
	uint64_t since;
	uint32_t reason, stack;
	uint16_t still;    /* one bit per trigger: reported as still open */
	uint16_t fired;    /* one bit per trigger: fired for this interval */
	uint8_t status;    /* enum g_status, 0 = dead or unknown */
	bool counts;       /* its start was observed */
	bool has_deferred; /* a deferred match of the goroutine is pending */
};

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

/* The open calls of a goroutine, innermost last. */
struct open_calls {
	struct open_call *open;
	size_t n, capacity;
};

struct trigger_eval {
	struct trigger_eval_options options;
	struct interval *gs;      /* by goroutine index */
	struct open_calls *calls; /* by goroutine index; NULL without TRIGGER_FUNCTION */
	uint32_t ngs;
	bool functions;                    /* there is a TRIGGER_FUNCTION */
	uint32_t region_ids[MAX_TRIGGERS]; /* string ids of the regions' names; 0 = not seen yet */
	struct deferred_match *deferred;
	size_t ndeferred;
	unsigned matches[MAX_TRIGGERS]; /* number in this generation */
	uint64_t alive;                 /* number of goroutines */
	uint64_t now;                   /* end of the last generation */
	uint16_t above;                 /* one bit per trigger: has fired and is still above the limit */
	uint64_t seen_from;             /* before this time, events may be missing */
	bool blind;                     /* the target is not watched: nothing fires */
	struct trigger_match stw; /* the open stop: time, g, reason, stack; time 0 = the world is running */
};

_Static_assert(MAX_TRIGGERS <= 16, "a bit for each trigger");

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
	return eval;
}

void trigger_eval_free(struct trigger_eval *eval)
{
	if (!eval)
		return;
	for (uint32_t g = 0; eval->calls && g < eval->ngs; g++)
		free(eval->calls[g].open);
	free(eval->calls);
	free(eval->gs);
	free(eval->deferred);
	free(eval);
}

static int fit_calls(struct trigger_eval *eval, uint32_t n)
{
	struct open_calls *calls = realloc(eval->calls, n * sizeof(*calls));

	if (!calls)
		return -ENOMEM;
	memset(calls + eval->ngs, 0, (n - eval->ngs) * sizeof(*calls));
	eval->calls = calls;
	return 0;
}

static int fit(struct trigger_eval *eval, uint32_t g)
{
	uint32_t n = eval->ngs ? eval->ngs : 256;
	struct interval *gs;

	if (g < eval->ngs)
		return 0;
	while (n <= g) {
		if (n > UINT32_MAX / 2)
			return -ENOMEM;
		n *= 2;
	}
	if (eval->functions && fit_calls(eval, n))
		return -ENOMEM;
	gs = realloc(eval->gs, n * sizeof(*gs));
	if (!gs)
		return -ENOMEM;
	memset(gs + eval->ngs, 0, (n - eval->ngs) * sizeof(*gs));
	eval->gs = gs;
	eval->ngs = n;
	return 0;
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
		     const struct interval *interval)
{
	const char *reason;

	switch (interval->status) {
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

/* Returns the triggers that this interval newly fires, one bit each. */
static uint16_t triggered(struct trigger_eval *eval, uint32_t g, uint64_t now)
{
	const struct trigger_eval_options *options = &eval->options;
	struct interval *interval = &eval->gs[g];
	uint16_t fired = 0;

	if (!interval->counts || now <= interval->since || eval->blind)
		return 0;
	for (unsigned i = 0; i < options->ntriggers; i++) {
		const struct trigger *trigger = &options->triggers[i];

		if (now - interval->since > trigger->limit && !(interval->fired & 1u << i) &&
		    is_meant(eval, trigger, interval) && !options->is_system(options->ctx, g))
			fired |= (uint16_t)(1u << i);
	}
	interval->fired |= fired;
	return fired;
}

static struct trigger_match match_of(const struct trigger_eval *eval, unsigned which, uint32_t g,
				     uint64_t now)
{
	const struct interval *interval = &eval->gs[g];

	return (struct trigger_match){
		.trigger = &eval->options.triggers[which],
		.g = g,
		.place = NO_PLACE,
		.value = now - interval->since,
		.time = now,
		.reason = interval->reason,
		.stack = interval->stack,
	};
}

/* Ends the interval. Reports matches after this op if the goroutine runs there, else when it runs next. */
static void leave(struct trigger_eval *eval, uint32_t g, const struct op *op, long place)
{
	uint16_t reported = eval->gs[g].still, fired = triggered(eval, g, op->time) | reported;

	for (unsigned i = 0; fired >> i; i++) {
		struct trigger_match match;

		if (!(fired >> i & 1) || !may_fire(eval, i))
			continue;
		match = match_of(eval, i, g, op->time);
		match.woken = op->kind == OP_GO_UNBLOCK;
		match.waker = match.woken ? op->g : NO_G;
		match.waker_stack = match.woken ? op->stack : 0;
		match.place = place;
		match.over = reported >> i & 1;
		if (place != NO_PLACE) {
			eval->options.fire(eval->options.ctx, &match);
		} else {
			eval->deferred[eval->ndeferred++] = (struct deferred_match){.match = match};
			eval->gs[g].has_deferred = true;
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

/* States found at the end of a gap are dated back to its start. Their durations count from seen_from. */
static uint64_t beginning(const struct trigger_eval *eval, uint64_t time)
{
	return time > eval->seen_from ? time : eval->seen_from;
}

static void enter(struct trigger_eval *eval, uint32_t g, uint8_t status, const struct op *op, long place)
{
	struct interval *interval = &eval->gs[g];
	bool own = g == op->g && (status == G_WAITING || status == G_SYSCALL || status == G_RUNNABLE);

	if (g == NO_G)
		return;
	leave(eval, g, op, status == G_RUNNING ? place : NO_PLACE);
	*interval = (struct interval){
		.since = beginning(eval, op->time),
		.reason = status == G_WAITING && op->kind == OP_GO_BLOCK ? op->string : 0,
		.stack = own ? op->stack : 0,
		.status = status,
		.counts = true,
		.has_deferred = interval->has_deferred,
	};
	if (status == G_RUNNING)
		flush_deferred(eval, g, place);
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
	struct open_calls *calls;

	if (!eval->functions || op->g == NO_G || !waiting_for(eval, op->string))
		return;
	calls = &eval->calls[op->g];
	/* Out of memory: the call does not fire. */
	if (array_grow(&calls->open, &calls->capacity, calls->n + 1, sizeof(*calls->open)) == 0)
		calls->open[calls->n++] = (struct open_call){
			.since = beginning(eval, op->time), .region = op->string, .stack = op->stack};
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

		if (!(which >> i & 1) || now <= call->since || eval->blind ||
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
	struct open_calls *calls = eval->functions && op->g != NO_G ? &eval->calls[op->g] : NULL;

	if (!calls || !calls->n || calls->open[calls->n - 1].region != op->string)
		return;
	fire_call(eval, op->g, &calls->open[--calls->n], op->time, place, false);
}

/* Ends all open calls of a goroutine that has ended. */
static void end_calls(struct trigger_eval *eval, uint32_t g, uint64_t now)
{
	struct open_calls *calls = eval->functions ? &eval->calls[g] : NULL;

	while (calls && calls->n)
		fire_call(eval, g, &calls->open[--calls->n], now, NO_PLACE, false);
}

static void check_calls(struct trigger_eval *eval, uint64_t now)
{
	for (uint32_t g = 1; eval->functions && g < eval->ngs; g++) {
		struct open_calls *calls = &eval->calls[g];

		for (unsigned i = 0; i < calls->n; i++)
			fire_call(eval, g, &calls->open[i], now, NO_PLACE, true);
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

static void enter_created(struct trigger_eval *eval, const struct op *op, uint32_t g, uint8_t status,
			  long place)
{
	bool seen = op->kind != OP_GO_STATUS;

	if (g == NO_G || (!seen && eval->gs[g].status))
		return;
	eval->alive += !eval->gs[g].status;
	eval->gs[g] = (struct interval){.since = beginning(eval, op->time), .status = status, .counts = seen};
	count(eval, op, seen && op->kind != OP_GO_CREATE_SYSCALL ? op->g : NO_G, place);
}

static void die(struct trigger_eval *eval, const struct op *op, uint32_t g)
{
	if (g == NO_G || !eval->gs[g].status)
		return;
	end_calls(eval, g, op->time);
	eval->gs[g] = (struct interval){.status = 0};
	eval->alive--;
	count(eval, op, NO_G, NO_PLACE);
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

static void eval_change(struct trigger_eval *eval, const struct op *op, const struct g_change *change,
			long place)
{
	if (change->appears)
		enter_created(eval, op, change->g, change->status, place);
	else if (change->status == G_DEAD)
		die(eval, op, change->g);
	else
		enter(eval, change->g, change->status, op, place);
}

static void look(struct trigger_eval *eval, const struct op *op, long place)
{
	struct g_change changes[2];
	unsigned n = op_changes(op, changes);

	/* If two goroutines change, ops[place] belongs to the first. */
	for (unsigned i = 0; i < n; i++)
		eval_change(eval, op, &changes[i], i == 0 ? place : NO_PLACE);
	switch (op->kind) {
	case OP_REGION_BEGIN:
		begin_call(eval, op);
		break;
	case OP_REGION_END:
		end_call(eval, op, place);
		break;
	case OP_STW_BEGIN:
		world_stops(eval, op);
		break;
	case OP_STW_END:
		world_goes_on(eval, op, place);
		break;
	default:
		break;
	}
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
	for (uint32_t g = 1; g < eval->ngs; g++) {
		uint16_t fired = eval->gs[g].status ? triggered(eval, g, now) : 0;

		eval->gs[g].still |= fired;
		for (unsigned i = 0; fired; i++, fired >>= 1) {
			struct trigger_match match;

			if (!(fired & 1) || !may_fire(eval, i))
				continue;
			match = match_of(eval, i, g, now);
			match.still = true;
			eval->options.fire(eval->options.ctx, &match);
		}
	}
}

static void forget_calls(struct trigger_eval *eval)
{
	for (uint32_t g = 0; eval->functions && g < eval->ngs; g++)
		eval->calls[g].n = 0;
}

/* Ops were not evaluated, so no state is known until the next op or status of each goroutine. */
static void forget_states(struct trigger_eval *eval)
{
	eval->ndeferred = 0;
	eval->alive = 0;
	eval->stw.time = 0;
	if (eval->ngs)
		memset(eval->gs, 0, eval->ngs * sizeof(*eval->gs));
	forget_calls(eval);
}

int trigger_eval_generation(struct trigger_eval *eval, const struct op *ops, size_t n, uint64_t now)
{
	memset(eval->matches, 0, sizeof(eval->matches));
	eval->now = now;
	for (size_t i = 0; i < n; i++) {
		uint32_t most = ops[i].g > ops[i].g2 ? ops[i].g : ops[i].g2;

		if (fit(eval, most)) {
			forget_states(eval);
			return -ENOMEM;
		}
		look(eval, &ops[i], (long)i);
	}
	if (eval->ngs) {
		eval_end(eval, now);
		check_calls(eval, now);
	}
	return 0;
}

void trigger_eval_blind(struct trigger_eval *eval, bool blind)
{
	eval->blind = blind;
}

void trigger_eval_forget(struct trigger_eval *eval, uint64_t now)
{
	if (now < eval->now)
		now = eval->now;
	eval->seen_from = now;
	for (uint32_t g = 0; g < eval->ngs; g++) {
		eval->gs[g].since = now;
		eval->gs[g].still = 0; /* how long the state lasts in all will not be known */
	}
	/* A call may have ended without a record; it would then appear to last as long as its goroutine. */
	forget_calls(eval);
	eval->stw.time = 0;
}
