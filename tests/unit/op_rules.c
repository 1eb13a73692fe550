/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Goroutines are kept by index and Ps by id in growing arrays, threads in an array with a map as index. Each
 * op is compared with that state, and then applied to it.
 */
#include "op_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/map64.h"

enum { MAX_STW = 4, MAX_REGIONS = 64, MAX_P = 1 << 16 };

struct region {
	uint64_t task;
	uint32_t name;
};

struct rule_g {
	bool alive;
	uint8_t status;
	uint32_t m;        /* holder when running or in a system call */
	uint32_t seen_gen; /* last generation in which it got a status or was created */
	uint64_t goid;
	uint32_t stw[MAX_STW];
	unsigned nstw;
	bool assist;
	struct region regions[MAX_REGIONS];
	unsigned nregions;
};

struct rule_p {
	bool known;
	uint8_t status;
	uint32_t m;
	uint32_t seen_gen;
	bool sweep;
};

struct rule_m {
	uint32_t tid;
	uint32_t g;
	int32_t p;
};

struct op_rules {
	struct rule_g *gs;
	size_t ngs;
	struct rule_p *ps;
	size_t nps;
	struct rule_m *ms;
	size_t nms;
	struct map64 m_by_tid, g_by_goid, tasks;
	uint32_t first_gen, gen;
	uint64_t start, end, last_time;
	uint64_t other_time; /* time of the last op that was not of the last op's thread */
	uint32_t last_m;
	bool in_statuses;
	enum gc_phase gc;
	struct map64 memory[2]; /* spans, stacks: address -> in use */
};

#define BROKEN(...)                                                                                          \
	do {                                                                                                 \
		return error_set(err, EBADMSG, __VA_ARGS__);                                                 \
	} while (0)

struct op_rules *op_rules_new(void)
{
	return calloc(1, sizeof(struct op_rules));
}

void op_rules_free(struct op_rules *rules)
{
	if (!rules)
		return;
	free(rules->gs);
	free(rules->ps);
	free(rules->ms);
	map64_free(&rules->m_by_tid);
	map64_free(&rules->g_by_goid);
	map64_free(&rules->tasks);
	map64_free(&rules->memory[0]);
	map64_free(&rules->memory[1]);
	free(rules);
}

/* Running out of memory ends the test. */
static void *grow(void *array, size_t *n, size_t want, size_t size)
{
	void *bigger;

	if (want <= *n)
		return array;
	bigger = realloc(array, want * size);
	if (!bigger)
		abort();
	memset((char *)bigger + *n * size, 0, (want - *n) * size);
	*n = want;
	return bigger;
}

static struct rule_g *get_g(struct op_rules *rules, uint32_t g)
{
	rules->gs = grow(rules->gs, &rules->ngs, (size_t)g + 1, sizeof(*rules->gs));
	return &rules->gs[g];
}

static struct rule_p *get_p(struct op_rules *rules, int32_t p)
{
	rules->ps = grow(rules->ps, &rules->nps, (size_t)p + 1, sizeof(*rules->ps));
	return &rules->ps[p];
}

/* Returns the thread, and adds it if it is new. */
static struct rule_m *get_m(struct op_rules *rules, uint32_t tid)
{
	uint32_t *index = map64_get(&rules->m_by_tid, tid);

	if (index)
		return &rules->ms[*index];
	if (map64_set(&rules->m_by_tid, tid, (uint32_t)rules->nms))
		abort();
	rules->ms = grow(rules->ms, &rules->nms, rules->nms + 1, sizeof(*rules->ms));
	rules->ms[rules->nms - 1] = (struct rule_m){.tid = tid, .g = NO_G, .p = NO_P};
	return &rules->ms[rules->nms - 1];
}

static int check_g_index(uint32_t g, const struct tables *tables, struct error *err)
{
	if (g == NO_G || g >= tables->ngoroutines)
		BROKEN("goroutine index %u is not in the table of %u", g, tables->ngoroutines);
	if (tables->goids[g] == 0)
		BROKEN("goroutine index %u has no id", g);
	return 0;
}

/* --- what an op requires --- */

enum need {
	NEED_M = 1,
	NEED_P = 2,
	NEED_G = 4,       /* and op.g is that goroutine */
	NEED_RUNNING = 8, /* that goroutine runs */
	NEED_NO_G = 16,
	NEED_NO_P = 32,
	NEED_SYSCALL = 64, /* that goroutine is in a system call */
	NEED_USER = NEED_M | NEED_P | NEED_G | NEED_RUNNING,
};

