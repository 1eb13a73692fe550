/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

static uint64_t p_ptr(int p)
{
	return p < 0 ? 0 : 0xc000050000 + (uint64_t)p * 0x3000;
}

static uint64_t m_ptr(int m)
{
	return 0xc000900000 + (uint64_t)m * 0x800;
}

uint64_t sim_random(struct sim *sim, uint64_t below)
{
	sim->random ^= sim->random << 13;
	sim->random ^= sim->random >> 7;
	sim->random ^= sim->random << 17;
	return (sim->random >> 11) % below;
}

static struct raw_record *put(struct sim *sim, int m, uint8_t site, int g)
{
	struct raw_record *rec;

	if (sim->n == sim->capacity) {
		sim->capacity = sim->capacity ? sim->capacity * 2 : 1024;
		sim->out = realloc(sim->out, sim->capacity * sizeof(*sim->out));
		if (!sim->out)
			abort();
	}
	sim->now += 100 + sim_random(sim, 3000);
	rec = &sim->out[sim->n++];
	*rec = (struct raw_record){.site = site, .time = sim->now};
	if (m >= 0) {
		rec->tid = sim->ms[m].tid;
		rec->p = p_ptr(sim->ms[m].p);
	}
	if (g >= 0) {
		rec->g = sim->gs[g].ptr;
		rec->goid = sim->gs[g].goid;
	}
	return rec;
}

static void set(struct sim *sim, int g, enum sim_status status)
{
	sim->gs[g].status = status;
	sim->transitions++;
}

static int find_g(struct sim *sim, enum sim_status status)
{
	int start = (int)sim_random(sim, SIM_GS);

	for (int i = 0; i < SIM_GS; i++) {
		int g = (start + i) % SIM_GS;

		if (sim->gs[g].status == status)
			return g;
	}
	return -1;
}

static int find_idle_p(const struct sim *sim)
{
	for (int p = 0; p < SIM_PS; p++) {
		if (sim->p_holder[p] < 0)
			return p;
	}
	return -1;
}

static uint64_t curg(const struct sim *sim, int m)
{
	return sim->ms[m].g >= 0 ? sim->gs[sim->ms[m].g].ptr : 0;
}

void sim_init(struct sim *sim, uint64_t seed, bool handoff)
{
	memset(sim, 0, sizeof(*sim));
	sim->random = seed * 0x9e3779b97f4a7c15 + 88172645463325252;
	sim->now = 1000000000;
	sim->next_goid = 100;
	sim->next_ptr = 0xc000200000;
	sim->handoff = handoff;
	sim->stw = -1;
	for (int g = 0; g < SIM_GS; g++) {
		sim->gs[g] = (struct sim_g){.ptr = sim->next_ptr, .goid = sim->next_goid};
		sim->gs[g].status = g < SIM_GS / 2 ? (g % 3 ? SIM_WAITING : SIM_RUNNABLE) : SIM_NONE;
		sim->next_ptr += 0x200;
		sim->next_goid++;
	}
	for (int m = 0; m < SIM_MS; m++)
		sim->ms[m] = (struct sim_m){.tid = 5000 + (uint32_t)m, .g = -1, .p = -1, .oldp = -1};
	for (int p = 0; p < SIM_PS; p++)
		sim->p_holder[p] = -1;
}

void sim_free(struct sim *sim)
{
	free(sim->out);
}

static void acquire(struct sim *sim, int m, int p)
{
	struct raw_record *rec;

	sim->ms[m].p = p;
	sim->p_holder[p] = m;
	rec = put(sim, m, SITE_ACQUIREP, sim->ms[m].g);
	rec->p = p_ptr(p);
	rec->arg2 = (uint64_t)p;
}

/* findRunnable makes a GC worker runnable, and runs it at once. */
static void run_worker(struct sim *sim, int m)
{
	int g = find_g(sim, SIM_WAITING);

	if (g < 0)
		return;
	put(sim, m, SITE_UNBLOCK, g)->arg2 = 1 + sim_random(sim, 3);
	put(sim, m, SITE_EXECUTE, g);
	sim->ms[m].g = g;
	sim->transitions++;
	set(sim, g, SIM_RUNNING);
}

static void step_idle(struct sim *sim, int m)
{
	struct sim_m *mm = &sim->ms[m];
	int g = find_g(sim, SIM_RUNNABLE);
	int p = find_idle_p(sim);

	if (mm->p < 0) {
		if (p >= 0 && sim->stw < 0)
			acquire(sim, m, p);
		return;
	}
	if (sim_random(sim, 16) == 0) {
		run_worker(sim, m);
		return;
	}
	if (g < 0 || sim_random(sim, 4) == 0) {
		put(sim, m, SITE_RELEASEP, -1)->arg2 = (uint64_t)mm->p;
		sim->p_holder[mm->p] = -1;
		mm->p = -1;
		return;
	}
	put(sim, m, SITE_EXECUTE, g);
	mm->g = g;
	set(sim, g, SIM_RUNNING);
}

