/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The state machine that every event must agree with: the rules of Go 1.26
 * src/internal/trace/order.go, the strictest of the readers, with its messages.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "wire/buffer.h"
#include "wire/check.h"

/* What runs on the thread of an event. */
struct context {
	uint64_t m, p, g;
};

/* One step: the event, where it happens, and what the thread has afterwards. */
struct step {
	struct order *order;
	const struct chunk *chunk;
	const struct event *ev;
	struct fault *fault;
	struct context cur, new;
};

static const char *const g_names[] = {"Bad", "Runnable", "Running", "Syscall", "Waiting"};
static const char *const p_names[] = {"Bad", "Running", "Idle", "Syscall", "SyscallAbandoned"};

enum { STATUS_COUNT = 5, G_STATUS_RUNNABLE = 1, G_STATUS_RUNNING, G_STATUS_SYSCALL, G_STATUS_WAITING };
enum { P_STATUS_RUNNING = 1, P_STATUS_IDLE, P_STATUS_SYSCALL, P_STATUS_ABANDONED };

#define BROKEN(step, ...) fault_set((step)->fault, (step)->ev->offset, __VA_ARGS__)

static const char *event_name(const struct step *step)
{
	return wire_event_name(step->ev->type);
}

/* --- look-ups; pointers live until the next birth --- */

static struct g_state *find_g(const struct order *order, uint64_t g)
{
	uint32_t index = idmap_get(&order->g_index, g);

	return index != IDMAP_NONE && order->gs[index].exists ? &order->gs[index] : NULL;
}

static struct p_state *find_p(const struct order *order, uint64_t p)
{
	uint32_t index = idmap_get(&order->p_index, p);

	return index != IDMAP_NONE ? &order->ps[index] : NULL;
}

static struct m_state *find_m(const struct order *order, uint64_t m)
{
	uint32_t index = idmap_get(&order->m_index, m);

	return index != IDMAP_NONE ? &order->ms[index] : NULL;
}

static int add_g(struct order *order, uint64_t g, unsigned status, uint64_t gen)
{
	uint32_t index = idmap_get(&order->g_index, g);

	if (index == IDMAP_NONE) {
		index = (uint32_t)order->ngs;
		if (array_grow((void **)&order->gs, &order->g_capacity, order->ngs + 1, sizeof(*order->gs)) ||
		    idmap_set(&order->g_index, g, index))
			return -ENOMEM;
		order->ngs++;
	}
	order->gs[index] = (struct g_state){.exists = true, .status = (uint8_t)status, .seq = {gen, 0}};
	order->lives++;
	return 0;
}

static void remove_g(struct g_state *g)
{
	free(g->ranges.open);
	free(g->regions);
	*g = (struct g_state){0};
}

static int add_p(struct order *order, uint64_t p, unsigned status, uint64_t gen)
{
	if (array_grow((void **)&order->ps, &order->p_capacity, order->nps + 1, sizeof(*order->ps)) ||
	    idmap_set(&order->p_index, p, (uint32_t)order->nps))
		return -ENOMEM;
	order->ps[order->nps++] = (struct p_state){.status = (uint8_t)status, .seq = {gen, 0}};
	return 0;
}

static int add_m(struct order *order, uint64_t m, uint64_t g)
{
	if (array_grow((void **)&order->ms, &order->m_capacity, order->nms + 1, sizeof(*order->ms)) ||
	    idmap_set(&order->m_index, m, (uint32_t)order->nms))
		return -ENOMEM;
	order->ms[order->nms++] = (struct m_state){.g = g, .p = NO_ID};
	return 0;
}

static void give_p(struct order *order, struct m_state *m, uint64_t p)
{
	struct p_state *old = find_p(order, m->p), *now = find_p(order, p);

	if (m->p == p)
		return;
	if (old)
		old->holders--;
	if (now)
		now->holders++;
	m->p = p;
}

static bool succeeds(const struct step *step, uint64_t n, const struct sequence_number *seq)
{
	return step->chunk->number == seq->gen && n == seq->n + 1;
}

