/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From raw records to ops: what each site of the runtime means. A handler
 * first makes the state what the record says it was, then takes the step.
 */
#include "observe.h"

#include <string.h>

#include "util/strtab.h"

struct g *running(struct model *md, const struct hit *hit)
{
	struct g *g = g_of_record(md, hit->rec->g, hit->rec->goid, G_RUNNABLE);

	if (!g || !make_running(md, hit->m, g, hit->p))
		return NULL;
	g->last_hit = hit->rec->time;
	return g;
}

bool acting(struct model *md, const struct hit *hit, uint64_t curg)
{
	struct g *g = g_of_record(md, curg, 0, G_RUNNABLE);

	if (!g) {
		make_m_free(md, hit->m);
		return !hit->p || make_m_hold(md, hit->m, hit->p);
	}
	g->last_hit = hit->rec->time;
	return make_running(md, hit->m, g, hit->p);
}

/* The length of a string if its text begins with these bytes, at most eight and no zeros; else SIZE_MAX. */
static size_t length_if(const struct model *md, uint32_t string, uint64_t bytes)
{
	size_t len, n = 0;
	const char *text = strtab_get(md->options.strings, string, &len);

	while (n < sizeof(bytes) && bytes >> 8 * n)
		n++;
	return string && len >= n && memcmp(text, &bytes, n) == 0 ? len : SIZE_MAX;
}

/*
 * Go 1.4 has no number for it: the record has the beginning of the text of
 * g.waitreason. The shortest that begins so is the usual one ("chan receive",
 * not "chan receive (nil chan)").
 */
static uint32_t block_reason(const struct model *md, const struct raw_record *rec)
{
	uint32_t reason = tables_reason(md, REASON_BLOCK, 0);
	size_t shortest = SIZE_MAX;

	if (md->target.go_minor != 4)
		return tables_reason(md, REASON_BLOCK, rec->arg & ~(uint64_t)PARK_FUTILE);
	for (unsigned i = 0; i < MAX_REASONS && rec->arg2; i++) {
		size_t len = length_if(md, tables_reason(md, REASON_WAIT, i), rec->arg2);

		if (len >= shortest)
			continue;
		shortest = len;
		reason = tables_reason(md, REASON_PARK, i);
	}
	return reason;
}

static void on_park(struct model *md, const struct hit *hit)
{
	if (running(md, hit))
		step_go_block(md, hit->m, block_reason(md, hit->rec), hit->stack)->arg =
			hit->rec->arg & PARK_FUTILE ? 1 : 0;
}

static void on_preemptpark(struct model *md, const struct hit *hit)
{
	if (running(md, hit))
		step_go_block(md, hit->m, tables_string(md, "preempted"), hit->stack);
}

static void on_gosched(struct model *md, const struct hit *hit)
{
	bool preempted = hit->rec->site == SITE_GOYIELD || hit->rec->arg;

	if (running(md, hit))
		step_go_stop(md, hit->m, tables_reason(md, REASON_STOP, preempted ? 2 : 1), hit->stack);
}

static void on_unblock(struct model *md, const struct hit *hit)
{
	const struct raw_record *rec = hit->rec;
	bool on_thread = acting(md, hit, rec->arg);
	struct g *g = g_of_record(md, rec->g, rec->goid, G_WAITING);

	if (!g)
		return;
	g->last_hit = rec->time;
	make_waiting(md, g);
	step_go_unblock(md, on_thread ? hit->m : NULL, g, hit->stack);
	g->worker = rec->site == SITE_UNBLOCK ? (uint8_t)rec->arg2 : 0;
}

static void on_execute(struct model *md, const struct hit *hit)
{
	struct g *g = g_of_record(md, hit->rec->g, hit->rec->goid, G_RUNNABLE);

	if (!g)
		return;
	g->last_hit = hit->rec->time;
	if (hit->rec->site == SITE_SPAN)
		settle_leaving(md, g, (enum leaving)hit->rec->arg, hit->rec->arg2, hit->stack);
	make_m_free(md, hit->m);
	if (!make_m_hold(md, hit->m, hit->p))
		return;
	make_runnable(md, g);
	step_go_start(md, hit->m, g);
}

