/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Checks the states of Ps and goroutines in event order, by the rules of Go 1.21 src/internal/trace/parser.go
 * (postProcessTrace). Formats that readers from Go 1.23 on can read must also meet the rules of those
 * readers, which refuse or crash on more. v0 follows the reader of early 2015.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "trace/ops/op.h"
#include "trace/wire/buffer.h"
#include "trace/wire/trace_v1.h"
#include "trace/wire/varint.h"

struct g_rules {
	enum v1_status status;
	bool assist;
	uint32_t region; /* the innermost open region; MAP64_NONE = none */
};

struct p_rules {
	uint64_t g; /* 0 = none */
	bool running, sweep;
	bool stw, gc; /* in formats that track them per P */
};

struct region_v1 {
	uint64_t task, name;
	uint32_t outer; /* the enclosing region, or the next free entry */
};

struct rules {
	struct v1_trace *trace;
	struct fault *fault;
	struct map64 g_index, tasks, threads;
	struct g_rules *gs;
	size_t ngs, g_capacity;
	struct p_rules *ps;   /* by index in the trace's ps */
	struct p_rules world; /* state that is not per P */
	struct region_v1 *regions;
	size_t nregions, region_capacity;
	uint32_t free_region;
};

/* The current event, and the states it refers to. */
struct event_v1 {
	const struct v1_record *record;
	const struct event_v1_spec *spec;
	const struct v1_raw *raw;
	uint32_t g; /* index */
	struct p_rules *p;
	int64_t pid;
};

#define BAD(rules, ev, what, ...)                                                                            \
	fault_set((rules)->fault, (ev)->record->offset, "%s: " what,                                         \
		  event_v1_name((ev)->record->type, (rules)->trace->format), __VA_ARGS__)

static const char *const status_names[] = {"dead", "runnable", "running", "waiting"};

static uint64_t arg(const struct rules *rules, const struct event_v1 *ev, unsigned i)
{
	return v1_arg(rules->trace, ev->raw, i);
}

/* --- goroutines --- */

static int add_g(struct rules *rules, uint64_t id, enum v1_status status, uint32_t *index)
{
	*index = (uint32_t)rules->ngs;
	if (array_grow((void **)&rules->gs, &rules->g_capacity, rules->ngs + 1, sizeof(*rules->gs)) ||
	    map64_set(&rules->g_index, id, *index))
		return -ENOMEM;
	rules->gs[rules->ngs++] = (struct g_rules){.status = status, .region = MAP64_NONE};
	return 0;
}

/* Naming a goroutine makes it exist: readers up to Go 1.22 refuse a later GoCreate for it. */
static int touch_g(struct rules *rules, uint64_t id, uint32_t *index)
{
	*index = map64_find(&rules->g_index, id);
	return *index == MAP64_NONE ? add_g(rules, id, V1_DEAD, index) : 0;
}

static struct g_rules *this_g(const struct rules *rules, const struct event_v1 *ev)
{
	return &rules->gs[ev->g];
}

static int want_status(const struct rules *rules, const struct event_v1 *ev, uint64_t id,
		       const struct g_rules *g, enum v1_status want)
{
	if (g->status == want)
		return 0;
	return BAD(rules, ev, "goroutine %" PRIu64 " is %s, expected %s", id, status_names[g->status],
		   status_names[want]);
}

/* The event's goroutine must run on the event's P. */
static int want_running_here(const struct rules *rules, const struct event_v1 *ev, bool may_be_none)
{
	uint64_t id = ev->record->g;

	if (want_status(rules, ev, id, this_g(rules, ev), V1_RUNNING))
		return -EBADMSG;
	if (ev->p->g != id)
		return BAD(rules, ev, "P %" PRId64 " runs goroutine %" PRIu64 ", expected %" PRIu64, ev->pid,
			   ev->p->g, id);
	if (!may_be_none && id == 0)
		return BAD(rules, ev, "no goroutine runs on P %" PRId64, ev->pid);
	return 0;
}