static int check_m(const struct rule_m *m, const struct op *op, unsigned need, struct error *err)
{
	if ((need & NEED_P) && m->p == NO_P)
		BROKEN("thread %u has no P", m->tid);
	if ((need & NEED_P) && op->p != m->p)
		BROKEN("the op says P %d, thread %u has P %d", op->p, m->tid, m->p);
	if ((need & NEED_NO_P) && m->p != NO_P)
		BROKEN("thread %u already has P %d", m->tid, m->p);
	if ((need & NEED_G) && m->g == NO_G)
		BROKEN("thread %u has no goroutine", m->tid);
	if ((need & NEED_G) && op->g != m->g)
		BROKEN("the op says goroutine index %u, thread %u has %u", op->g, m->tid, m->g);
	if ((need & NEED_NO_G) && m->g != NO_G)
		BROKEN("thread %u already has goroutine index %u", m->tid, m->g);
	return 0;
}

static int check_need(struct op_rules *rules, const struct op *op, unsigned need, struct error *err)
{
	int ret;

	if (!(need & NEED_M))
		return 0;
	if (op->m == NO_M)
		BROKEN("no thread");
	ret = check_m(get_m(rules, op->m), op, need, err);
	if (ret)
		return ret;
	if ((need & NEED_RUNNING) && rules->gs[op->g].status != G_RUNNING)
		BROKEN("goroutine index %u is not running but %u", op->g, rules->gs[op->g].status);
	if ((need & NEED_RUNNING) && rules->ps[op->p].status != P_RUNNING)
		BROKEN("P %d is not running but %u", op->p, rules->ps[op->p].status);
	if ((need & NEED_SYSCALL) && rules->gs[op->g].status != G_SYSCALL)
		BROKEN("goroutine index %u is not in a system call but %u", op->g, rules->gs[op->g].status);
	return 0;
}

static const unsigned needs[OP_KIND_COUNT] = {
	[OP_PROCS_CHANGE] = NEED_USER,
	[OP_PROC_START] = NEED_M | NEED_NO_P,
	[OP_PROC_STOP] = NEED_M | NEED_P,
	[OP_PROC_STEAL] = NEED_M,
	[OP_GO_CREATE] = NEED_M | NEED_P,
	[OP_GO_CREATE_BLOCKED] = NEED_M | NEED_P,
	[OP_GO_CREATE_SYSCALL] = NEED_M | NEED_NO_G,
	[OP_GO_START] = NEED_M | NEED_P | NEED_NO_G,
	[OP_GO_DESTROY] = NEED_USER,
	[OP_GO_DESTROY_SYSCALL] = NEED_M | NEED_G | NEED_SYSCALL,
	[OP_GO_STOP] = NEED_USER,
	[OP_GO_BLOCK] = NEED_USER,
	[OP_GO_SWITCH] = NEED_USER,
	[OP_GO_SWITCH_DESTROY] = NEED_USER,
	[OP_SYSCALL_BEGIN] = NEED_USER,
	[OP_SYSCALL_END] = NEED_M | NEED_P | NEED_G | NEED_SYSCALL,
	[OP_SYSCALL_END_BLOCKED] = NEED_M | NEED_G | NEED_SYSCALL,
	[OP_STW_BEGIN] = NEED_USER,
	[OP_STW_END] = NEED_USER,
	[OP_GC_BEGIN] = NEED_USER,
	[OP_GC_END] = NEED_USER,
	[OP_GC_SWEEP_BEGIN] = NEED_M | NEED_P,
	[OP_GC_SWEEP_END] = NEED_M | NEED_P,
	[OP_GC_ASSIST_BEGIN] = NEED_USER,
	[OP_GC_ASSIST_END] = NEED_USER,
	[OP_HEAP_ALLOC] = NEED_M | NEED_P,
	[OP_HEAP_GOAL] = NEED_M | NEED_P,
	[OP_GO_LABEL] = NEED_USER,
	[OP_TASK_BEGIN] = NEED_USER,
	[OP_TASK_END] = NEED_USER,
	[OP_REGION_BEGIN] = NEED_USER,
	[OP_REGION_END] = NEED_USER,
	[OP_LOG] = NEED_USER,
	[OP_MSPAN] = NEED_M,
	[OP_MSPAN_ALLOC] = NEED_M,
	[OP_MSPAN_FREE] = NEED_M,
	[OP_GO_STACK] = NEED_M,
	[OP_GO_STACK_ALLOC] = NEED_M,
	[OP_GO_STACK_FREE] = NEED_M,
};