static void on_destroy(struct model *md, const struct hit *hit)
{
	/* gdestroy also runs at the end of a coroutine, after the switch that has ended it already. */
	if (hit->m->ended_by_switch == hit->rec->g) {
		hit->m->ended_by_switch = 0;
		return;
	}
	if (running(md, hit))
		step_go_destroy(md, hit->m);
}

/*
 * Up to Go 1.23 a P takes ids in batches of 16, and the probe does not see the
 * first of a batch: what is created there next tells it.
 */
static void name_last(struct model *md, struct p *p, const struct g *created, uint64_t goid)
{
	const uint64_t batch = 16; /* _GoidCacheBatch, Go 1.4 to 1.26 runtime/proc.go */
	struct g *last = p->nameless ? md->gs.all[p->nameless] : NULL;

	if (last && last->status != G_DEAD && goid % batch == 2)
		g_set_goid(md, last, goid - 1);
	p->nameless = goid ? 0 : created->index;
}

static void on_newproc(struct model *md, const struct hit *hit)
{
	const struct raw_record *rec = hit->rec;
	struct g *old = g_find(md, rec->g);
	struct g *g;
	bool on_thread = acting(md, hit, rec->arg) && hit->m->p;
	struct m *m = hit->m;

	if (old)
		make_dead(md, old);
	g = rec->g ? g_new(md, rec->g, rec->goid) : NULL;
	if (!g)
		return;
	if (hit->p && md->target.go_minor <= 23)
		name_last(md, hit->p, g, rec->goid);
	g->startpc = rec->arg2;
	g->last_hit = rec->time;
	if (!on_thread)
		m = stand_in_begin(md);
	step_go_create(md, m, g, rec->status == 4 /* _Gwaiting: a coroutine */, hit->stack);
	if (!on_thread)
		stand_in_end(md);
}

static void on_coro(struct model *md, const struct hit *hit)
{
	const struct raw_record *rec = hit->rec;
	struct g *self = running(md, hit);
	struct g *next = g_of_record(md, rec->arg, 0, G_WAITING);

	if (!self || !next || next == self)
		return;
	make_waiting(md, next);
	next->last_hit = rec->time;
	if (rec->arg2)
		hit->m->ended_by_switch = rec->g;
	step_go_switch(md, hit->m, next, rec->arg2 != 0);
}

static void begin_syscall(struct model *md, const struct hit *hit)
{
	if (running(md, hit) && hit->m->p)
		step_syscall_begin(md, hit->m, hit->stack);
}

static bool in_syscall(const struct model *md, const struct hit *hit)
{
	const struct g *g = g_find(md, hit->rec->g);

	return g && hit->m->g == g && g->status == G_SYSCALL;
}

/*
 * What exitsyscall itself asks of the kernel on its way (Go 1.5 … 1.21 runtime/proc.go) is no call of the
 * goroutine's: it wakes sysmon (exitsyscallfast_pidle), and while the runtime's own tracer is on it yields
 * until that has told that the P was taken (exitsyscallfast). The numbers are amd64's (asm/unistd_64.h),
 * where alone these releases are traced.
 */
#define NR_SCHED_YIELD 24
#define NR_FUTEX       202

static bool is_part_of_end(const struct model *md, const struct hit *hit)
{
	const struct call_end *end = &hit->m->end;
	uint64_t number = hit->rec->arg2;

	return end->exited && end->explicit_end && md->target.go_minor <= 21 &&
	       (number == NR_SCHED_YIELD || number == NR_FUTEX);
}

