/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A simulation of threads on CPUs: random switches, wakeups (some before the sleeper has left its CPU, some
 * without effect), forks, exits, reused tids, system calls, snapshots that are not atomic. The ops keep every
 * rule whatever is lost. Without losses they equal the simulation, and after a loss and a snapshot they
 * return to it. They equal it, too, where the kernel does not report that a thread got a CPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "annotate/annotate.h"
#include "op_rules.h"
#include "trace/wire/wire.h"

enum { PID = 100, TIDS = 14, CPUS = 3, FIRST_TID = 100, CALL = 1 + 202, OTHER_TID = 900 };

enum state { NOBODY, RUNNABLE, RUNNING, WAITING };
enum what { BORN = 1, STARTED, STOPPED, BLOCKED, WOKEN, DIED };

/* Something that happened to a tid, in the simulation or in the ops. */
struct event {
	uint64_t time;
	enum what what;
	int cpu;      /* STARTED */
	uint32_t who; /* WOKEN: tid, 0 = none; BORN: the creator */
};

struct history {
	struct event *events;
	size_t n, capacity;
	enum state state; /* according to the events */
	int cpu;
};

struct life {
	enum state state;
	int cpu;
	bool calls;        /* in a system call */
	bool early;        /* a wakeup has come while it runs: it counts if the thread sleeps next */
	bool vain;         /* the same, but it does not prevent a later sleep */
	bool doubtful;     /* asleep after such a wakeup: that shows when it is woken */
	bool hidden;       /* runs, and no record has shown that */
	uint64_t since;    /* when it got its CPU */
	uint64_t start_ns; /* distinguishes lives */
};

struct play {
	struct model *model;
	struct strtab *strings;
	struct op_rules *rules;
	struct symbol *symbol;
	struct wire *wire; /* and what it has written */
	uint8_t *bytes;
	size_t nbytes;
	uint64_t random, now;
	struct life lives[TIDS];
	int on_cpu[CPUS]; /* index of a life, -1 = not traced */
	unsigned spawned;
	bool recording; /* the first snapshot's first marker is in the log */
	bool losing;    /* records are lost occasionally */
	bool hiding;    /* starts are not reported occasionally */
	bool unsure;    /* after a loss: early wakeups are unknown before the snapshot */
	bool with_calls;
	unsigned lost;
	struct history played[TIDS], reported[TIDS];
};

static unsigned roll(struct play *play, unsigned n)
{
	play->random ^= play->random << 13;
	play->random ^= play->random >> 7;
	play->random ^= play->random << 17;
	return (unsigned)((play->random >> 20) % n);
}

static void note(struct history *history, struct event event)
{
	if (history->n == history->capacity) {
		history->capacity = history->capacity * 2 + 64;
		history->events = realloc(history->events, history->capacity * sizeof(event));
		assert_non_null(history->events);
	}
	history->events[history->n++] = event;
}

/* --- the ops --- */

static int index_of(const struct tables *tables, uint32_t g)
{
	uint64_t tid = tables->goids[g] % 10000000;

	return g && tables->goids[g] < (uint64_t)1 << 52 && tid >= FIRST_TID && tid < FIRST_TID + TIDS
		       ? (int)(tid - FIRST_TID)
		       : -1;
}

static void report(struct play *play, const struct tables *tables, const struct op *op, uint32_t g,
		   enum what what, enum state state)
{
	int i = index_of(tables, g);
	struct event event = {.time = op->time, .what = what};

	if (i < 0)
		return;
	if (what == STARTED)
		event.cpu = op->p;
	if (what == WOKEN || what == BORN)
		event.who = op->m;
	note(&play->reported[i], event);
	play->reported[i].state = state;
	play->reported[i].cpu = op->p;
}