/* --- statuses --- */

static int bind_p(struct op_rules *rules, const struct op *op, struct error *err)
{
	struct rule_m *m;

	if (op->status != P_RUNNING && op->status != P_SYSCALL) {
		if (op->m != NO_M)
			BROKEN("P %d with status %u must not be held", op->p, op->status);
		return 0;
	}
	if (op->m == NO_M)
		BROKEN("P %d with status %u must be held", op->p, op->status);
	m = get_m(rules, op->m);
	if (m->p != NO_P && m->p != op->p)
		BROKEN("thread %u is given P %d but has P %d", op->m, op->p, m->p);
	m->p = op->p;
	return 0;
}

static int proc_status(struct op_rules *rules, const struct op *op, struct error *err)
{
	struct rule_p *p;

	if (op->status < P_RUNNING || op->status > P_ABANDONED)
		BROKEN("P status %u", op->status);
	p = get_p(rules, op->p);
	if (!rules->in_statuses && p->known)
		BROKEN("P %d is given a status in the middle of a generation", op->p);
	if (p->known && p->seen_gen == rules->gen)
		BROKEN("P %d is given a status twice", op->p);
	if (p->known && (p->status != op->status || p->m != op->m))
		BROKEN("P %d was %u on thread %u, now said %u on %u", op->p, p->status, p->m, op->status,
		       op->m);
	p->known = true;
	p->status = op->status;
	p->m = op->m;
	p->seen_gen = rules->gen;
	return bind_p(rules, op, err);
}

/* Creates a goroutine. Its id must not be in use. */
static int create_goroutine(struct op_rules *rules, uint32_t index, uint8_t status,
			    const struct tables *tables, struct error *err)
{
	struct rule_g *g = get_g(rules, index);

	if (g->alive)
		BROKEN("goroutine index %u already lives", index);
	if (map64_get(&rules->g_by_goid, tables->goids[index]))
		BROKEN("a goroutine %llu already lives", (unsigned long long)tables->goids[index]);
	if (map64_set(&rules->g_by_goid, tables->goids[index], index))
		abort();
	memset(g, 0, sizeof(*g));
	*g = (struct rule_g){
		.alive = true, .status = status, .seen_gen = rules->gen, .goid = tables->goids[index]};
	return 0;
}

static void kill_g(struct op_rules *rules, uint32_t index)
{
	struct rule_g *g = get_g(rules, index);

	map64_del(&rules->g_by_goid, g->goid);
	memset(g, 0, sizeof(*g));
}

static int bind_g(struct op_rules *rules, const struct op *op, struct error *err)
{
	struct rule_m *m;

	if (op->status != G_RUNNING && op->status != G_SYSCALL) {
		if (op->m != NO_M)
			BROKEN("goroutine index %u with status %u must not be held", op->g, op->status);
		return 0;
	}
	if (op->m == NO_M)
		BROKEN("goroutine index %u with status %u must be held", op->g, op->status);
	m = get_m(rules, op->m);
	if (m->g != NO_G && m->g != op->g)
		BROKEN("thread %u is given goroutine index %u but has %u", op->m, op->g, m->g);
	m->g = op->g;
	rules->gs[op->g].m = op->m;
	return 0;
}

static int go_status(struct op_rules *rules, const struct op *op, const struct tables *tables,
		     struct error *err)
{
	struct rule_g *g = get_g(rules, op->g);
	int ret;

	if (op->status < G_RUNNABLE || op->status > G_WAITING)
		BROKEN("goroutine status %u", op->status);
	if (!rules->in_statuses)
		BROKEN("a goroutine is given a status in the middle of a generation");
	if (!g->alive && rules->gen != rules->first_gen)
		BROKEN("goroutine index %u is first seen by status after the first generation", op->g);
	if (g->alive && g->seen_gen == rules->gen)
		BROKEN("goroutine index %u is given a status twice", op->g);
	if (!g->alive) {
		ret = create_goroutine(rules, op->g, op->status, tables, err);
		return ret ? ret : bind_g(rules, op, err);
	}
	if (g->goid != tables->goids[op->g])
		BROKEN("goroutine index %u changed its id while it lived", op->g);
	if (g->status != op->status || g->m != op->m)
		BROKEN("goroutine index %u was %u on thread %u, now said %u on %u", op->g, g->status, g->m,
		       op->status, op->m);
	g->seen_gen = rules->gen;
	return bind_g(rules, op, err);
}