static void on_sys_enter(struct model *md, const struct hit *hit)
{
	struct call_end *end = &hit->m->end;

	if (is_part_of_end(md, hit))
		return;
	hit->m->tick = (uint32_t)hit->rec->arg;
	if (!in_syscall(md, hit)) {
		begin_syscall(md, hit);
	} else if (end->exited && (end->explicit_end || end->tick != (uint32_t)hit->rec->arg)) {
		/* exitsyscall counts p.syscalltick on, so another tick is another call. */
		begin_syscall(md, hit);
	} else {
		if (end->unseen_begin)
			md->ops.ops[end->unseen_begin - 1].stack = hit->stack;
		*end = (struct call_end){0}; /* one Go call that enters the kernel more than once */
	}
}

static void on_call_enter(struct model *md, const struct hit *hit)
{
	if (!in_syscall(md, hit) || hit->m->end.exited)
		begin_syscall(md, hit);
}

static void on_syscall_exit(struct model *md, const struct hit *hit)
{
	struct m *m = hit->m;

	if (!in_syscall(md, hit) || is_part_of_end(md, hit))
		return;
	m->end = (struct call_end){
		.exited = true,
		.explicit_end = hit->rec->site == SITE_CALL_EXIT,
		.tick = m->tick,
		.held = m->p && m->p->status == P_SYSCALL,
	};
	if (!m->end.held)
		return;
	m->end.op = hold_place(md, m);
	m->end.time = md->last_time;
}

static void on_exit_no_p(struct model *md, const struct hit *hit)
{
	struct m *m = hit->m;
	struct g *g = g_of_record(md, hit->rec->g, hit->rec->goid, G_RUNNABLE);

	if (!g)
		return;
	g->last_hit = hit->rec->time;
	if (m->g != g || g->status != G_SYSCALL) {
		make_runnable(md, g);
		return;
	}
	md->cause = INFERRED;
	if (m->p && m->p->status == P_SYSCALL)
		step_proc_steal(md, m, m->p); /* the thief's record, if any, is still to come */
	md->cause = SEEN;
	step_syscall_end_blocked(md, m);
}

/* Up to Go 1.20 a thread of C's own has a goroutine for each of its calls: mostly the same one. It is told of
 * as of one that is in C in between, which is how the tracers of those releases have it. */
static bool keeps_callback(const struct model *md)
{
	return md->target.go_minor <= 20;
}

static void on_needm(struct model *md, const struct hit *hit)
{
	const struct raw_record *rec = hit->rec;
	struct g *old = g_find(md, rec->g);
	struct g *g;

	if (keeps_callback(md)) {
		if (in_syscall(md, hit))
			return;
		if (hit->m->g && hit->m->g->status == G_SYSCALL)
			step_go_destroy_syscall(md, hit->m);
		if (old && old->m && old->status == G_SYSCALL) {
			step_go_destroy_syscall(md, old->m);
			old = NULL;
		}
	}
	if (old)
		make_dead(md, old);
	make_m_free(md, hit->m);
	if (hit->m->p)
		step_proc_stop(md, hit->m); /* a thread new to Go has none */
	g = rec->g ? g_new(md, rec->g, rec->goid) : NULL;
	if (!g)
		return;
	g->last_hit = rec->time;
	step_go_create_syscall(md, hit->m, g);
}

static void on_dropm(struct model *md, const struct hit *hit)
{
	struct g *g = g_find(md, hit->rec->g);

	if (!g || (keeps_callback(md) && in_syscall(md, hit)))
		return;
	if (in_syscall(md, hit)) {
		step_go_destroy_syscall(md, hit->m);
		return;
	}
	make_dead(md, g);
}

/* procresize: the P went away, and its goroutine, which has stopped the world, goes on with P 0 (1.22 and
 * later trace GoSched there). */
static void change_p_of(struct model *md, struct m *m, struct p *p)
{
	struct g *g = m->g, *stw = md->stw;

	if (stw == g)
		md->stw = NULL; /* it stays stopped */
	step_go_stop(md, m, tables_reason(md, REASON_STOP, 1), 0);
	if (m->p)
		step_proc_stop(md, m);
	make_p_idle(md, m, p);
	step_proc_start(md, m, p);
	step_go_start(md, m, g);
	if (stw == g)
		md->stw = stw;
}