static struct sequence_number numbered(const struct step *step, uint64_t n)
{
	return (struct sequence_number){step->chunk->number, n};
}

static bool is_initial(const struct step *step)
{
	return step->chunk->number == step->order->initial_gen;
}

/* --- what an event needs --- */

enum need { NEED_M = 1, NEED_P = 2, NEED_G = 4, NO_P_HERE = 8, NO_G_HERE = 16 };

#define NEED_USER (NEED_M | NEED_P | NEED_G)

static int check_need(const struct step *step, unsigned need)
{
	const struct context *cur = &step->cur;

	if ((need & NEED_M) && cur->m == NO_ID)
		return BROKEN(step, "expected a thread but didn't have one");
	if ((need & NEED_P) && cur->p == NO_ID)
		return BROKEN(step, "expected a proc but didn't have one");
	if ((need & NO_P_HERE) && cur->p != NO_ID)
		return BROKEN(step, "expected no proc but had one");
	if ((need & NEED_G) && cur->g == NO_ID)
		return BROKEN(step, "expected a goroutine but didn't have one");
	if ((need & NO_G_HERE) && cur->g != NO_ID)
		return BROKEN(step, "expected no goroutine but had one");
	return 0;
}

/* The current goroutine, which must have this status. */
static int current_g(const struct step *step, unsigned status, struct g_state **found)
{
	struct g_state *g = find_g(step->order, step->cur.g);

	if (!g)
		return BROKEN(step, "event %s for goroutine (%" PRId64 ") that doesn't exist",
			      event_name(step), (int64_t)step->cur.g);
	if (g->status != status)
		return BROKEN(step, "%s event for goroutine that's not %s", event_name(step),
			      g_names[status]);
	*found = g;
	return 0;
}

static int advance_context(struct step *step, unsigned need)
{
	return check_need(step, need) ? -EBADMSG : ADVANCE;
}

/* --- Ps --- */

static int proc_status(struct step *step)
{
	uint64_t pid = step->ev->args[0];
	uint64_t status = step->ev->args[1];
	struct p_state *p = find_p(step->order, pid);

	/* Go's reader looks at the low byte only, and its users' look at the state panics. */
	if (status >= STATUS_COUNT)
		return BROKEN(step, "invalid status for proc %" PRIu64 ": %" PRIu64, pid, status);
	if (!p && add_p(step->order, pid, (unsigned)status, step->chunk->number))
		return -ENOMEM;
	if (p && status == P_STATUS_ABANDONED && p->status == P_STATUS_SYSCALL) {
		if (!p->holders)
			return BROKEN(step,
				      "failed to find sched context for proc %" PRIu64
				      " that's about to be stolen",
				      pid);
	} else if (p && p->status != status) {
		return BROKEN(step, "inconsistent status for proc %" PRIu64 ": old %s vs. new %s", pid,
			      p_names[p->status], p_names[status]);
	}
	if (p)
		p->seq = numbered(step, 0);
	if (status == P_STATUS_RUNNING || status == P_STATUS_SYSCALL)
		step->new.p = pid;
	return ADVANCE;
}

static int proc_start(struct step *step)
{
	uint64_t pid = step->ev->args[0], n = step->ev->args[1];
	struct p_state *p = find_p(step->order, pid);

	if (!p || p->status != P_STATUS_IDLE || !succeeds(step, n, &p->seq) || step->cur.p != NO_ID)
		return WAIT;
	if (check_need(step, NEED_M | NO_P_HERE))
		return -EBADMSG;
	p->status = P_STATUS_RUNNING;
	p->seq = numbered(step, n);
	step->new.p = pid;
	return ADVANCE;
}

static int proc_stop(struct step *step)
{
	struct p_state *p = find_p(step->order, step->cur.p);

	if (!p)
		return BROKEN(step, "event %s for proc (%" PRId64 ") that doesn't exist", event_name(step),
			      (int64_t)step->cur.p);
	if (p->status != P_STATUS_RUNNING && p->status != P_STATUS_SYSCALL)
		return BROKEN(step, "%s event for proc that's not Running or Syscall", event_name(step));
	if (check_need(step, NEED_M | NEED_P))
		return -EBADMSG;
	p->status = P_STATUS_IDLE;
	step->new.p = NO_ID;
	return ADVANCE;
}