static void take_op(struct play *play, const struct generation *gen, const struct op *op)
{
	const struct tables *tables = gen->tables;
	int i = index_of(tables, op->g);

	switch (op->kind) {
	case OP_GO_STATUS:
		if (i >= 0 && gen->number == 1)
			play->reported[i].state = op->status == G_RUNNABLE  ? RUNNABLE
						  : op->status == G_WAITING ? WAITING
									    : RUNNING;
		break;
	case OP_GO_CREATE:
	case OP_GO_CREATE_BLOCKED:
		report(play, tables, op, op->g2, BORN, op->kind == OP_GO_CREATE ? RUNNABLE : WAITING);
		break;
	case OP_GO_START:
		report(play, tables, op, op->g, STARTED, RUNNING);
		break;
	case OP_GO_STOP:
		report(play, tables, op, op->g, STOPPED, RUNNABLE);
		break;
	case OP_GO_BLOCK:
		report(play, tables, op, op->g, BLOCKED, WAITING);
		break;
	case OP_GO_UNBLOCK:
		report(play, tables, op, op->g2, WOKEN, RUNNABLE);
		break;
	case OP_GO_DESTROY:
		report(play, tables, op, op->g, DIED, NOBODY);
		break;
	}
}

static int take_generation(void *ctx, const struct generation *gen)
{
	struct play *play = ctx;
	struct error err = {""};

	if (op_rules_generation(play->rules, gen, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < gen->nops && gen->ops[i].time == gen->start; i++)
		take_op(play, gen, &gen->ops[i]);
	for (size_t i = 0; i < gen->nops; i++) {
		const struct op *op = &gen->ops[i];

		if (op->kind == OP_NONE || op->time == gen->start)
			continue;
		take_op(play, gen, op);
	}
	if (wire_generation(play->wire, gen, &err))
		fail_msg("%s", err.text);
	return 0;
}

static int keep(void *ctx, const void *bytes, size_t n)
{
	struct play *play = ctx;

	play->bytes = realloc(play->bytes, play->nbytes + n + 1);
	assert_non_null(play->bytes);
	memcpy(play->bytes + play->nbytes, bytes, n);
	play->nbytes += n;
	return 0;
}

static void check_file(const struct play *play)
{
	struct wire_report report;

	if (wire_check(play->bytes, play->nbytes, &report))
		fail_msg("invalid trace: %s", report.error.text);
}

/* --- the log --- */

static void feed(struct play *play, uint32_t type, const void *data, size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = data};
	struct error err = {""};

	if (model_feed(play->model, &record, &err))
		fail_msg("%s", err.text);
}

static void put(struct play *play, struct raw_record rec)
{
	play->now += 500 + roll(play, 4000);
	rec.time = play->now;
	rec.goid = PID;
	if (rec.site == SITE_SWITCH && rec.tid)
		rec.arg |= (play->now - play->lives[rec.tid - FIRST_TID].since) / 1000 << 32;
	if (play->losing && rec.site != SITE_MARKER && roll(play, 3) == 0) {
		play->lost++;
		return;
	}
	feed(play, LOG_RECORDS, &rec, sizeof(rec));
}

static void happened(struct play *play, int i, enum what what, int cpu, uint32_t who)
{
	if (play->recording)
		note(&play->played[i],
		     (struct event){.time = play->now, .what = what, .cpu = cpu, .who = who});
}

/* --- the simulation --- */

/* Switches the CPU: its thread leaves in this way, and `next` gets it, -1 = none. */
static void play_switch(struct play *play, int cpu, enum left left, int next)
{
	int prev = play->on_cpu[cpu];
	struct life *life = prev >= 0 ? &play->lives[prev] : NULL;
	bool hidden = play->hiding && !life && roll(play, 2);

	if (hidden)
		play->now += 500 + roll(play, 4000);
	else
		put(play, (struct raw_record){.site = SITE_SWITCH,
					      .p = (uint64_t)cpu,
					      .tid = prev >= 0 ? FIRST_TID + (uint32_t)prev : 0,
					      .g = next >= 0 ? FIRST_TID + (uint64_t)next : 0,
					      .status = left,
					      .arg = life && life->calls ? CALL : 0});
	if (life) {
		bool woken = life->early && !life->vain;

		happened(play, prev,
			 left == LEFT_DEAD       ? DIED
			 : left == LEFT_RUNNABLE ? STOPPED
						 : BLOCKED,
			 0, 0);
		life->state = left == LEFT_DEAD ? NOBODY : left == LEFT_RUNNABLE ? RUNNABLE : WAITING;
		if (left != LEFT_RUNNABLE && left != LEFT_DEAD && woken) {
			happened(play, prev, WOKEN, 0, 0);
			life->state = RUNNABLE;
		}
		life->doubtful = life->state == WAITING && life->vain;
		life->early = life->vain = life->hidden = false;
	}
	play->on_cpu[cpu] = next;
	if (next < 0)
		return;
	happened(play, next, STARTED, cpu, 0);
	play->lives[next].state = RUNNING;
	play->lives[next].cpu = cpu;
	play->lives[next].since = play->now;
	play->lives[next].hidden = hidden;
}