/* The start stack names the goroutine. Viewers refuse or crash on files without it. */
static int check_start(const struct rules *rules, const struct event_v1 *ev)
{
	if (rules->trace->torn || rules->trace->format < WIRE_GO17 ||
	    v1_has_stack(rules->trace, arg(rules, ev, 1)))
		return 0;
	return BAD(rules, ev,
		   "goroutine %" PRIu64 " has the start stack %" PRIu64 ", which is not in the trace",
		   arg(rules, ev, 0), arg(rules, ev, 1));
}

static int rules_v1_go_create(struct rules *rules, const struct event_v1 *ev)
{
	uint64_t id = arg(rules, ev, 0);
	uint32_t index;

	if (want_running_here(rules, ev, true))
		return -EBADMSG;
	if (map64_find(&rules->g_index, id) != MAP64_NONE)
		return BAD(rules, ev, "goroutine %" PRIu64 " already exists", id);
	if (check_start(rules, ev))
		return -EBADMSG;
	rules->trace->goroutines++;
	return add_g(rules, id, V1_RUNNABLE, &index);
}

static int check_string(const struct rules *rules, const struct event_v1 *ev, uint64_t id)
{
	if (rules->trace->torn || rules->trace->format < WIRE_GO111 || v1_has_string(rules->trace, id))
		return 0;
	return BAD(rules, ev, "string %" PRIu64 " is not in the trace", id);
}

static int rules_v1_go_start(struct rules *rules, const struct event_v1 *ev)
{
	struct g_rules *g = this_g(rules, ev);

	if (want_status(rules, ev, ev->record->g, g, V1_RUNNABLE))
		return -EBADMSG;
	if (ev->p->g != 0)
		return BAD(rules, ev, "P %" PRId64 " still runs goroutine %" PRIu64, ev->pid, ev->p->g);
	if (ev->record->type == V1_GO_START_LABEL && check_string(rules, ev, arg(rules, ev, 2)))
		return -EBADMSG;
	g->status = V1_RUNNING;
	ev->p->g = ev->record->g;
	return 0;
}

static void forget_regions(struct rules *rules, struct g_rules *g)
{
	while (g->region != MAP64_NONE) {
		uint32_t outer = rules->regions[g->region].outer;

		rules->regions[g->region].outer = rules->free_region;
		rules->free_region = g->region;
		g->region = outer;
	}
}

/* In v0, a goroutine in a system call whose P was taken is runnable, not waiting. */
static enum v1_status rules_v1_status(const struct rules *rules, unsigned g_status)
{
	switch (g_status) {
	case G_RUNNABLE:
		return V1_RUNNABLE;
	case G_RUNNING:
		return V1_RUNNING;
	case G_SYSCALL:
		return rules->trace->format == WIRE_V0 ? V1_RUNNABLE : V1_WAITING;
	case G_WAITING:
		return V1_WAITING;
	default:
		return V1_DEAD;
	}
}

/* The goroutine leaves its P. */
static int rules_v1_go_leave(struct rules *rules, const struct event_v1 *ev)
{
	if (want_running_here(rules, ev, false))
		return -EBADMSG;
	this_g(rules, ev)->status = rules_v1_status(rules, event_v1_after(ev->spec));
	ev->p->g = 0;
	if (ev->record->type == V1_GO_END)
		forget_regions(rules, this_g(rules, ev));
	return 0;
}

static int rules_v1_go_unblock(struct rules *rules, const struct event_v1 *ev)
{
	uint64_t id = arg(rules, ev, 0);
	uint32_t target = map64_find(&rules->g_index, id);

	if (want_status(rules, ev, ev->record->g, this_g(rules, ev), V1_RUNNING))
		return -EBADMSG;
	if (ev->p->g != ev->record->g && !v1_is_timer(rules->trace, ev->record->g))
		return BAD(rules, ev, "P %" PRId64 " runs goroutine %" PRIu64 ", expected %" PRIu64, ev->pid,
			   ev->p->g, ev->record->g);
	if (target == MAP64_NONE)
		return BAD(rules, ev, "goroutine %" PRIu64 " is not known, expected waiting", id);
	if (want_status(rules, ev, id, &rules->gs[target], V1_WAITING))
		return -EBADMSG;
	rules->gs[target].status = V1_RUNNABLE;
	return 0;
}