/* Takes the P off the thread that had it in a system call. */
static int rob(struct step *step, uint64_t pid, uint64_t victim)
{
	struct m_state *m = find_m(step->order, victim);

	if (victim == step->cur.m) {
		if (step->cur.p != pid)
			return BROKEN(step,
				      "tried to self-steal proc %" PRIu64 " (thread %" PRId64
				      "), but got proc %" PRId64 " instead",
				      pid, (int64_t)victim, (int64_t)step->cur.p);
		step->new.p = NO_ID;
		return ADVANCE;
	}
	if (!m)
		return BROKEN(step, "stole proc from non-existent thread %" PRId64, (int64_t)victim);
	if (m->p != pid)
		return BROKEN(step,
			      "tried to steal proc %" PRIu64 " from thread %" PRId64 ", but got proc %" PRId64
			      " instead",
			      pid, (int64_t)victim, (int64_t)m->p);
	give_p(step->order, m, NO_ID);
	return ADVANCE;
}

static int proc_steal(struct step *step)
{
	uint64_t pid = step->ev->args[0], n = step->ev->args[1];
	struct p_state *p = find_p(step->order, pid);
	bool abandoned;

	if (!p || (p->status != P_STATUS_SYSCALL && p->status != P_STATUS_ABANDONED) ||
	    !succeeds(step, n, &p->seq))
		return WAIT;
	if (check_need(step, NEED_M))
		return -EBADMSG;
	abandoned = p->status == P_STATUS_ABANDONED;
	p->status = P_STATUS_IDLE;
	p->seq = numbered(step, n);
	return abandoned ? ADVANCE : rob(step, pid, step->ev->args[2]);
}

/* --- goroutines --- */

/* A goroutine in a system call is bound to its thread, which may be another than the event's. */
static int bind_syscall(struct step *step, uint64_t gid, uint64_t mid)
{
	struct m_state *m = find_m(step->order, mid);

	if (mid == NO_ID)
		return BROKEN(step, "found goroutine %" PRIu64 " in syscall without a thread", gid);
	if (mid == step->cur.m) {
		if (!is_initial(step) && step->cur.g != gid)
			return BROKEN(step,
				      "inconsistent thread for syscalling goroutine %" PRIu64
				      ": thread has goroutine %" PRId64,
				      gid, (int64_t)step->cur.g);
		step->new.g = gid;
		return ADVANCE;
	}
	if (!m)
		return add_m(step->order, mid, gid) ? -ENOMEM : ADVANCE;
	if (m->g != gid)
		return BROKEN(step,
			      "inconsistent thread for syscalling goroutine %" PRIu64
			      ": thread has goroutine %" PRId64,
			      gid, (int64_t)m->g);
	return ADVANCE;
}

static int go_status(struct step *step)
{
	uint64_t gid = step->ev->args[0];
	unsigned status = (uint8_t)step->ev->args[2]; /* as Go's reader does, and its users see */
	struct g_state *g = find_g(step->order, gid);

	if (status >= STATUS_COUNT)
		return BROKEN(step, "invalid status for goroutine %" PRIu64 ": %u", gid, status);
	if (g && g->status != status)
		return BROKEN(step, "inconsistent status for goroutine %" PRIu64 ": old %s vs. new %s", gid,
			      g_names[g->status], g_names[status]);
	if (!g && !is_initial(step))
		return BROKEN(
			step,
			"found goroutine status for new goroutine after the first generation: id=%" PRIu64
			" status=%s",
			gid, g_names[status]);
	if (g)
		g->seq = numbered(step, 0);
	else if (add_g(step->order, gid, status, step->chunk->number))
		return -ENOMEM;
	if (status == G_STATUS_RUNNING)
		step->new.g = gid;
	return status == G_STATUS_SYSCALL ? bind_syscall(step, gid, step->ev->args[1]) : ADVANCE;
}