static int pick(struct play *play, enum state state)
{
	int from = (int)roll(play, TIDS);

	for (int i = 0; i < TIDS; i++) {
		int at = (from + i) % TIDS;

		if (play->lives[at].state == state)
			return at;
	}
	return -1;
}

static bool is_hidden(const struct play *play, int i)
{
	return i >= 0 && play->lives[i].hidden;
}

/* A thread that acts has no pending wakeup. */
static void acts(struct play *play, int i)
{
	play->lives[i].early = play->lives[i].vain = false;
}

static void play_waking(struct play *play)
{
	int cpu = (int)roll(play, CPUS), waker = play->on_cpu[cpu], woken = pick(play, WAITING);
	struct raw_record rec = {.site = SITE_WAKING, .p = (uint64_t)cpu, .status = WAKER_INTERRUPT};
	/* The op of an early wakeup comes late, when its CPU may have a hidden thread. */
	bool early = !play->unsure && !play->hiding && roll(play, 4) == 0;

	if (early)
		woken = pick(play, RUNNING);
	if (woken < 0 || woken == waker || play->lives[woken].early || is_hidden(play, woken) ||
	    is_hidden(play, waker))
		return;
	early = play->lives[woken].state == RUNNING;
	if (waker >= 0) {
		rec.status = WAKER_THREAD;
		rec.tid = FIRST_TID + (uint32_t)waker;
		acts(play, waker);
	} else if (roll(play, 2)) {
		rec.status = WAKER_OTHER;
		rec.tid = OTHER_TID;
		rec.arg = OTHER_TID;
	}
	rec.g = FIRST_TID + (uint64_t)woken;
	put(play, rec);
	if (early) {
		play->lives[woken].early = true;
		play->lives[woken].vain = roll(play, 2);
		return;
	}
	play->lives[woken].state = RUNNABLE;
	play->lives[woken].doubtful = false;
	happened(play, woken, WOKEN, 0, rec.tid);
}

static void play_fork(struct play *play, int cpu)
{
	int child = pick(play, NOBODY), parent = play->on_cpu[cpu];

	if (parent < 0 || child < 0 || is_hidden(play, parent))
		return;
	acts(play, parent);
	put(play, (struct raw_record){.site = SITE_FORK,
				      .p = (uint64_t)cpu,
				      .tid = FIRST_TID + (uint32_t)parent,
				      .g = FIRST_TID + (uint64_t)child,
				      .arg = PID});
	play->lives[child] = (struct life){.state = RUNNABLE, .start_ns = play->now};
	happened(play, child, BORN, 0, FIRST_TID + (uint32_t)parent);
}

static void play_call(struct play *play, int cpu)
{
	int i = play->on_cpu[cpu];

	if (i < 0 || is_hidden(play, i))
		return;
	play->lives[i].calls = !play->lives[i].calls;
	play->lives[i].vain = play->lives[i].early; /* unless a record shows that it acts */
	if (!play->with_calls)
		return;
	acts(play, i);
	put(play, (struct raw_record){.site = play->lives[i].calls ? SITE_SYSCALL : SITE_SYSCALL_DONE,
				      .p = (uint64_t)cpu,
				      .tid = FIRST_TID + (uint32_t)i,
				      .arg = CALL});
}

static bool is_any_open(const struct play *play)
{
	for (int i = 0; i < TIDS; i++) {
		if (play->lives[i].vain || play->lives[i].doubtful || play->lives[i].hidden)
			return true;
	}
	return false;
}

static void play_boundary(struct play *play)
{
	struct log_boundary boundary = {.time_before = play->now, .time_after = play->now};

	/* An op that is taken back, or moved up, must be in the open generation. */
	if (is_any_open(play))
		return;
	boundary.clock.mono_ns = play->now;
	feed(play, LOG_BOUNDARY, &boundary, sizeof(boundary));
}