static int go_change(struct rules *rules, const struct event_v1 *ev)
{
	struct g_rules *g = this_g(rules, ev);

	if (want_status(rules, ev, ev->record->g, g, rules_v1_status(rules, event_v1_before(ev->spec))))
		return -EBADMSG;
	g->status = rules_v1_status(rules, event_v1_after(ev->spec));
	return 0;
}

/* --- Ps and the collector --- */

static int rules_v1_proc_start(struct rules *rules, const struct event_v1 *ev)
{
	uint64_t thread = arg(rules, ev, 0);

	if (ev->p->running)
		return BAD(rules, ev, "P %" PRId64 " is already running", ev->pid);
	ev->p->running = true;
	if (rules->trace->format == WIRE_V0 || map64_find(&rules->threads, thread) != MAP64_NONE)
		return 0;
	rules->trace->threads++;
	return map64_set(&rules->threads, thread, 0);
}

static int rules_v1_proc_stop(const struct rules *rules, const struct event_v1 *ev)
{
	if (!ev->p->running)
		return BAD(rules, ev, "P %" PRId64 " is not running", ev->pid);
	if (ev->p->g != 0)
		return BAD(rules, ev, "P %" PRId64 " still runs goroutine %" PRIu64, ev->pid, ev->p->g);
	ev->p->running = false;
	return 0;
}

/* Begin and end of one kind must alternate. */
static int toggle(const struct rules *rules, const struct event_v1 *ev, bool *open, bool begin)
{
	if (*open == begin)
		return BAD(rules, ev, "%s", begin ? "the previous one has not ended" : "it has not begun");
	*open = begin;
	return 0;
}

/* Some state that is per P in early formats is global in later ones. */
static struct p_rules *scope(struct rules *rules, const struct event_v1 *ev, unsigned global_since)
{
	return rules->trace->format < global_since ? ev->p : &rules->world;
}

static int stw_start(struct rules *rules, const struct event_v1 *ev)
{
	unsigned format = rules->trace->format;

	if (format >= WIRE_GO110 && format < WIRE_GO121 && arg(rules, ev, 0) > 1)
		return BAD(rules, ev, "kind %" PRIu64 ", expected 0 or 1 in this format", arg(rules, ev, 0));
	return toggle(rules, ev, &scope(rules, ev, WIRE_GO110)->stw, true);
}

static int assist_start(const struct rules *rules, const struct event_v1 *ev)
{
	return toggle(rules, ev, &this_g(rules, ev)->assist, true);
}

/* --- user annotations --- */

static int task_create(struct rules *rules, const struct event_v1 *ev)
{
	uint64_t id = arg(rules, ev, 0);
	uint32_t open = map64_find(&rules->tasks, id);

	if (open != MAP64_NONE && open)
		return BAD(rules, ev, "task id conflicts: task %" PRIu64 " is already open", id);
	if (check_string(rules, ev, arg(rules, ev, 2)))
		return -EBADMSG;
	return map64_set(&rules->tasks, id, 1);
}

static int rules_v1_task_end(struct rules *rules, const struct event_v1 *ev)
{
	uint64_t id = arg(rules, ev, 0);

	return map64_find(&rules->tasks, id) == MAP64_NONE ? 0 : map64_set(&rules->tasks, id, 0);
}

static int rules_v1_region_begin(struct rules *rules, const struct event_v1 *ev)
{
	struct g_rules *g = this_g(rules, ev);
	uint32_t index = rules->free_region;

	if (index != MAP64_NONE) {
		rules->free_region = rules->regions[index].outer;
	} else {
		index = (uint32_t)rules->nregions;
		if (array_grow((void **)&rules->regions, &rules->region_capacity, rules->nregions + 1,
			       sizeof(*rules->regions)))
			return -ENOMEM;
		rules->nregions++;
	}
	rules->regions[index] = (struct region_v1){arg(rules, ev, 0), arg(rules, ev, 2), g->region};
	g->region = index;
	return 0;
}