static void on_acquirep(struct model *md, const struct hit *hit)
{
	struct m *m = hit->m;
	struct p *p = hit->p;
	struct g *g = m->g;

	if (!p || (m->p == p && p->status == P_RUNNING))
		return;
	if (g && g->status == G_SYSCALL) {
		/* The P was lost in the call; exitsyscall has found one again. */
		if (m->p == p)
			drop_held_end(m);
		if (m->p && m->p->status == P_SYSCALL)
			step_proc_steal(md, m, m->p);
		make_running(md, m, g, p);
		return;
	}
	if (g) {
		change_p_of(md, m, p);
		return;
	}
	if (m->p)
		step_proc_stop(md, m);
	make_p_idle(md, m, p);
	step_proc_start(md, m, p);
}

static void on_releasep(struct model *md, const struct hit *hit)
{
	struct m *m = hit->m;

	if (!m->p)
		return;
	if (m->g && (m->g->status == G_RUNNING || (md->spans && m->end.held)))
		make_m_free(md, m);
	step_proc_stop(md, m);
}

/* A P is taken from a thread in a system call. */
static void take_p(struct model *md, const struct hit *hit, struct p *p)
{
	struct m *victim = p->m;

	if (p->status == P_RUNNING && victim && victim != hit->m && victim->g &&
	    victim->g->status == G_RUNNING) {
		/* System calls are not traced, or the beginning of this one was lost. */
		md->cause = INFERRED;
		step_syscall_begin(md, victim, 0);
		md->cause = SEEN;
	}
	if (p->status == P_SYSCALL || p->status == P_ABANDONED)
		step_proc_steal(md, hit->m, p);
	else if (p->status == P_RUNNING && victim && victim != hit->m)
		step_proc_stop(md, victim);
}

static void on_take(struct model *md, const struct hit *hit)
{
	/* handoffp also gets Ps that are idle already: then nothing happens here. */
	if (hit->p)
		take_p(md, hit, hit->p);
}

static void on_gcwait(struct model *md, const struct hit *hit)
{
	struct m *m = hit->m;

	if (!m->g)
		running(md, hit); /* its start was not probed */
	if (!m->g || !m->p)
		return;
	if (m->end.exited || m->g->status == G_RUNNING)
		begin_syscall(md, hit);
	if (!m->p || m->p->status != P_SYSCALL)
		return;
	if (md->target.go_minor >= 26)
		step_proc_stop(md, m); /* entersyscallHandleGCWait of 1.26 traces ProcStop, */
	else
		step_proc_steal(md, m, m->p); /* entersyscall_gcwait before that ProcSteal from itself */
}

static void on_procresize(struct model *md, const struct hit *hit)
{
	md->gomaxprocs = (uint32_t)hit->rec->arg;
	md->procs_told = false;
	if (hit->m->g && hit->m->p && hit->m->g->status == G_RUNNING)
		generation_tell_procs(md, hit->m, hit->stack);
}

static void on_user(struct model *md, const struct hit *hit)
{
	observe_user(md, hit->rec, hit->m, hit->p, hit->stack);
}

static void on_function(struct model *md, const struct hit *hit)
{
	observe_function(md, hit->rec, hit->m, hit->p, hit->stack);
}

/* The runtime sees to memory on behalf of its goroutine, or of none. */
static void on_memory(struct model *md, const struct hit *hit)
{
	const uint8_t status = hit->rec->status;

	/* _Grunning; _Gwaiting and _Gcopystack with a thread are states of one that runs, too. */
	if (hit->rec->g && (status == 2 || status == 4 || status == 8))
		running(md, hit);
	memory_observe(md, hit->rec, hit->m);
}

