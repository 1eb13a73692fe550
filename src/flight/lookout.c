/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/lookout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/list.h"

/* What a goroutine is doing. */
struct stretch {
	uint64_t since;
	uint32_t reason, stack;
	uint16_t still; /* the same: told while it was going on */
	uint16_t fired; /* a bit a trigger: for this stretch */
	uint8_t status; /* enum g_status, 0 = dead or not known */
	bool counts;    /* its beginning was seen */
	bool owes;      /* something of it is among the debts */
};

/* A trigger has fired while the goroutine did not run: told where it does, or at the end of the generation.
 */
struct debt {
	struct firing firing;
	bool paid;
};

/* A call of a function that triggers wait for. */
struct call {
	uint64_t since;
	uint32_t region; /* string id of its name */
	uint32_t stack;
	uint16_t still; /* a bit a trigger: told while it was going on */
};

/* Those of a goroutine that are not over, innermost last. */
struct calls {
	struct call *open;
	unsigned n, capacity;
};

struct lookout {
	struct lookout_options options;
	struct stretch *gs;  /* by goroutine index */
	struct calls *calls; /* the same; NULL: no trigger is about functions */
	uint32_t ngs;
	bool functions;                    /* some trigger is */
	uint32_t region_ids[MAX_TRIGGERS]; /* string ids of their names, once seen */
	struct debt *debts;
	size_t ndebts;
	unsigned firings[MAX_TRIGGERS]; /* in this generation */
	uint64_t alive;                 /* goroutines */
	uint64_t now;                   /* end of the last generation */
	uint16_t above;                 /* a bit a trigger: there are more than its limit, and it has fired */
	uint64_t seen_from; /* before that something may have happened unseen, whatever the ops say */
	struct firing stw;  /* begun: time, g, reason, stack; time 0 = the world runs */
};

_Static_assert(MAX_TRIGGERS <= 16, "a bit for each trigger");

struct lookout *lookout_new(const struct lookout_options *options)
{
	struct lookout *lookout = calloc(1, sizeof(*lookout));

	if (!lookout)
		return NULL;
	lookout->options = *options;
	for (unsigned i = 0; i < options->ntriggers; i++)
		lookout->functions |= options->triggers[i].kind == TRIGGER_FUNCTION;
	lookout->debts = calloc((size_t)MAX_TRIGGERS * MAX_FIRINGS, sizeof(*lookout->debts));
	if (!lookout->debts) {
		free(lookout);
		return NULL;
	}
	return lookout;
}

void lookout_free(struct lookout *lookout)
{
	if (!lookout)
		return;
	for (uint32_t g = 0; lookout->calls && g < lookout->ngs; g++)
		free(lookout->calls[g].open);
	free(lookout->calls);
	free(lookout->gs);
	free(lookout->debts);
	free(lookout);
}

static int fit_calls(struct lookout *lookout, uint32_t n)
{
	struct calls *calls = realloc(lookout->calls, n * sizeof(*calls));

	if (!calls)
		return -ENOMEM;
	memset(calls + lookout->ngs, 0, (n - lookout->ngs) * sizeof(*calls));
	lookout->calls = calls;
	return 0;
}

static int fit(struct lookout *lookout, uint32_t g)
{
	uint32_t n = lookout->ngs ? lookout->ngs : 256;
	struct stretch *gs;

	if (g < lookout->ngs)
		return 0;
	while (n <= g)
		n *= 2;
	if (lookout->functions && fit_calls(lookout, n))
		return -ENOMEM;
	gs = realloc(lookout->gs, n * sizeof(*gs));
	if (!gs)
		return -ENOMEM;
	memset(gs + lookout->ngs, 0, (n - lookout->ngs) * sizeof(*gs));
	lookout->gs = gs;
	lookout->ngs = n;
	return 0;
}

static bool may_fire(struct lookout *lookout, unsigned which)
{
	if (lookout->firings[which] >= MAX_FIRINGS)
		return false;
	lookout->firings[which]++;
	return true;
}

/* --- what goroutines do --- */

/* Waits that are no waiting for another goroutine of the program: they last as long as they are meant to. */
static const char *const own_reasons[] = {
	"forever",   "network",     "sleep", "system goroutine wait", "GC background sweeper wait",
	"preempted", "unspecified", "",
};

static bool is_wait_for_others(const char *reason)
{
	for (size_t i = 0; i < sizeof(own_reasons) / sizeof(own_reasons[0]); i++) {
		if (strcmp(reason, own_reasons[i]) == 0)
			return false;
	}
	return true;
}