static int go_create(struct step *step)
{
	uint64_t gid = step->ev->args[0];
	const struct g_state *creator;

	if (check_need(step, NEED_M | NEED_P))
		return -EBADMSG;
	creator = find_g(step->order, step->cur.g);
	if (creator && creator->status != G_STATUS_RUNNING)
		return BROKEN(step, "%s event for goroutine that's not Running", event_name(step));
	if (find_g(step->order, gid))
		return BROKEN(step, "tried to create goroutine (%" PRIu64 ") that already exists", gid);
	return add_g(step->order, gid,
		     step->ev->type == EV_GO_CREATE_BLOCKED ? G_STATUS_WAITING : G_STATUS_RUNNABLE,
		     step->chunk->number)
		       ? -ENOMEM
		       : ADVANCE;
}

static int go_create_syscall(struct step *step)
{
	uint64_t gid = step->ev->args[0];

	if (check_need(step, NEED_M | NO_G_HERE))
		return -EBADMSG;
	if (find_g(step->order, gid))
		return BROKEN(step, "tried to create goroutine (%" PRIu64 ") in syscall that already exists",
			      gid);
	if (add_g(step->order, gid, G_STATUS_SYSCALL, step->chunk->number))
		return -ENOMEM;
	step->new.g = gid;
	return ADVANCE;
}

static int go_start(struct step *step)
{
	uint64_t gid = step->ev->args[0], n = step->ev->args[1];
	struct g_state *g = find_g(step->order, gid);

	if (!g || g->status != G_STATUS_RUNNABLE || !succeeds(step, n, &g->seq))
		return WAIT;
	if (check_need(step, NEED_M | NEED_P | NO_G_HERE))
		return -EBADMSG;
	g->status = G_STATUS_RUNNING;
	g->seq = numbered(step, n);
	step->new.g = gid;
	return ADVANCE;
}

/* GoStop, GoBlock, GoDestroy. */
static int go_stop_exec(struct step *step)
{
	struct g_state *g;

	if (check_need(step, NEED_USER) || current_g(step, G_STATUS_RUNNING, &g))
		return -EBADMSG;
	if (step->ev->type == EV_GO_DESTROY)
		remove_g(g);
	else
		g->status = step->ev->type == EV_GO_STOP ? G_STATUS_RUNNABLE : G_STATUS_WAITING;
	step->new.g = NO_ID;
	return ADVANCE;
}

static int go_destroy_syscall(struct step *step)
{
	struct g_state *g;
	struct p_state *p;

	if (check_need(step, NEED_M | NEED_G) || current_g(step, G_STATUS_SYSCALL, &g))
		return -EBADMSG;
	remove_g(g);
	step->new.g = NO_ID;
	if (step->cur.p == NO_ID)
		return ADVANCE;
	p = find_p(step->order, step->cur.p);
	if (!p)
		return BROKEN(step, "found invalid proc %" PRIu64 " during %s", step->cur.p,
			      event_name(step));
	if (p->status != P_STATUS_SYSCALL)
		return BROKEN(step, "proc %" PRIu64 " in unexpected state %s during %s", step->cur.p,
			      p_names[p->status], event_name(step));
	p->status = P_STATUS_ABANDONED;
	step->new.p = NO_ID;
	return ADVANCE;
}

static int go_unblock(struct step *step)
{
	struct g_state *g = find_g(step->order, step->ev->args[0]);

	if (!g || g->status != G_STATUS_WAITING || !succeeds(step, step->ev->args[1], &g->seq))
		return WAIT;
	g->status = G_STATUS_RUNNABLE;
	g->seq = numbered(step, step->ev->args[1]);
	return ADVANCE;
}

static int go_switch(struct step *step)
{
	uint64_t gid = step->ev->args[0], n = step->ev->args[1];
	struct g_state *g, *target;

	if (check_need(step, NEED_USER) || current_g(step, G_STATUS_RUNNING, &g))
		return -EBADMSG;
	target = find_g(step->order, gid);
	if (!target || target->status != G_STATUS_WAITING || !succeeds(step, n, &target->seq))
		return WAIT;
	if (step->ev->type == EV_GO_SWITCH)
		g->status = G_STATUS_WAITING;
	else
		remove_g(g);
	target->status = G_STATUS_RUNNING;
	target->seq = numbered(step, n);
	step->new.g = gid;
	return ADVANCE;
}