/* --- Ps --- */

static int known_p(struct op_rules *rules, int32_t p, struct error *err)
{
	if (p < 0 || p >= MAX_P)
		BROKEN("P %d", p);
	if (!get_p(rules, p)->known || rules->ps[p].seen_gen != rules->gen)
		BROKEN("P %d is used before it was given a status in this generation", p);
	return 0;
}

static void set_p(struct op_rules *rules, int32_t p, uint8_t status, uint32_t m)
{
	rules->ps[p].status = status;
	rules->ps[p].m = m;
	if (m != NO_M)
		get_m(rules, m)->p = p;
}

static int proc_start(struct op_rules *rules, const struct op *op, struct error *err)
{
	int ret = known_p(rules, op->p, err);

	if (ret)
		return ret;
	if (rules->ps[op->p].status != P_IDLE)
		BROKEN("P %d is started but was %u, not idle", op->p, rules->ps[op->p].status);
	set_p(rules, op->p, P_RUNNING, op->m);
	return 0;
}

static int proc_stop(struct op_rules *rules, const struct op *op)
{
	get_m(rules, op->m)->p = NO_P;
	set_p(rules, op->p, P_IDLE, NO_M);
	return 0;
}

static int proc_steal(struct op_rules *rules, const struct op *op, struct error *err)
{
	int ret = known_p(rules, op->p, err);
	struct rule_p *p;

	if (ret)
		return ret;
	p = &rules->ps[op->p];
	if (p->status != P_SYSCALL && p->status != P_ABANDONED)
		BROKEN("P %d is stolen but was %u, not in a system call", op->p, p->status);
	if (p->status == P_SYSCALL) {
		if (p->m != op->m2)
			BROKEN("P %d is stolen from thread %u but thread %u has it", op->p, op->m2, p->m);
		get_m(rules, op->m2)->p = NO_P;
	}
	set_p(rules, op->p, P_IDLE, NO_M);
	return 0;
}

/* --- goroutines --- */

/* Checks a goroutine that the op names by index: it must be in `status`. */
static int named_g(struct op_rules *rules, uint32_t index, uint8_t status, const struct tables *tables,
		   struct error *err)
{
	int ret = check_g_index(index, tables, err);
	const struct rule_g *g;

	if (ret)
		return ret;
	g = get_g(rules, index);
	if (!g->alive)
		BROKEN("goroutine index %u does not live", index);
	if (g->seen_gen != rules->gen)
		BROKEN("goroutine index %u is used before it was given a status in this generation", index);
	if (g->goid != tables->goids[index])
		BROKEN("goroutine index %u changed its id while it lived", index);
	if (g->status != status)
		BROKEN("goroutine index %u is %u, must be %u", index, g->status, status);
	return 0;
}

static void set_g(struct op_rules *rules, uint32_t index, uint8_t status, uint32_t m)
{
	struct rule_g *g = get_g(rules, index);

	if (m == NO_M && g->m != NO_M)
		get_m(rules, g->m)->g = NO_G;
	g->status = status;
	g->m = m;
	if (m != NO_M)
		get_m(rules, m)->g = index;
}

static int go_create(struct op_rules *rules, const struct op *op, const struct tables *tables,
		     struct error *err)
{
	uint32_t creator = get_m(rules, op->m)->g;
	int ret = check_g_index(op->g2, tables, err);

	if (ret)
		return ret;
	if (op->g != creator)
		BROKEN("the op says creator %u, thread %u has %u", op->g, op->m, creator);
	if (creator != NO_G && rules->gs[creator].status != G_RUNNING)
		BROKEN("the creator, goroutine index %u, is not running", creator);
	return create_goroutine(rules, op->g2, op->kind == OP_GO_CREATE ? G_RUNNABLE : G_WAITING, tables,
				err);
}

static int go_create_syscall(struct op_rules *rules, const struct op *op, const struct tables *tables,
			     struct error *err)
{
	int ret = check_g_index(op->g, tables, err);

	if (!ret)
		ret = create_goroutine(rules, op->g, G_SYSCALL, tables, err);
	if (!ret)
		set_g(rules, op->g, G_SYSCALL, op->m);
	return ret;
}