static void leave(struct sim *sim, int m, uint8_t site, enum sim_status status)
{
	int g = sim->ms[m].g;

	put(sim, m, site, g);
	set(sim, g, status);
	sim->ms[m].g = -1;
}

static void ready(struct sim *sim, int m)
{
	int g = find_g(sim, SIM_WAITING);

	if (g < 0)
		return;
	put(sim, m, SITE_READY, g)->arg = curg(sim, m);
	set(sim, g, SIM_RUNNABLE);
}

/* A P takes ids in batches of 16. Up to Go 1.23 it does so after a goroutine has been seen without its id. */
static bool number(struct sim *sim, struct sim_ids *ids, struct sim_g *g)
{
	bool first = ids->next == ids->end;

	if (first) {
		sim->next_goid += 16 - (sim->next_goid - 1) % 16;
		ids->next = sim->next_goid;
		ids->end = ids->next + 16;
		sim->next_goid = ids->end;
	}
	g->goid = ids->next++;
	return first;
}

static void create(struct sim *sim, int m)
{
	int g = find_g(sim, SIM_NONE);
	struct raw_record *rec;
	bool late;

	if (g < 0 || sim->ms[m].p < 0)
		return;
	late = number(sim, &sim->ids[sim->ms[m].p], &sim->gs[g]);
	sim->gs[g].nregions = 0;
	rec = put(sim, m, SITE_NEWPROC, g);
	rec->arg = curg(sim, m);
	rec->arg2 = 0x401000;
	rec->status = 1;
	rec->flags = rec->arg ? RAW_HAS_LABELS : 0; /* if the creator has any */
	if (late)
		rec->goid = 0;
	set(sim, g, SIM_RUNNABLE);
}

static void begin_region(struct sim *sim, int m, struct sim_g *g)
{
	struct sim_region *region = &g->regions[g->nregions++];
	struct raw_record *rec;

	*region = (struct sim_region){.task = sim_random(sim, sim->tasks + 1),
				      .name = sim_random(sim, 5),
				      .unnamed = sim_random(sim, 2)};
	rec = put(sim, m, region->unnamed ? SITE_REGION_START : SITE_REGION_BEGIN, sim->ms[m].g);
	rec->arg = region->task;
	rec->arg2 = region->name;
}

static void end_region(struct sim *sim, int m, struct sim_g *g)
{
	struct sim_region *region = &g->regions[--g->nregions];
	struct raw_record *rec;

	rec = put(sim, m, region->unnamed ? SITE_REGION_STOP : SITE_REGION_END, sim->ms[m].g);
	if (region->unnamed)
		return;
	rec->arg = region->task;
	rec->arg2 = region->name;
}

static void annotate(struct sim *sim, int m)
{
	struct sim_g *g = &sim->gs[sim->ms[m].g];
	struct raw_record *rec;

	switch (sim_random(sim, 7)) {
	case 0:
		rec = put(sim, m, SITE_TASK_BEGIN, sim->ms[m].g);
		rec->arg2 = sim_random(sim, sim->tasks + 1);
		rec->arg = ++sim->tasks;
		break;
	case 1:
		put(sim, m, SITE_TASK_END, sim->ms[m].g)->arg = 1 + sim_random(sim, sim->tasks + 1);
		break;
	case 2:
		/* arg2 of a label record is its value; 0 = no labels. */
		put(sim, m, sim->now % 2 ? SITE_LABELS : SITE_LOG, sim->ms[m].g)->arg2 = sim_random(sim, 3);
		break;
	case 3:
		if (g->nregions)
			end_region(sim, m, g);
		break;
	case 4:
		put(sim, m, SITE_LOG, sim->ms[m].g)->arg2 = sim_random(sim, 3);
		break;
	default:
		if (g->nregions < SIM_DEPTH)
			begin_region(sim, m, g);
	}
}

static void enter_syscall(struct sim *sim, int m)
{
	struct sim_m *mm = &sim->ms[m];

	put(sim, m, SITE_SYS_ENTER, mm->g)->arg = ++mm->tick;
	set(sim, mm->g, SIM_SYSCALL);
	mm->oldp = mm->p;
	mm->kernel = true;
}

static void turn_gc(struct sim *sim, int m)
{
	put(sim, m, sim->gc ? SITE_GC_END : SITE_GC_BEGIN, sim->ms[m].g);
	sim->gc = !sim->gc;
	if (!sim->gc)
		put(sim, m, SITE_HEAP_GOAL, sim->ms[m].g)->arg = 4 << 20;
}