/* --- system calls --- */

static int current_p(const struct step *step, struct p_state **found)
{
	*found = find_p(step->order, step->cur.p);
	if (!*found)
		return BROKEN(step, "uninitialized proc %" PRIu64 " found during %s", step->cur.p,
			      event_name(step));
	return 0;
}

static int syscall_begin(struct step *step)
{
	uint64_t n = step->ev->args[0];
	struct g_state *g;
	struct p_state *p;

	if (check_need(step, NEED_USER) || current_g(step, G_STATUS_RUNNING, &g) || current_p(step, &p))
		return -EBADMSG;
	if (!succeeds(step, n, &p->seq))
		return BROKEN(step,
			      "failed to advance %s: can't make sequence: %" PRIu64 " (gen=%" PRIu64
			      ") -> %" PRIu64 " (gen=%" PRIu64 ")",
			      event_name(step), p->seq.n, p->seq.gen, n, step->chunk->number);
	g->status = G_STATUS_SYSCALL;
	p->status = P_STATUS_SYSCALL;
	p->seq = numbered(step, n);
	return ADVANCE;
}

static int syscall_end(struct step *step)
{
	struct g_state *g;
	struct p_state *p;

	if (check_need(step, NEED_USER) || current_g(step, G_STATUS_SYSCALL, &g) || current_p(step, &p))
		return -EBADMSG;
	if (p->status != P_STATUS_SYSCALL)
		return BROKEN(step, "expected proc %" PRIu64 " in state Syscall, but got %s instead",
			      step->cur.p, p_names[p->status]);
	g->status = G_STATUS_RUNNING;
	p->status = P_STATUS_RUNNING;
	return ADVANCE;
}

static int syscall_end_blocked(struct step *step)
{
	struct g_state *g;
	struct p_state *p;

	if (step->cur.p != NO_ID) {
		if (current_p(step, &p))
			return -EBADMSG;
		if (p->status == P_STATUS_SYSCALL)
			return WAIT;
	}
	if (check_need(step, NEED_M | NEED_G) || current_g(step, G_STATUS_SYSCALL, &g))
		return -EBADMSG;
	g->status = G_STATUS_RUNNABLE;
	step->new.g = NO_ID;
	return ADVANCE;
}

/* --- ranges --- */

static struct range *find_range(const struct range_list *list, struct range range)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->open[i].type == range.type && list->open[i].kind == range.kind)
			return &list->open[i];
	return NULL;
}

static int push_range(const struct step *step, struct range_list *list, struct range range)
{
	if (list->n == MAX_RANGES)
		return BROKEN(step, "more than %d ranges are open at once", MAX_RANGES);
	if (array_grow((void **)&list->open, &list->capacity, list->n + 1, sizeof(*list->open)))
		return -ENOMEM;
	list->open[list->n++] = range;
	return ADVANCE;
}

static int begin_range(const struct step *step, struct range_list *list, unsigned type, uint64_t kind)
{
	struct range range = {(uint8_t)type, kind};

	if (find_range(list, range))
		return BROKEN(step, "discovered event already in-flight for when starting event %s",
			      wire_event_name(type));
	return push_range(step, list, range);
}

static int end_range(const struct step *step, struct range_list *list, unsigned type)
{
	for (size_t i = 0; i < list->n; i++) {
		if (list->open[i].type != type)
			continue;
		list->open[i] = list->open[--list->n];
		return ADVANCE;
	}
	return BROKEN(step, "tried to end event %s, but not in-flight", wire_event_name(type));
}

static int active_range(const struct step *step, struct range_list *list, unsigned type)
{
	struct range range = {(uint8_t)type, 0};
	bool open = find_range(list, range);

	if (is_initial(step))
		return open ? BROKEN(step, "found named active range already in first gen: %s",
				     wire_event_name(type))
			    : push_range(step, list, range);
	return open ? ADVANCE : BROKEN(step, "resource is missing active range: %s", wire_event_name(type));
}