static int go_start(struct op_rules *rules, const struct op *op, const struct tables *tables,
		    struct error *err)
{
	int ret = named_g(rules, op->g, G_RUNNABLE, tables, err);

	if (ret)
		return ret;
	if (rules->ps[op->p].status != P_RUNNING)
		BROKEN("P %d is not running", op->p);
	set_g(rules, op->g, G_RUNNING, op->m);
	return 0;
}

static void end_g(struct op_rules *rules, uint32_t index)
{
	set_g(rules, index, G_WAITING, NO_M);
	kill_g(rules, index);
}

static int go_destroy_syscall(struct op_rules *rules, const struct op *op, struct error *err)
{
	struct rule_m *m = get_m(rules, op->m);

	if (m->p != NO_P) {
		if (rules->ps[m->p].status != P_SYSCALL)
			BROKEN("P %d of the ending goroutine is not in a system call", m->p);
		set_p(rules, m->p, P_ABANDONED, NO_M);
		m->p = NO_P;
	}
	end_g(rules, op->g);
	return 0;
}

static int go_switch(struct op_rules *rules, const struct op *op, const struct tables *tables,
		     struct error *err)
{
	int ret = named_g(rules, op->g2, G_WAITING, tables, err);

	if (ret)
		return ret;
	if (op->kind == OP_GO_SWITCH)
		set_g(rules, op->g, G_WAITING, NO_M);
	else
		end_g(rules, op->g);
	set_g(rules, op->g2, G_RUNNING, op->m);
	return 0;
}

static int go_unblock(struct op_rules *rules, const struct op *op, const struct tables *tables,
		      struct error *err)
{
	int ret = named_g(rules, op->g2, G_WAITING, tables, err);

	if (ret)
		return ret;
	if (op->g != NO_G && (op->m == NO_M || get_m(rules, op->m)->g != op->g))
		BROKEN("the waker, goroutine index %u, is not on thread %u", op->g, op->m);
	set_g(rules, op->g2, G_RUNNABLE, NO_M);
	return 0;
}

/* --- system calls --- */

static int syscall_begin(struct op_rules *rules, const struct op *op, struct error *err)
{
	int ret = known_p(rules, op->p, err);

	if (ret)
		return ret;
	rules->gs[op->g].status = G_SYSCALL;
	rules->ps[op->p].status = P_SYSCALL;
	return 0;
}

static int syscall_end(struct op_rules *rules, const struct op *op, struct error *err)
{
	if (rules->ps[op->p].status != P_SYSCALL)
		BROKEN("P %d is not in the system call but %u", op->p, rules->ps[op->p].status);
	rules->gs[op->g].status = G_RUNNING;
	rules->ps[op->p].status = P_RUNNING;
	return 0;
}

static int syscall_end_blocked(struct op_rules *rules, const struct op *op, struct error *err)
{
	const struct rule_m *m = get_m(rules, op->m);

	if (m->p != NO_P && rules->ps[m->p].status == P_SYSCALL)
		BROKEN("thread %u still has P %d in the system call", op->m, m->p);
	set_g(rules, op->g, G_RUNNABLE, NO_M);
	return 0;
}

/* --- ranges --- */

static int stw(struct rule_g *g, const struct op *op, struct error *err)
{
	if (op->kind == OP_STW_END) {
		if (g->nstw == 0)
			BROKEN("no stop-the-world is open");
		g->nstw--;
		return 0;
	}
	for (unsigned i = 0; i < g->nstw; i++)
		if (g->stw[i] == op->string)
			BROKEN("this stop-the-world is already open");
	if (g->nstw == MAX_STW)
		BROKEN("too many stop-the-worlds are open");
	g->stw[g->nstw++] = op->string;
	return 0;
}

static int set_range(bool *open, bool want, const char *what, struct error *err)
{
	if (*open == want)
		BROKEN("%s is %s", what, want ? "already open" : "not open");
	*open = want;
	return 0;
}

/* In the first generation "active" opens a range; later it confirms an open one. */
static int active_range(const struct op_rules *rules, bool *open, const char *what, struct error *err)
{
	if (rules->gen == rules->first_gen)
		return set_range(open, true, what, err);
	if (!*open)
		BROKEN("%s is said to be active but is not open", what);
	return 0;
}