static bool is_meant(const struct lookout *lookout, const struct trigger *trigger,
		     const struct stretch *stretch)
{
	const char *reason;

	switch (stretch->status) {
	case G_RUNNABLE:
		return trigger->kind == TRIGGER_RUNNABLE;
	case G_SYSCALL:
		return trigger->kind == TRIGGER_SYSCALL;
	case G_WAITING:
		if (trigger->kind != TRIGGER_BLOCKED)
			return false;
		reason = lookout->options.string(lookout->options.ctx, stretch->reason);
		if (trigger->name[0])
			return strncmp(reason, trigger->name, strlen(trigger->name)) == 0;
		return is_wait_for_others(reason);
	default:
		return false;
	}
}

/* Which triggers the stretch fires now, for the first time: a bit each. */
static uint16_t triggered(struct lookout *lookout, uint32_t g, uint64_t now)
{
	const struct lookout_options *options = &lookout->options;
	struct stretch *stretch = &lookout->gs[g];
	uint16_t fired = 0;

	if (!stretch->counts || now <= stretch->since)
		return 0;
	for (unsigned i = 0; i < options->ntriggers; i++) {
		const struct trigger *trigger = &options->triggers[i];

		if (now - stretch->since > trigger->limit && !(stretch->fired & 1u << i) &&
		    is_meant(lookout, trigger, stretch) && !options->is_system(options->ctx, g))
			fired |= (uint16_t)(1u << i);
	}
	stretch->fired |= fired;
	return fired;
}

static struct firing firing_of(const struct lookout *lookout, unsigned which, uint32_t g, uint64_t now)
{
	const struct stretch *stretch = &lookout->gs[g];

	return (struct firing){
		.trigger = &lookout->options.triggers[which],
		.g = g,
		.place = NO_PLACE,
		.value = now - stretch->since,
		.time = now,
		.reason = stretch->reason,
		.stack = stretch->stack,
	};
}

/* It leaves what it did: told behind this op if it runs there, else where it runs next. */
static void leave(struct lookout *lookout, uint32_t g, uint64_t now, long place)
{
	uint16_t told = lookout->gs[g].still, fired = triggered(lookout, g, now) | told;

	for (unsigned i = 0; fired >> i; i++) {
		struct firing firing;

		if (!(fired >> i & 1) || !may_fire(lookout, i))
			continue;
		firing = firing_of(lookout, i, g, now);
		firing.place = place;
		firing.over = told >> i & 1;
		if (place != NO_PLACE) {
			lookout->options.fire(lookout->options.ctx, &firing);
		} else {
			lookout->debts[lookout->ndebts++] = (struct debt){.firing = firing};
			lookout->gs[g].owes = true;
		}
	}
}

/* It runs now, behind ops[place]. */
static void pay(struct lookout *lookout, uint32_t g, long place)
{
	for (size_t i = 0; i < lookout->ndebts && lookout->gs[g].owes; i++) {
		struct debt *debt = &lookout->debts[i];

		if (debt->firing.g != g || debt->paid)
			continue;
		debt->paid = true;
		debt->firing.place = place;
		lookout->options.fire(lookout->options.ctx, &debt->firing);
	}
	lookout->gs[g].owes = false;
}

/* What is found out at the end of a gap is dated back to its beginning. */
static uint64_t beginning(const struct lookout *lookout, uint64_t time)
{
	return time > lookout->seen_from ? time : lookout->seen_from;
}

static void enter(struct lookout *lookout, uint32_t g, uint8_t status, const struct op *op, long place)
{
	struct stretch *stretch = &lookout->gs[g];
	bool own = g == op->g && (status == G_WAITING || status == G_SYSCALL || status == G_RUNNABLE);

	if (g == NO_G)
		return;
	leave(lookout, g, op->time, status == G_RUNNING ? place : NO_PLACE);
	*stretch = (struct stretch){
		.since = beginning(lookout, op->time),
		.reason = status == G_WAITING && op->kind == OP_GO_BLOCK ? op->string : 0,
		.stack = own ? op->stack : 0,
		.status = status,
		.counts = true,
		.owes = stretch->owes,
	};
	if (status == G_RUNNING)
		pay(lookout, g, place);
}

/* --- calls of functions --- */

/* The triggers that wait for calls with this name: a bit each. */
static uint16_t waiting_for(struct lookout *lookout, uint32_t region)
{
	const struct lookout_options *options = &lookout->options;
	uint16_t which = 0;

	for (unsigned i = 0; i < options->ntriggers; i++) {
		if (options->triggers[i].kind != TRIGGER_FUNCTION)
			continue;
		if (!lookout->region_ids[i] &&
		    strcmp(options->string(options->ctx, region), options->regions[i]) == 0)
			lookout->region_ids[i] = region;
		if (lookout->region_ids[i] == region)
			which |= (uint16_t)(1u << i);
	}
	return which;
}