static void play_step(struct play *play)
{
	int cpu = (int)roll(play, CPUS), i = play->on_cpu[cpu], next = pick(play, RUNNABLE);

	switch (roll(play, 12)) {
	case 0:
	case 1:
	case 2:
		if (i >= 0 || next >= 0)
			play_switch(play, cpu, LEFT_RUNNABLE, roll(play, 3) ? next : -1);
		break;
	case 3:
	case 4:
	case 5:
		if (i >= 0)
			play_switch(play, cpu, roll(play, 2) ? LEFT_ASLEEP : LEFT_DISK,
				    roll(play, 2) ? next : -1);
		break;
	case 6:
	case 7:
	case 8:
		play_waking(play);
		break;
	case 9:
		play_fork(play, cpu);
		break;
	case 10:
		play_call(play, cpu);
		break;
	default:
		if (i < 0 || is_hidden(play, i) || roll(play, 3))
			break;
		acts(play, i);
		put(play, (struct raw_record){.site = SITE_THREAD_EXIT,
					      .p = (uint64_t)cpu,
					      .tid = FIRST_TID + (uint32_t)i});
		play_switch(play, cpu, LEFT_DEAD, -1);
	}
}

static void play_some(struct play *play, unsigned steps)
{
	for (unsigned i = 0; i < steps; i++) {
		play_step(play);
		if (play->recording && roll(play, 100) == 0)
			play_boundary(play);
	}
}

static struct log_thread look_at(const struct play *play, int i)
{
	const struct life *life = &play->lives[i];

	return (struct log_thread){
		.tid = FIRST_TID + (uint32_t)i,
		.cpu = life->cpu,
		.start_ns = life->start_ns,
		.status = life->state == RUNNING    ? LOG_THREAD_RUNNING
			  : life->state == RUNNABLE ? LOG_THREAD_RUNNABLE
						    : LOG_THREAD_WAITING,
		.arg = life->calls ? CALL : 0,
		.comm = "app",
	};
}

/* Each thread is inspected at a different time. */
static void play_snapshot(struct play *play, uint32_t number)
{
	struct log_snapshot head = {.marker_before = number, .marker_after = number + 1, .gomaxprocs = CPUS};
	struct log_thread threads[TIDS];
	size_t n = 0;

	put(play, (struct raw_record){.site = SITE_MARKER, .arg = number});
	for (int i = 0; i < TIDS && !play->recording; i++)
		acts(play, i); /* earlier wakeups are unknown */
	play->recording = true;
	head.time_before = play->now + 1;
	for (int i = 0; i < TIDS; i++) {
		if (play->lives[i].state != NOBODY)
			threads[n++] = look_at(play, i);
		if (roll(play, 3) == 0)
			play_step(play);
	}
	head.time_after = play->now;
	put(play, (struct raw_record){.site = SITE_MARKER, .arg = number + 1});
	feed(play, LOG_SNAPSHOT, &head, sizeof(head));
	feed(play, LOG_THREADS, threads, n * sizeof(*threads));
	feed(play, LOG_SNAPSHOT_END, NULL, 0);
}

static void play_loss(struct play *play, uint32_t number)
{
	struct log_loss loss = {0};

	play->losing = true;
	play_some(play, 30 + roll(play, 100));
	play->losing = false;
	for (int i = 0; i < TIDS; i++) /* its wakeup may be lost */
		play->lives[i].vain = play->lives[i].early;
	loss.ring_full = play->lost;
	play->lost = 0;
	feed(play, LOG_LOSS, &loss, sizeof(loss));
	play->unsure = true;
	play_some(play, roll(play, 30));
	play_snapshot(play, number);
	play->unsure = false;
}

/* --- comparison --- */

static const char *name(enum what what)
{
	static const char *const names[] = {"", "born", "started", "stopped", "blocked", "woken", "died"};

	return names[what];
}

static void compare(const struct play *play, int i)
{
	const struct history *played = &play->played[i], *reported = &play->reported[i];

	for (size_t k = 0; k < played->n && k < reported->n; k++) {
		const struct event *a = &played->events[k], *b = &reported->events[k];
		bool near = b->time + 500 > a->time && b->time < a->time + (play->hiding ? 1500 : 500);

		if (a->what != b->what || !near || a->cpu != b->cpu ||
		    ((a->what == BORN || (a->what == WOKEN && a->who)) && a->who != b->who))
			fail_msg("thread %d, event %zu: played %s at %llu cpu %d by %u, reported %s at %llu "
				 "cpu "
				 "%d "
				 "by %u",
				 FIRST_TID + i, k, name(a->what), (unsigned long long)a->time, a->cpu, a->who,
				 name(b->what), (unsigned long long)b->time, b->cpu, b->who);
	}
	assert_int_equal(played->n + play->lives[i].doubtful, reported->n);
}