static int gc(struct op_rules *rules, const struct op *op, struct error *err)
{
	switch (op->kind) {
	case OP_GC_ACTIVE:
		if (rules->gen == rules->first_gen ? rules->gc != GC_UNKNOWN : rules->gc != GC_ON)
			BROKEN("GC is said to be active but state is %d", rules->gc);
		if (rules->gen != rules->first_gen) {
			int ret = check_need(rules, op, NEED_USER, err);

			if (ret)
				return ret;
		}
		rules->gc = GC_ON;
		return 0;
	case OP_GC_BEGIN:
		if (rules->gc == GC_ON)
			BROKEN("GC begins but is on");
		rules->gc = GC_ON;
		return 0;
	default:
		if (rules->gc != GC_ON)
			BROKEN("GC ends but is not on");
		rules->gc = GC_OFF;
		return 0;
	}
}

/* --- annotations --- */

static int task(struct op_rules *rules, const struct op *op, struct error *err)
{
	if (op->kind == OP_TASK_END) {
		map64_del(&rules->tasks, op->arg);
		return 0;
	}
	if (op->arg == 0 || map64_get(&rules->tasks, op->arg))
		BROKEN("task %llu is 0 or open", (unsigned long long)op->arg);
	if (map64_set(&rules->tasks, op->arg, 1))
		abort();
	return 0;
}

static int region(struct rule_g *g, const struct op *op, struct error *err)
{
	const struct region *top = g->nregions ? &g->regions[g->nregions - 1] : NULL;

	if (op->kind == OP_REGION_BEGIN) {
		if (g->nregions == MAX_REGIONS)
			BROKEN("too many regions are open");
		g->regions[g->nregions++] = (struct region){op->arg, op->string};
		return 0;
	}
	if (top && (top->task != op->arg || top->name != op->string))
		BROKEN("the region that ends is not the innermost");
	if (top)
		g->nregions--;
	return 0;
}

/* --- memory --- */

/* An address in use cannot be allocated, and only an address in use can be freed. */
static int memory(struct op_rules *rules, const struct op *op, const struct tables *tables, struct error *err)
{
	struct map64 *map = &rules->memory[op->kind >= OP_GO_STACK];
	bool is_free = op->kind == OP_MSPAN_FREE || op->kind == OP_GO_STACK_FREE;
	const uint32_t *now = map64_get(map, op->arg);

	if (op->arg == 0 || tables->heap_base == 0)
		BROKEN("no address, or nobody knows where the heap begins");
	if ((now && *now) != is_free)
		BROKEN("%#llx is %sin use", (unsigned long long)op->arg, is_free ? "not " : "");
	if (op->kind >= OP_GO_STACK && !is_free && (op->arg2 & (op->arg2 - 1)))
		BROKEN("a stack of %llu bytes", (unsigned long long)op->arg2);
	if (map64_set(map, op->arg, !is_free))
		abort();
	return 0;
}

/* --- all ops --- */

/* Returns whether readers delay the op until another thread's event. The two must not be in the same unit of
 * time, or readers may get stuck. */
static bool waits_for_another(const struct op *op)
{
	switch (op->kind) {
	case OP_PROC_START:
	case OP_PROC_STEAL:
	case OP_GO_START:
	case OP_GO_UNBLOCK:
	case OP_GO_SWITCH:
	case OP_GO_SWITCH_DESTROY:
	case OP_SYSCALL_END_BLOCKED:
		return true;
	default:
		return false;
	}
}

static int check_unit(struct op_rules *rules, const struct op *op, struct error *err)
{
	uint64_t other = op->m == rules->last_m ? rules->other_time : rules->last_time;

	if (waits_for_another(op) && op->time / OP_UNIT_NS == other / OP_UNIT_NS)
		BROKEN("time %llu is in the same unit as an op of another thread",
		       (unsigned long long)op->time);
	if (op->m != rules->last_m) {
		rules->other_time = rules->last_time;
		rules->last_m = op->m;
	}
	return 0;
}

static int check_time(struct op_rules *rules, const struct op *op, struct error *err)
{
	bool status = op->kind == OP_PROC_STATUS || op->kind == OP_GO_STATUS || op->kind == OP_MSPAN ||
		      op->kind == OP_GO_STACK;
	unsigned long long time = op->time;

	if (op->time < rules->start || op->time > rules->end)
		BROKEN("time %llu is outside of the generation", time);
	if (op->kind == OP_CPU_SAMPLE)
		return 0;
	if (status && rules->in_statuses && op->time == rules->start) {
		rules->last_time = op->time;
		return 0;
	}
	rules->in_statuses = false;
	if (op->kind != OP_NONE && check_unit(rules, op, err))
		return -EBADMSG;
	if (op->time <= rules->last_time)
		BROKEN("time %llu is not after %llu", time, (unsigned long long)rules->last_time);
	rules->last_time = op->time;
	return 0;
}