static int go_range(struct step *step)
{
	struct g_state *g;

	if (check_need(step, NEED_USER))
		return -EBADMSG;
	g = find_g(step->order, step->cur.g);
	if (!g)
		return BROKEN(
			step,
			"encountered event of type %u without known state for current goroutine %" PRIu64,
			step->ev->type, step->cur.g);
	switch (step->ev->type) {
	case EV_STW_BEGIN:
		return begin_range(step, &g->ranges, EV_STW_BEGIN, step->ev->args[0]);
	case EV_STW_END:
		return end_range(step, &g->ranges, EV_STW_BEGIN);
	case EV_GC_MARK_ASSIST_BEGIN:
		return begin_range(step, &g->ranges, EV_GC_MARK_ASSIST_BEGIN, 0);
	default:
		return end_range(step, &g->ranges, EV_GC_MARK_ASSIST_BEGIN);
	}
}

static int mark_assist_active(struct step *step)
{
	struct g_state *g = find_g(step->order, step->ev->args[0]);

	if (!g)
		return BROKEN(step, "uninitialized goroutine %" PRIu64 " found during %s", step->ev->args[0],
			      event_name(step));
	return active_range(step, &g->ranges, EV_GC_MARK_ASSIST_BEGIN);
}

static int sweep(struct step *step)
{
	struct p_state *p;

	if (check_need(step, NEED_M | NEED_P) || current_p(step, &p))
		return -EBADMSG;
	return step->ev->type == EV_GC_SWEEP_BEGIN ? begin_range(step, &p->ranges, EV_GC_SWEEP_BEGIN, 0)
						   : end_range(step, &p->ranges, EV_GC_SWEEP_BEGIN);
}

static int sweep_active(struct step *step)
{
	struct p_state *p = find_p(step->order, step->ev->args[0]);

	if (!p)
		return BROKEN(step, "encountered GCSweepActive for unknown proc %" PRIu64, step->ev->args[0]);
	return active_range(step, &p->ranges, EV_GC_SWEEP_BEGIN);
}

/* --- GC: one sequence over the whole file --- */

static int set_gc(struct step *step, enum gc_state state)
{
	step->order->gc = state;
	step->order->gc_seq = step->ev->args[0];
	return ADVANCE;
}

static int gc_active(struct step *step)
{
	struct order *order = step->order;

	if (is_initial(step)) {
		if (order->gc != GC_UNDETERMINED)
			return BROKEN(step, "GCActive in the first generation isn't first GC event");
		return set_gc(step, GC_ON);
	}
	if (step->ev->args[0] != order->gc_seq + 1)
		return WAIT;
	if (order->gc != GC_ON)
		return BROKEN(step, "encountered GCActive while GC was not in progress");
	return check_need(step, NEED_USER) ? -EBADMSG : set_gc(step, GC_ON);
}

static int gc_begin(struct step *step)
{
	struct order *order = step->order;

	if (order->gc == GC_UNDETERMINED)
		return set_gc(step, GC_ON);
	if (step->ev->args[0] != order->gc_seq + 1)
		return WAIT;
	if (order->gc == GC_ON)
		return BROKEN(step, "encountered GCBegin while GC was already in progress");
	return check_need(step, NEED_USER) ? -EBADMSG : set_gc(step, GC_ON);
}

static int gc_end(struct step *step)
{
	struct order *order = step->order;

	if (step->ev->args[0] != order->gc_seq + 1)
		return WAIT;
	if (order->gc == GC_OFF)
		return BROKEN(step, "encountered GCEnd when GC was not in progress");
	if (order->gc == GC_UNDETERMINED)
		return BROKEN(step, "encountered GCEnd when GC was in an undetermined state");
	return check_need(step, NEED_USER) ? -EBADMSG : set_gc(step, GC_OFF);
}

/* --- annotations --- */