static void assist(struct sim *sim, int m)
{
	struct sim_g *g = &sim->gs[sim->ms[m].g];

	put(sim, m, g->assists ? SITE_ASSIST_END : SITE_ASSIST_BEGIN, sim->ms[m].g);
	g->assists = !g->assists;
}

static void sweep(struct sim *sim, int m)
{
	put(sim, m, SITE_SWEEP_BEGIN, sim->ms[m].g);
	sim->ms[m].sweeps = true;
}

/* The record names no goroutine. A record of the goroutine that swept follows. */
static void end_sweep(struct sim *sim, int m)
{
	struct raw_record *rec = put(sim, m, SITE_SWEEP_END, -1);

	rec->p = 0;
	rec->arg = 8192 * (1 + sim_random(sim, 4));
	rec->arg2 = sim_random(sim, 8192);
	put(sim, m, SITE_HEAP_ALLOC, sim->ms[m].g)->arg = sim_random(sim, 1 << 20);
	sim->ms[m].sweeps = false;
}

/* An allocation makes the garbage collector assist, sweep, or change its state. */
static void allocate(struct sim *sim, int m)
{
	switch (sim_random(sim, 4)) {
	case 0:
		assist(sim, m);
		break;
	case 1:
		sweep(sim, m);
		break;
	case 2:
		put(sim, m, SITE_HEAP_ALLOC, sim->ms[m].g)->arg = sim_random(sim, 1 << 20);
		break;
	default:
		turn_gc(sim, m);
	}
}

static void run(struct sim *sim, int m)
{
	switch (sim_random(sim, 18)) {
	case 0:
	case 1:
	case 2:
		leave(sim, m, SITE_PARK, SIM_WAITING);
		break;
	case 3:
		leave(sim, m, SITE_GOSCHED, SIM_RUNNABLE);
		break;
	case 4:
		/* A goroutine does not end while it allocates. */
		if (!sim->gs[sim->ms[m].g].assists)
			leave(sim, m, SITE_DESTROY, SIM_NONE);
		break;
	case 5:
	case 6:
		create(sim, m);
		break;
	case 7:
	case 8:
		ready(sim, m);
		break;
	case 9:
		if (sim_random(sim, 8) == 0 && sim->stw < 0) {
			put(sim, m, SITE_STW_BEGIN, sim->ms[m].g)->arg = 1;
			sim->stw = m;
		}
		break;
	case 10:
	case 11:
	case 12:
		annotate(sim, m);
		break;
	case 13:
	case 14:
	case 15:
		allocate(sim, m);
		break;
	default:
		enter_syscall(sim, m);
	}
}

static void steal(struct sim *sim, int thief, int m)
{
	struct sim_m *mm = &sim->ms[m];
	struct raw_record *rec = put(sim, thief, sim->handoff ? SITE_HANDOFFP : SITE_STEALP, -1);

	rec->p = p_ptr(mm->p);
	rec->arg = mm->tid;
	rec->arg2 = (uint64_t)mm->p;
	sim->p_holder[mm->p] = -1;
	mm->p = -1;
}

static void return_from_syscall(struct sim *sim, int m)
{
	struct sim_m *mm = &sim->ms[m];
	int p;

	if (mm->p < 0) {
		p = find_idle_p(sim);
		if (p >= 0 && sim->stw < 0) {
			acquire(sim, m, p);
		} else {
			put(sim, m, SITE_EXIT_NO_P, mm->g);
			set(sim, mm->g, SIM_RUNNABLE);
			mm->g = -1;
			return;
		}
	}
	set(sim, mm->g, SIM_RUNNING); /* no record shows this */
}

static void step_syscall(struct sim *sim, int m)
{
	struct sim_m *mm = &sim->ms[m];
	int thief = (int)sim_random(sim, SIM_MS);

	if (mm->kernel && mm->p >= 0 && thief != m && sim_random(sim, 3) == 0) {
		steal(sim, thief, m);
		return;
	}
	if (mm->kernel) {
		put(sim, m, SITE_SYS_EXIT, mm->g)->arg = mm->tick;
		mm->kernel = false;
		return;
	}
	if (sim_random(sim, 8) == 0) {
		/* The same Go call enters the kernel again. */
		put(sim, m, SITE_SYS_ENTER, mm->g)->arg = mm->tick;
		mm->kernel = true;
		return;
	}
	return_from_syscall(sim, m);
}

/* The sample clock fires on a thread, whatever it is doing. */
static void sample(struct sim *sim)
{
	int m = (int)sim_random(sim, SIM_MS);
	struct raw_record *rec = put(sim, m, SITE_CPU_SAMPLE, sim->ms[m].g);

	if (sim->handoff && sim->ms[m].g >= 0 && sim->gs[sim->ms[m].g].status == SIM_SYSCALL)
		rec->p = 0; /* m.p is empty in a call up to Go 1.25 */
}