static void begin_call(struct lookout *lookout, const struct op *op)
{
	struct calls *calls;

	if (!lookout->functions || op->g == NO_G || !waiting_for(lookout, op->string))
		return;
	calls = &lookout->calls[op->g];
	/* Without memory it does not fire. */
	if (list_grow((void **)&calls->open, calls->n, &calls->capacity, sizeof(*calls->open)))
		calls->open[calls->n++] = (struct call){
			.since = beginning(lookout, op->time), .region = op->string, .stack = op->stack};
}

/* The call is over, or `still` going on, with the goroutine running behind ops[place]. */
static void fire_call(struct lookout *lookout, uint32_t g, struct call *call, uint64_t now, long place,
		      bool still)
{
	const struct lookout_options *options = &lookout->options;
	uint16_t which = waiting_for(lookout, call->region);

	for (unsigned i = 0; which >> i; i++) {
		bool told = call->still >> i & 1;
		struct firing firing = {.trigger = &options->triggers[i],
					.g = g,
					.still = still,
					.over = told,
					.place = place,
					.value = now - call->since,
					.time = now,
					.reason = call->region,
					.stack = call->stack};

		if (!(which >> i & 1) || now <= call->since || firing.value <= options->triggers[i].limit ||
		    (told && still) || !may_fire(lookout, i))
			continue;
		if (still)
			call->still |= (uint16_t)(1u << i);
		options->fire(options->ctx, &firing);
	}
}

/* Regions nest. */
static void end_call(struct lookout *lookout, const struct op *op, long place)
{
	struct calls *calls = lookout->functions && op->g != NO_G ? &lookout->calls[op->g] : NULL;

	if (!calls || !calls->n || calls->open[calls->n - 1].region != op->string)
		return;
	fire_call(lookout, op->g, &calls->open[--calls->n], op->time, place, false);
}

/* It ends with all that it is in. */
static void end_calls(struct lookout *lookout, uint32_t g, uint64_t now)
{
	struct calls *calls = lookout->functions ? &lookout->calls[g] : NULL;

	while (calls && calls->n)
		fire_call(lookout, g, &calls->open[--calls->n], now, NO_PLACE, false);
}

static void look_at_calls(struct lookout *lookout, uint64_t now)
{
	for (uint32_t g = 1; lookout->functions && g < lookout->ngs; g++) {
		struct calls *calls = &lookout->calls[g];

		for (unsigned i = 0; i < calls->n; i++)
			fire_call(lookout, g, &calls->open[i], now, NO_PLACE, true);
	}
}

/* --- how many there are --- */

static void count(struct lookout *lookout, const struct op *op, uint32_t creator, long place)
{
	const struct lookout_options *options = &lookout->options;

	for (unsigned i = 0; i < options->ntriggers; i++) {
		const struct trigger *trigger = &options->triggers[i];
		uint16_t bit = (uint16_t)(1u << i);

		if (trigger->kind != TRIGGER_GOROUTINES)
			continue;
		/* It must have been clearly below before it fires again. */
		if (lookout->alive < trigger->limit - trigger->limit / 10)
			lookout->above &= (uint16_t)~bit;
		if (lookout->alive <= trigger->limit || lookout->above & bit || !may_fire(lookout, i))
			continue;
		lookout->above |= bit;
		options->fire(options->ctx,
			      &(struct firing){.trigger = trigger,
					       .g = creator,
					       .place = creator ? place : NO_PLACE,
					       .value = lookout->alive,
					       .time = op->time,
					       .stack = op->kind == OP_GO_STATUS ? 0 : op->stack});
	}
}

static void be_born(struct lookout *lookout, const struct op *op, uint32_t g, uint8_t status, long place)
{
	bool seen = op->kind != OP_GO_STATUS;

	if (g == NO_G || (!seen && lookout->gs[g].status))
		return;
	lookout->alive += !lookout->gs[g].status;
	lookout->gs[g] =
		(struct stretch){.since = beginning(lookout, op->time), .status = status, .counts = seen};
	count(lookout, op, seen && op->kind != OP_GO_CREATE_SYSCALL ? op->g : NO_G, place);
}

static void die(struct lookout *lookout, const struct op *op, uint32_t g)
{
	if (g == NO_G || !lookout->gs[g].status)
		return;
	end_calls(lookout, g, op->time);
	lookout->gs[g] = (struct stretch){.status = 0};
	lookout->alive--;
	count(lookout, op, NO_G, NO_PLACE);
}

/* --- the world --- */

static void world_stops(struct lookout *lookout, const struct op *op)
{
	lookout->stw =
		(struct firing){.g = op->g, .time = op->time, .reason = op->string, .stack = op->stack};
}