static int check_name(const struct step *step, uint64_t id)
{
	if (!chunk_has_string(step->chunk, id))
		return BROKEN(step, "invalid string ID %" PRIu64 " for %s event", id, event_name(step));
	return 0;
}

enum { TASK_ENDED, TASK_ACTIVE };

static int task_begin(struct step *step)
{
	uint64_t id = step->ev->args[0];

	if (idmap_get(&step->order->tasks, id) == TASK_ACTIVE)
		return BROKEN(step, "task ID conflict: %" PRIu64, id);
	if (check_name(step, step->ev->args[2]) || check_need(step, NEED_USER))
		return -EBADMSG;
	return idmap_set(&step->order->tasks, id, TASK_ACTIVE) ? -ENOMEM : ADVANCE;
}

static int task_end(struct step *step)
{
	uint64_t id = step->ev->args[0];

	if (check_need(step, NEED_USER))
		return -EBADMSG;
	if (idmap_get(&step->order->tasks, id) == TASK_ACTIVE &&
	    idmap_set(&step->order->tasks, id, TASK_ENDED))
		return -ENOMEM;
	return ADVANCE;
}

static bool is_same_region(const struct region *a, const struct region *b)
{
	return a->task == b->task && a->name.len == b->name.len &&
	       (a->name.len == 0 || memcmp(a->name.bytes, b->name.bytes, a->name.len) == 0);
}

/* Text of a stranger's for a message: nothing that a terminal would act upon. */
static void printable(char *out, size_t size, const struct text *text)
{
	size_t n = text->len < size - 1 ? text->len : size - 1;

	for (size_t i = 0; i < n; i++)
		out[i] = text->bytes[i] >= ' ' && text->bytes[i] < 127 ? (char)text->bytes[i] : '?';
	out[n] = '\0';
}

static int end_region(const struct step *step, struct g_state *g, const struct region *region)
{
	const struct region *top = &g->regions[g->nregions - 1];
	char ending[64], open[64];

	if (is_same_region(top, region)) {
		g->nregions--;
		return ADVANCE;
	}
	printable(ending, sizeof(ending), &region->name);
	printable(open, sizeof(open), &top->name);
	return BROKEN(step,
		      "misuse of region in goroutine %" PRIu64 ": region end {%" PRIu64
		      " %s} when the inner-most active region start event is {%" PRIu64 " %s}",
		      step->cur.g, region->task, ending, top->task, open);
}

static int region(struct step *step)
{
	struct region region = {.task = step->ev->args[0]};
	struct g_state *g;

	if (check_need(step, NEED_USER) || check_name(step, step->ev->args[1]))
		return -EBADMSG;
	region.name = chunk_text(step->chunk, step->ev->args[1]);
	g = find_g(step->order, step->cur.g);
	if (!g)
		return BROKEN(step, "encountered %s without known state for current goroutine %" PRIu64,
			      event_name(step), step->cur.g);
	if (step->ev->type == EV_USER_REGION_END)
		return g->nregions ? end_region(step, g, &region) : ADVANCE;
	if (array_grow((void **)&g->regions, &g->region_capacity, g->nregions + 1, sizeof(*g->regions)))
		return -ENOMEM;
	g->regions[g->nregions++] = region;
	return ADVANCE;
}

/* --- all together --- */

static int advance_goroutine(struct step *step)
{
	switch (step->ev->type) {
	case EV_GO_CREATE:
	case EV_GO_CREATE_BLOCKED:
		return go_create(step);
	case EV_GO_CREATE_SYSCALL:
		return go_create_syscall(step);
	case EV_GO_START:
		return go_start(step);
	case EV_GO_DESTROY:
	case EV_GO_STOP:
	case EV_GO_BLOCK:
		return go_stop_exec(step);
	case EV_GO_DESTROY_SYSCALL:
		return go_destroy_syscall(step);
	case EV_GO_UNBLOCK:
		return go_unblock(step);
	case EV_GO_SYSCALL_BEGIN:
		return syscall_begin(step);
	case EV_GO_SYSCALL_END:
		return syscall_end(step);
	case EV_GO_SYSCALL_END_BLOCKED:
		return syscall_end_blocked(step);
	case EV_GO_SWITCH:
	case EV_GO_SWITCH_DESTROY:
		return go_switch(step);
	default:
		return go_status(step);
	}
}