static int rules_v1_region_end(struct rules *rules, const struct event_v1 *ev)
{
	struct g_rules *g = this_g(rules, ev);
	struct region_v1 *region;
	uint32_t index = g->region;

	if (index == MAP64_NONE)
		return 0; /* began before the trace */
	region = &rules->regions[index];
	if (region->task != arg(rules, ev, 0) || region->name != arg(rules, ev, 2))
		return BAD(rules, ev,
			   "misuse of region: it ends string %" PRIu64 " of task %" PRIu64
			   ", and the innermost open one is string %" PRIu64 " of task %" PRIu64,
			   arg(rules, ev, 2), arg(rules, ev, 0), region->name, region->task);
	g->region = region->outer;
	region->outer = rules->free_region;
	rules->free_region = index;
	return 0;
}

static int user_region(struct rules *rules, const struct event_v1 *ev)
{
	uint64_t mode = arg(rules, ev, 1);

	if (mode > 1)
		return BAD(rules, ev, "mode %" PRIu64 ", expected 0 or 1", mode);
	if (check_string(rules, ev, arg(rules, ev, 2)))
		return -EBADMSG;
	return mode == 0 ? rules_v1_region_begin(rules, ev) : rules_v1_region_end(rules, ev);
}

/* --- all events --- */

static int check_user(struct rules *rules, const struct event_v1 *ev)
{
	switch (ev->spec->op) {
	case OP_TASK_BEGIN:
		return task_create(rules, ev);
	case OP_TASK_END:
		return rules_v1_task_end(rules, ev);
	case OP_REGION_BEGIN:
		return user_region(rules, ev);
	case OP_LOG:
		return check_string(rules, ev, arg(rules, ev, 1));
	default:
		return 0;
	}
}

static int check_world(struct rules *rules, const struct event_v1 *ev)
{
	switch (ev->spec->op) {
	case OP_PROC_START:
		return rules_v1_proc_start(rules, ev);
	case OP_PROC_STOP:
		return rules_v1_proc_stop(rules, ev);
	case OP_GC_BEGIN:
	case OP_GC_END:
		return toggle(rules, ev, &scope(rules, ev, WIRE_GO15)->gc, ev->spec->op == OP_GC_BEGIN);
	case OP_STW_BEGIN:
		return stw_start(rules, ev);
	case OP_STW_END:
		return toggle(rules, ev, &scope(rules, ev, WIRE_GO110)->stw, false);
	case OP_GC_SWEEP_BEGIN:
	case OP_GC_SWEEP_END:
		return toggle(rules, ev, &ev->p->sweep, ev->spec->op == OP_GC_SWEEP_BEGIN);
	case OP_GC_ASSIST_BEGIN:
		return assist_start(rules, ev);
	case OP_GC_ASSIST_END:
		this_g(rules, ev)->assist = false; /* it may have begun before the trace */
		return 0;
	default:
		return check_user(rules, ev);
	}
}

static int check_event(struct rules *rules, const struct event_v1 *ev)
{
	switch (ev->spec->op) {
	case OP_GO_CREATE:
		return rules_v1_go_create(rules, ev);
	case OP_GO_START:
		return rules_v1_go_start(rules, ev);
	case OP_GO_UNBLOCK:
		return rules_v1_go_unblock(rules, ev);
	case OP_GO_DESTROY:
	case OP_GO_STOP:
	case OP_GO_BLOCK:
	case OP_PROC_STEAL: /* the goroutine loses its P in a system call */
		return rules_v1_go_leave(rules, ev);
	case OP_SYSCALL_BEGIN:
		return want_running_here(rules, ev, false);
	case OP_SYSCALL_END_BLOCKED:
	case OP_GO_STATUS:
		return go_change(rules, ev);
	case OP_NONE:
		if (ev->record->type == V1_FUTILE_WAKEUP && rules->trace->format >= WIRE_GO111)
			return BAD(rules, ev, "%s", "readers from Go 1.23 on refuse it");
		return 0;
	default:
		return check_world(rules, ev);
	}
}