static void world_goes_on(struct lookout *lookout, const struct op *op, long place)
{
	const struct lookout_options *options = &lookout->options;
	struct firing *stw = &lookout->stw;
	uint64_t pause = op->time - stw->time;

	for (unsigned i = 0; i < options->ntriggers && stw->time; i++) {
		const struct trigger *trigger = &options->triggers[i];
		struct firing firing = *stw;

		if (trigger->kind != TRIGGER_GC_PAUSE || pause <= trigger->limit ||
		    strncmp(options->string(options->ctx, stw->reason), "GC ", 3) != 0 ||
		    !may_fire(lookout, i))
			continue;
		firing.trigger = trigger;
		firing.value = pause;
		firing.time = op->time;
		firing.place = op->g == stw->g ? place : NO_PLACE;
		options->fire(options->ctx, &firing);
	}
	stw->time = 0;
}

/* --- op by op --- */

static void look(struct lookout *lookout, const struct op *op, long place)
{
	switch (op->kind) {
	case OP_GO_STATUS:
		be_born(lookout, op, op->g, op->status, place);
		break;
	case OP_GO_CREATE:
	case OP_GO_CREATE_BLOCKED:
		be_born(lookout, op, op->g2, op->kind == OP_GO_CREATE ? G_RUNNABLE : G_WAITING, place);
		break;
	case OP_GO_CREATE_SYSCALL:
		be_born(lookout, op, op->g, G_SYSCALL, place);
		break;
	case OP_GO_START:
	case OP_SYSCALL_END:
		enter(lookout, op->g, G_RUNNING, op, place);
		break;
	case OP_GO_STOP:
	case OP_SYSCALL_END_BLOCKED:
		enter(lookout, op->g, G_RUNNABLE, op, place);
		break;
	case OP_GO_BLOCK:
		enter(lookout, op->g, G_WAITING, op, place);
		break;
	case OP_GO_UNBLOCK:
		enter(lookout, op->g2, G_RUNNABLE, op, place);
		break;
	case OP_SYSCALL_BEGIN:
		enter(lookout, op->g, G_SYSCALL, op, place);
		break;
	case OP_GO_SWITCH:
		enter(lookout, op->g, G_WAITING, op, place);
		enter(lookout, op->g2, G_RUNNING, op, NO_PLACE);
		break;
	case OP_GO_SWITCH_DESTROY:
		die(lookout, op, op->g);
		enter(lookout, op->g2, G_RUNNING, op, NO_PLACE);
		break;
	case OP_GO_DESTROY:
	case OP_GO_DESTROY_SYSCALL:
		die(lookout, op, op->g);
		break;
	case OP_REGION_BEGIN:
		begin_call(lookout, op);
		break;
	case OP_REGION_END:
		end_call(lookout, op, place);
		break;
	case OP_STW_BEGIN:
		world_stops(lookout, op);
		break;
	case OP_STW_END:
		world_goes_on(lookout, op, place);
		break;
	default:
		break;
	}
}

/* Who did not run again, and who is in it still. */
static void look_at_end(struct lookout *lookout, uint64_t now)
{
	for (size_t i = 0; i < lookout->ndebts; i++) {
		if (!lookout->debts[i].paid)
			lookout->options.fire(lookout->options.ctx, &lookout->debts[i].firing);
		lookout->gs[lookout->debts[i].firing.g].owes = false;
	}
	lookout->ndebts = 0;
	for (uint32_t g = 1; g < lookout->ngs; g++) {
		uint16_t fired = lookout->gs[g].status ? triggered(lookout, g, now) : 0;

		lookout->gs[g].still |= fired;
		for (unsigned i = 0; fired; i++, fired >>= 1) {
			struct firing firing;

			if (!(fired & 1) || !may_fire(lookout, i))
				continue;
			firing = firing_of(lookout, i, g, now);
			firing.still = true;
			lookout->options.fire(lookout->options.ctx, &firing);
		}
	}
}

int lookout_generation(struct lookout *lookout, const struct op *ops, size_t n, uint64_t now)
{
	memset(lookout->firings, 0, sizeof(lookout->firings));
	lookout->now = now;
	for (size_t i = 0; i < n; i++) {
		uint32_t most = ops[i].g > ops[i].g2 ? ops[i].g : ops[i].g2;

		if (fit(lookout, most))
			return -ENOMEM;
		look(lookout, &ops[i], (long)i);
	}
	if (lookout->ngs) {
		look_at_end(lookout, now);
		look_at_calls(lookout, now);
	}
	return 0;
}

void lookout_forget(struct lookout *lookout, uint64_t now)
{
	if (now < lookout->now)
		now = lookout->now;
	lookout->seen_from = now;
	for (uint32_t g = 0; g < lookout->ngs; g++)
		lookout->gs[g].since = now;
	/* A call may have ended unseen, and then lasts as long as its goroutine. */
	for (uint32_t g = 0; lookout->functions && g < lookout->ngs; g++)
		lookout->calls[g].n = 0;
	lookout->stw.time = 0;
}