static int advance_world(struct step *step)
{
	switch (step->ev->type) {
	case EV_STW_BEGIN:
	case EV_STW_END:
	case EV_GC_MARK_ASSIST_BEGIN:
	case EV_GC_MARK_ASSIST_END:
		return go_range(step);
	case EV_GC_MARK_ASSIST_ACTIVE:
		return mark_assist_active(step);
	case EV_GC_ACTIVE:
		return gc_active(step);
	case EV_GC_BEGIN:
		return gc_begin(step);
	case EV_GC_END:
		return gc_end(step);
	case EV_GC_SWEEP_ACTIVE:
		return sweep_active(step);
	case EV_GC_SWEEP_BEGIN:
	case EV_GC_SWEEP_END:
		return sweep(step);
	case EV_HEAP_ALLOC:
	case EV_HEAP_GOAL:
		return advance_context(step, NEED_M | NEED_P);
	case EV_USER_TASK_BEGIN:
		return task_begin(step);
	case EV_USER_TASK_END:
		return task_end(step);
	case EV_USER_REGION_BEGIN:
	case EV_USER_REGION_END:
		return region(step);
	default: /* GoLabel, UserLog */
		return advance_context(step, NEED_USER);
	}
}

static int advance(struct step *step)
{
	switch (step->ev->type) {
	case EV_PROCS_CHANGE:
		return advance_context(step, NEED_USER);
	case EV_PROC_START:
		return proc_start(step);
	case EV_PROC_STOP:
		return proc_stop(step);
	case EV_PROC_STEAL:
		return proc_steal(step);
	case EV_PROC_STATUS:
		return proc_status(step);
	case EV_GO_CREATE ... EV_GO_STATUS:
	case EV_GO_SWITCH ... EV_GO_STATUS_STACK:
		return advance_goroutine(step);
	case EV_STW_BEGIN ... EV_USER_LOG:
		return advance_world(step);
	case EV_SPAN ... EV_STACK_FREE:
		return advance_context(step, NEED_M);
	default:
		return BROKEN(step, "bad event type found while ordering: %u", step->ev->type);
	}
}

int order_advance(struct order *order, const struct chunk *chunk, uint64_t m, const struct event *ev,
		  struct fault *fault)
{
	struct step step = {.order = order, .chunk = chunk, .ev = ev, .fault = fault};
	struct m_state *ms;
	int ret;

	if (order->initial_gen == 0)
		order->initial_gen = chunk->number;
	step.cur = (struct context){m, NO_ID, NO_ID};
	if (m != NO_ID) {
		/* A thread is known from the first try of its first event on. */
		if (!find_m(order, m) && add_m(order, m, NO_ID))
			return -ENOMEM;
		ms = find_m(order, m);
		step.cur.p = ms->p;
		step.cur.g = ms->g;
	}
	step.new = step.cur;
	ret = advance(&step);
	if (ret != ADVANCE || m == NO_ID)
		return ret;
	ms = find_m(order, m);
	give_p(order, ms, step.new.p);
	ms->g = step.new.g;
	return ADVANCE;
}

void order_holds(const struct order *order, uint64_t m, uint64_t *p, uint64_t *g)
{
	const struct m_state *ms = m == NO_ID ? NULL : find_m(order, m);

	*p = ms ? ms->p : NO_ID;
	*g = ms ? ms->g : NO_ID;
}

void order_free(struct order *order)
{
	for (size_t i = 0; i < order->ngs; i++)
		remove_g(&order->gs[i]);
	for (size_t i = 0; i < order->nps; i++)
		free(order->ps[i].ranges.open);
	free(order->gs);
	free(order->ps);
	free(order->ms);
	idmap_free(&order->g_index);
	idmap_free(&order->p_index);
	idmap_free(&order->m_index);
	idmap_free(&order->tasks);
	*order = (struct order){0};
}