/* Readers of v0 convert ticks in 64 bits, and longer spans wrap. */
static int check_span(const struct rules *rules, const struct event_v1 *ev)
{
	int64_t span = (int64_t)((uint64_t)ev->record->time - (uint64_t)rules->trace->start);

	if (rules->trace->format != WIRE_V0 || (span >= 0 && span <= INT64_MAX / 1000000000))
		return 0;
	return BAD(rules, ev,
		   "%" PRId64 " ticks after the first event: the readers of this format overflow at %" PRId64,
		   span, INT64_MAX / 1000000000);
}

static int check_one(struct rules *rules, struct event_v1 *ev)
{
	const struct v1_trace *trace = rules->trace;

	if (touch_g(rules, ev->record->g, &ev->g))
		return -ENOMEM;
	ev->spec = event_v1_spec(ev->record->type, trace->format);
	ev->p = &rules->ps[ev->record->p];
	ev->pid = trace->ps[ev->record->p].id;
	if (check_span(rules, ev))
		return -EBADMSG;
	return check_event(rules, ev);
}

/* Truncates the order before the first event that breaks a rule. */
static int rules_v1_check_all(struct rules *rules)
{
	struct v1_trace *trace = rules->trace;
	struct v1_record record;
	struct event_v1 ev = {.record = &record};
	uint64_t good = 0;
	int ret = 0;

	v1_rewind(trace);
	while (v1_walk_next(trace, &record, &ev.raw)) {
		ret = check_one(rules, &ev);
		if (ret)
			break;
		good++;
		trace->last = record.time;
		trace->counts[record.type]++;
	}
	trace->norder = good;
	v1_rewind(trace);
	return ret;
}

/* --- tables --- */

static int check_frames(const struct v1_trace *trace, const struct v1_stack_record *stack,
			struct fault *fault)
{
	const uint8_t *p = trace->bytes + stack->offset, *end = trace->bytes + trace->n;
	uint64_t values[V1_MAX_VALUES], n = 0;
	unsigned header = *p++ >> V1_COUNT_SHIFT == V1_COUNT_LONG ? 3 : 2;

	for (unsigned i = 0; i < header; i++)
		p += get_uv(p, end, &n);
	for (; n > 0; n--) {
		for (unsigned i = 0; i < 4; i++)
			p += get_uv(p, end, &values[i]);
		for (unsigned i = 1; i < 3; i++)
			if (!v1_has_string(trace, values[i]))
				return fault_set(fault, stack->offset,
						 "string %" PRIu64 " of a frame of stack %" PRIu64
						 " is not in the trace",
						 values[i], stack->id);
	}
	return 0;
}

/* Readers from Go 1.23 on crash on frames without names. */
static int check_stacks(const struct v1_trace *trace, struct fault *fault)
{
	if (trace->torn || trace->format < WIRE_GO111)
		return 0;
	for (size_t i = 0; i < trace->nstacks; i++)
		if (check_frames(trace, &trace->stacks[i], fault))
			return -EBADMSG;
	return 0;
}

int v1_check(struct v1_trace *trace, struct fault *fault)
{
	struct rules rules = {.trace = trace, .fault = fault, .free_region = MAP64_NONE};
	uint32_t zero;
	int ret = 0;

	rules.ps = calloc(trace->nps + 1, sizeof(*rules.ps));
	if (!rules.ps || add_g(&rules, 0, V1_RUNNING, &zero))
		ret = -ENOMEM;
	if (!ret)
		ret = rules_v1_check_all(&rules);
	if (!ret)
		ret = check_stacks(trace, fault);
	map64_free(&rules.g_index);
	map64_free(&rules.tasks);
	map64_free(&rules.threads);
	free(rules.gs);
	free(rules.ps);
	free(rules.regions);
	return ret;
}