static int check_ids(const struct op *op, const struct tables *tables, struct error *err)
{
	uint32_t nstrings = strtab_count(tables->strings);
	bool is_text = op->kind == OP_LOG && op->string2 & TEXT_ID;

	if (is_text && (op->string2 & ~TEXT_ID) >= strtab_count(tables->texts))
		BROKEN("text id %u is not in the table of %u", op->string2 & ~TEXT_ID,
		       strtab_count(tables->texts));
	if (op->string >= nstrings || (op->string2 >= nstrings && !is_text))
		BROKEN("string id %u or %u is not in the table of %u", op->string, op->string2, nstrings);
	if ((op->stack && op->stack >= tables->nstacks) || (op->stack2 && op->stack2 >= tables->nstacks))
		BROKEN("stack id %u or %u is not in the table of %u", op->stack, op->stack2, tables->nstacks);
	if (op->g >= tables->ngoroutines && op->g)
		BROKEN("goroutine index %u is not in the table of %u", op->g, tables->ngoroutines);
	return 0;
}

/* Go's reader accepts this; its validator (internal/trace/testtrace) does not. */
static int ends_no_range(const struct op_rules *rules, const struct op *op, struct error *err)
{
	if (rules->gs[op->g].assist || rules->gs[op->g].nstw)
		BROKEN("goroutine index %u ends with an open range", op->g);
	return 0;
}

static bool ends_goroutine(enum op_kind kind)
{
	return kind == OP_GO_DESTROY || kind == OP_GO_DESTROY_SYSCALL || kind == OP_GO_SWITCH_DESTROY;
}

static int apply_scheduler(struct op_rules *rules, const struct op *op, const struct tables *tables,
			   struct error *err)
{
	if (ends_goroutine(op->kind) && ends_no_range(rules, op, err))
		return -EBADMSG;
	switch (op->kind) {
	case OP_PROC_STATUS:
		if (op->p < 0 || op->p >= MAX_P)
			BROKEN("P %d", op->p);
		return proc_status(rules, op, err);
	case OP_GO_STATUS:
		return check_g_index(op->g, tables, err) ? -EBADMSG : go_status(rules, op, tables, err);
	case OP_PROC_START:
		return proc_start(rules, op, err);
	case OP_PROC_STOP:
		return proc_stop(rules, op);
	case OP_PROC_STEAL:
		return proc_steal(rules, op, err);
	case OP_GO_CREATE:
	case OP_GO_CREATE_BLOCKED:
		return go_create(rules, op, tables, err);
	case OP_GO_CREATE_SYSCALL:
		return go_create_syscall(rules, op, tables, err);
	case OP_GO_START:
		return go_start(rules, op, tables, err);
	case OP_GO_DESTROY:
		end_g(rules, op->g);
		return 0;
	case OP_GO_DESTROY_SYSCALL:
		return go_destroy_syscall(rules, op, err);
	case OP_GO_STOP:
		set_g(rules, op->g, G_RUNNABLE, NO_M);
		return 0;
	case OP_GO_BLOCK:
		set_g(rules, op->g, G_WAITING, NO_M);
		return 0;
	case OP_GO_UNBLOCK:
		return go_unblock(rules, op, tables, err);
	case OP_GO_SWITCH:
	case OP_GO_SWITCH_DESTROY:
		return go_switch(rules, op, tables, err);
	case OP_SYSCALL_BEGIN:
		return syscall_begin(rules, op, err);
	case OP_SYSCALL_END:
		return syscall_end(rules, op, err);
	case OP_SYSCALL_END_BLOCKED:
		return syscall_end_blocked(rules, op, err);
	default:
		BROKEN("no such kind of op");
	}
}