static const hit_handler handlers[256] = {
	[SITE_PARK] = on_park,
	[SITE_READY] = on_unblock,
	[SITE_UNBLOCK] = on_unblock,
	[SITE_EXECUTE] = on_execute,
	[SITE_SPAN] = on_execute,
	[SITE_GOSCHED] = on_gosched,
	[SITE_GOYIELD] = on_gosched,
	[SITE_PREEMPTPARK] = on_preemptpark,
	[SITE_DESTROY] = on_destroy,
	[SITE_NEWPROC] = on_newproc,
	[SITE_CORO] = on_coro,
	[SITE_SYS_ENTER] = on_sys_enter,
	[SITE_SYS_EXIT] = on_syscall_exit,
	[SITE_SYSCALL_BLOCK] = on_call_enter,
	[SITE_CALL_ENTER] = on_call_enter,
	[SITE_CALL_RETURN] = on_call_enter,
	[SITE_CALL_EXIT] = on_syscall_exit,
	[SITE_EXIT_NO_P] = on_exit_no_p,
	[SITE_NEEDM] = on_needm,
	[SITE_DROPM] = on_dropm,
	[SITE_ACQUIREP] = on_acquirep,
	[SITE_RELEASEP] = on_releasep,
	[SITE_STEALP] = on_take,
	[SITE_HANDOFFP] = on_take,
	[SITE_GCWAIT] = on_gcwait,
	[SITE_PROCRESIZE] = on_procresize,
	[SITE_STW_BEGIN] = on_stw_begin,
	[SITE_STW_END] = on_stw_end,
	[SITE_GC_BEGIN] = on_gc_begin,
	[SITE_GC_END] = on_gc_end,
	[SITE_TASK_BEGIN] = on_user,
	[SITE_TASK_END] = on_user,
	[SITE_REGION_BEGIN] = on_user,
	[SITE_REGION_END] = on_user,
	[SITE_LOG] = on_user,
	[SITE_REGION_START] = on_user,
	[SITE_REGION_STOP] = on_user,
	[SITE_FUNCTION_BEGIN] = on_function,
	[SITE_FUNCTION_END] = on_function,
	[SITE_HEAP_ALLOC] = on_heap_alloc,
	[SITE_HEAP_GOAL] = on_heap_goal,
	[SITE_SWEEP_BEGIN] = on_sweep_begin,
	[SITE_SWEEP_END] = on_sweep_end,
	[SITE_ASSIST_BEGIN] = on_assist_begin,
	[SITE_ASSIST_END] = on_assist_end,
	[SITE_ALLOC_SPAN] = on_memory,
	[SITE_ALLOC_SPAN_FREE] = on_memory,
	[SITE_ALLOC_STACK] = on_memory,
	[SITE_ALLOC_STACK_FREE] = on_memory,
};

bool names_a_p(uint8_t site)
{
	return site >= SITE_ACQUIREP && site <= SITE_GCWAIT;
}

bool moves_own_p(uint8_t site)
{
	return site == SITE_ACQUIREP || site == SITE_RELEASEP || site == SITE_GCWAIT;
}

void observe(struct model *md, const struct raw_record *rec)
{
	struct hit hit = {.rec = rec};
	hit_handler handle = handlers[rec->site];

	if (md->threads) {
		threads_observe(md, rec);
		return;
	}
	if (rec->site == SITE_CPU_SAMPLE)
		sample_take(md, rec);
	if (!handle || !rec->tid || rec->tid >= STAND_IN_TID)
		return;
	hit.m = m_get(md, rec->tid);
	if (!hit.m)
		return;
	hit.p = names_a_p(rec->site) && rec->p ? p_get(md, rec->p, (int32_t)rec->arg2) : p_find(md, rec->p);
	hit.stack = tables_stack(md, rec->stack);
	md->now = rec->time;
	md->cause = SEEN;
	hit.m->last_hit = rec->time;
	if (moves_own_p(rec->site))
		hit.m->last_p_hit = rec->time;
	if (hit.p)
		hit.p->last_hit = rec->time;
	handle(md, &hit);
	if (md->live_due)
		tell_heap_live(md, hit.m);
	md->cause = SEEN;
}