static void compare_ends(const struct play *play)
{
	for (int i = 0; i < TIDS; i++) {
		if (play->lives[i].doubtful)
			continue;
		if (play->lives[i].state != play->reported[i].state ||
		    (play->lives[i].state == RUNNING && play->lives[i].cpu != play->reported[i].cpu))
			fail_msg("thread %d: is %d on %d, reported %d on %d", FIRST_TID + i,
				 play->lives[i].state, play->lives[i].cpu, play->reported[i].state,
				 play->reported[i].cpu);
	}
}

static void begin(struct play *play, uint64_t seed)
{
	static const enum wire_format formats[] = {WIRE_GO122, WIRE_GO123, WIRE_GO125, WIRE_GO126, WIRE_V0,
						   WIRE_GO15,  WIRE_GO17,  WIRE_GO18,  WIRE_GO19,  WIRE_GO110,
						   WIRE_GO111, WIRE_GO119, WIRE_GO121};
	struct wire_options wire = {.format = formats[seed % 13], .out = {.write = keep, .ctx = play}};
	struct log_target target = {.pid = PID, .flags = LOG_TARGET_THREADS, .comm = "app"};
	struct model_options options = {.sink = take_generation, .ctx = play};

	*play = (struct play){.random = seed * 0x9e3779b97f4a7c15ull + 1, .now = 1000000};
	play->strings = options.strings = strtab_new();
	play->rules = op_rules_new();
	wire.symbol = play->symbol = symbol_new(NULL, play->strings);
	play->wire = wire_new(&wire, NULL);
	play->model = annotate_model_new(&options, NULL);
	play->with_calls = roll(play, 2);
	feed(play, LOG_TARGET, &target, sizeof(target));
	for (int cpu = 0; cpu < CPUS; cpu++)
		play->on_cpu[cpu] = -1;
	for (int i = 0; i < TIDS / 2; i++)
		play->lives[i] = (struct life){.state = i % 2 ? WAITING : RUNNABLE, .start_ns = 1};
}

static void end(struct play *play)
{
	check_file(play);
	model_free(play->model);
	op_rules_free(play->rules);
	wire_free(play->wire);
	symbol_free(play->symbol);
	free(play->bytes);
	strtab_free(play->strings);
	for (int i = 0; i < TIDS; i++) {
		free(play->played[i].events);
		free(play->reported[i].events);
	}
}

static void test_nothing_lost(void **state)
{
	struct play play;

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		begin(&play, seed);
		play_some(&play, roll(&play, 100));
		play_snapshot(&play, 1);
		play_some(&play, 1500);
		assert_int_equal(model_finish(play.model, NULL), 0);
		assert_int_equal(model_stats(play.model)->repaired, 0);
		for (int i = 0; i < TIDS; i++)
			compare(&play, i);
		end(&play);
	}
}

static void test_losses(void **state)
{
	struct play play;

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		begin(&play, seed);
		play_some(&play, roll(&play, 100));
		play_snapshot(&play, 1);
		for (uint32_t i = 0; i < 5; i++) {
			play_some(&play, roll(&play, 200));
			play_loss(&play, 10 + 2 * i);
		}
		play_some(&play, roll(&play, 50));
		assert_int_equal(model_finish(play.model, NULL), 0);
		compare_ends(&play);
		end(&play);
	}
}

static void test_unreported_starts(void **state)
{
	struct play play;
	uint64_t repaired = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		begin(&play, seed);
		play_some(&play, roll(&play, 100));
		play_snapshot(&play, 1);
		play.hiding = true;
		play_some(&play, 1500);
		assert_int_equal(model_finish(play.model, NULL), 0);
		repaired += model_stats(play.model)->repaired;
		for (int i = 0; i < TIDS; i++) {
			play.played[i].n -= play.lives[i].hidden;
			compare(&play, i);
		}
		end(&play);
	}
	assert_true(repaired > 10000);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_nothing_lost),
	cmocka_unit_test(test_unreported_starts),
	cmocka_unit_test(test_losses),
};

UNIT_TESTS(tests, NULL, NULL);