void sim_step(struct sim *sim)
{
	int m = (int)sim_random(sim, SIM_MS);
	struct sim_m *mm = &sim->ms[m];

	if (m % 4 == 0 && sim_random(sim, 4) == 0)
		sample(sim);
	if (sim->stw == m && sim_random(sim, 2)) {
		put(sim, m, SITE_STW_END, mm->g);
		sim->stw = -1;
	} else if (sim->stw == m) {
		return; /* the M that stopped the world neither blocks nor gives up its P */
	} else if (mm->sweeps && sim_random(sim, 2)) {
		end_sweep(sim, m);
	} else if (mm->sweeps) {
		ready(sim, m); /* a cleanup; a sweeping M does not block, either */
	} else if (mm->g < 0) {
		step_idle(sim, m);
	} else if (sim->gs[mm->g].status == SIM_SYSCALL) {
		step_syscall(sim, m);
	} else {
		run(sim, m);
	}
}

static bool has_texts(uint8_t site)
{
	return (site >= SITE_TASK_BEGIN && site <= SITE_REGION_START && site != SITE_TASK_END) ||
	       site == SITE_LABELS;
}

/* Writes the label "k" with this value; 0 = no labels. */
static size_t put_label(struct raw_text *text, uint64_t value)
{
	struct raw_label label = {.key_len = 1, .value_len = 1};
	char texts[] = {'k', (char)('0' + value)};

	if (!value)
		return 0;
	memcpy(text->text, &label, sizeof(label));
	memcpy(text->text + sizeof(label), texts, sizeof(texts));
	return text->len = sizeof(label) + sizeof(texts);
}

size_t sim_text(const struct raw_record *rec, void *buffer)
{
	struct raw_text *text = buffer;
	uint64_t name = rec->site == SITE_TASK_BEGIN ? rec->arg : rec->arg2;

	if (!has_texts(rec->site))
		return 0;
	*text = (struct raw_text){.record = *rec};
	if (rec->site == SITE_LABELS)
		return sizeof(*text) + put_label(text, rec->arg2);
	text->len = (uint16_t)snprintf(text->text, 32, "n%" PRIu64, name);
	if (rec->site == SITE_LOG)
		text->len2 = (uint16_t)snprintf(text->text + text->len, 32, "at %" PRIu64, rec->time);
	return sizeof(*text) + text->len + text->len2;
}

void sim_marker(struct sim *sim, uint32_t number)
{
	put(sim, -1, SITE_MARKER, -1)->arg = number;
}

static uint32_t runtime_status(enum sim_status status)
{
	static const uint32_t numbers[] = {
		[SIM_NONE] = 6, [SIM_RUNNABLE] = 1, [SIM_RUNNING] = 2, [SIM_SYSCALL] = 3, [SIM_WAITING] = 4};

	return numbers[status];
}

static void snapshot_ms(const struct sim *sim, struct log_m *ms)
{
	for (int m = 0; m < SIM_MS; m++) {
		const struct sim_m *mm = &sim->ms[m];
		bool in_call = mm->g >= 0 && sim->gs[mm->g].status == SIM_SYSCALL;

		ms[m] = (struct log_m){.m = m_ptr(m), .curg = curg(sim, m), .tid = mm->tid};
		if (mm->g >= 0)
			ms[m].status = runtime_status(sim->gs[mm->g].status);
		if (in_call && sim->handoff) {
			ms[m].oldp = p_ptr(mm->oldp);
			ms[m].p_status = mm->p >= 0 ? 2 : 1;
		} else {
			ms[m].p = p_ptr(mm->p);
			ms[m].p_status = 1;
		}
	}
}

size_t sim_snapshot(const struct sim *sim, struct log_g *gs, struct log_p *ps, struct log_m *ms)
{
	size_t n = 0;

	for (int g = 0; g < SIM_GS; g++) {
		gs[n] = (struct log_g){.g = sim->gs[g].ptr,
				       .goid = sim->gs[g].goid,
				       .assist = sim->gs[g].assists ? LOG_ASSIST_OPEN : LOG_ASSIST_NONE,
				       .status = runtime_status(sim->gs[g].status)};
		for (int m = 0; m < SIM_MS; m++) {
			if (sim->ms[m].g == g) {
				gs[n].m = m_ptr(m);
				gs[n].tid = sim->ms[m].tid;
			}
		}
		n++;
	}
	for (int p = 0; p < SIM_PS; p++)
		ps[p] = (struct log_p){.p = p_ptr(p), .id = (uint32_t)p, .status = sim->p_holder[p] >= 0};
	snapshot_ms(sim, ms);
	return n;
}