static int apply(struct op_rules *rules, const struct op *op, const struct tables *tables, struct error *err)
{
	int ret;

	switch (op->kind) {
	case OP_STW_BEGIN:
	case OP_STW_END:
		return stw(&rules->gs[op->g], op, err);
	case OP_GC_ACTIVE:
	case OP_GC_BEGIN:
	case OP_GC_END:
		return gc(rules, op, err);
	case OP_GC_SWEEP_ACTIVE:
		if (op->p < 0 || (size_t)op->p >= rules->nps || !rules->ps[op->p].known)
			BROKEN("P %d is not known", op->p);
		return active_range(rules, &rules->ps[op->p].sweep, "the sweep", err);
	case OP_GC_SWEEP_BEGIN:
	case OP_GC_SWEEP_END:
		return set_range(&rules->ps[op->p].sweep, op->kind == OP_GC_SWEEP_BEGIN, "the sweep", err);
	case OP_GC_ASSIST_BEGIN:
	case OP_GC_ASSIST_END:
		return set_range(&rules->gs[op->g].assist, op->kind == OP_GC_ASSIST_BEGIN, "the assist", err);
	case OP_GC_ASSIST_ACTIVE:
		ret = check_g_index(op->g, tables, err);
		if (ret)
			return ret;
		if (!get_g(rules, op->g)->alive)
			BROKEN("goroutine index %u does not live", op->g);
		return active_range(rules, &rules->gs[op->g].assist, "the assist", err);
	case OP_TASK_BEGIN:
	case OP_TASK_END:
		return task(rules, op, err);
	case OP_REGION_BEGIN:
	case OP_REGION_END:
		return region(&rules->gs[op->g], op, err);
	case OP_PROCS_CHANGE:
	case OP_HEAP_ALLOC:
	case OP_HEAP_GOAL:
	case OP_GO_LABEL:
	case OP_LOG:
	case OP_CPU_SAMPLE:
		return 0;
	case OP_MSPAN ... OP_GO_STACK_FREE:
		return memory(rules, op, tables, err);
	default:
		return apply_scheduler(rules, op, tables, err);
	}
}

int op_rules_check(struct op_rules *rules, const struct op *op, const struct tables *tables,
		   struct error *err)
{
	struct error inner = {""};
	int ret;

	if (op->kind == OP_NONE)
		return 0;
	ret = check_time(rules, op, &inner);
	if (!ret)
		ret = check_ids(op, tables, &inner);
	if (!ret && op->kind < OP_KIND_COUNT)
		ret = check_need(rules, op, needs[op->kind], &inner);
	if (!ret)
		ret = apply(rules, op, tables, &inner);
	if (ret)
		error_set(err, EBADMSG, "%s at %llu (m %u p %d g %u g2 %u): %s", op_name(op->kind),
			  (unsigned long long)op->time, op->m, op->p, op->g, op->g2, inner.text);
	return ret;
}

int op_rules_begin(struct op_rules *rules, const struct generation *gen, struct error *err)
{
	if (rules->gen && gen->number != rules->gen + 1)
		BROKEN("generation %u follows %u", gen->number, rules->gen);
	if (gen->number == 0)
		BROKEN("generation 0");
	if (gen->start < rules->last_time || gen->end < gen->start)
		BROKEN("generation %u: start %llu, end %llu, last op before it at %llu", gen->number,
		       (unsigned long long)gen->start, (unsigned long long)gen->end,
		       (unsigned long long)rules->last_time);
	if (gen->mono_ns < gen->start || gen->mono_ns > gen->end)
		BROKEN("generation %u: its clock reading lies outside of it", gen->number);
	if (!rules->first_gen)
		rules->first_gen = gen->number;
	rules->gen = gen->number;
	rules->start = gen->start;
	rules->end = gen->end;
	rules->in_statuses = true;
	return 0;
}

int op_rules_end(struct op_rules *rules, struct error *err)
{
	for (uint32_t i = 0; i < rules->ngs; i++) {
		if (rules->gs[i].nstw)
			BROKEN("generation %u ends in a stop-the-world of goroutine index %u", rules->gen, i);
		if (rules->gs[i].alive && rules->gs[i].seen_gen != rules->gen)
			BROKEN("goroutine index %u has no status in generation %u", i, rules->gen);
	}
	return 0;
}

int op_rules_generation(struct op_rules *rules, const struct generation *gen, struct error *err)
{
	struct error inner = {""};
	int ret = op_rules_begin(rules, gen, err);

	for (size_t i = 0; i < gen->nops && !ret; i++) {
		ret = op_rules_check(rules, &gen->ops[i], gen->tables, &inner);
		if (ret)
			error_set(err, EBADMSG, "generation %u, op %zu: %s", gen->number, i, inner.text);
	}
	return ret ? ret : op_rules_end(rules, err);
}
