/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The model on streams of a simulated scheduler: clean ones must give the true state without repairs;
 * mutilated ones must give valid ops.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include <errno.h>

#include "annotate/annotate.h"
#include "op_rules.h"
#include "sim.h"
#include "util/map64.h"
#include "trace/ops/gap_log.h"
#include "trace/wire/wire.h"

#define MADE_UP_GOID (1ull << 52) /* invented ids begin here: no record had the goroutine's id */

enum { MARKERS_AT = 400, STEPS = 6000, BOUNDARY_EVERY = 700 };

enum { MAX_LIVES = 1 << 12 };

struct run {
	struct op_rules *rules;
	struct model *model;
	struct strtab *strings;
	uint64_t seed;
	uint64_t ops, generations;
	const struct sim *truth;   /* for clean streams: samples are checked against it; else NULL */
	uint64_t samples, unknown; /* samples in the ops; those of goroutines without an id */
	struct wire *wire;
	enum wire_format format;
	bool full; /* the oldest formats hold ten minutes, but the clock of broken logs jumps */
	struct symbol *symbol;
	uint8_t *bytes; /* the trace file */
	size_t nbytes;
	struct map64 status; /* goid -> last status in the ops */
	bool starts_alone;
	/* goid -> hash of all its steps, except a start that nothing has followed yet. */
	struct map64 lives;
	struct map64 starts;             /* goid -> 1 if there is such a start */
	struct map64 assists;            /* goid -> 1 while a mark assist is open */
	uint64_t kinds[OP_KIND_COUNT];   /* number of ops by kind */
	uint64_t swept, reclaimed, heap; /* sums */
	bool gc;
	/* Lives according to the ops, by goroutine index, without the synthetic one. */
	uint64_t born[MAX_LIVES], lived_ns, first_ns;
};

/* Which start records reach the model. */
enum starts { ALL_STARTS, SOME_STARTS, NO_STARTS, STARTS_ALONE };

static uint32_t value_of(const struct map64 *map, uint64_t key)
{
	uint32_t *value = map64_get(map, key);

	return value ? *value : 0;
}

static void note_life(struct run *run, uint64_t goid, const struct op *op)
{
	uint32_t life = value_of(&run->lives, goid);

	/* A P that changes hands is not a step of a goroutine. */
	if (op->kind == OP_NONE || op->kind == OP_CPU_SAMPLE ||
	    (op->kind >= OP_PROC_STATUS && op->kind <= OP_PROC_STEAL))
		return;
	/* Nor is a state that is repeated at the start of a generation. A label belongs to a start. */
	if (op->kind == OP_GC_ACTIVE || op->kind == OP_GC_ASSIST_ACTIVE || op->kind == OP_HEAP_GOAL ||
	    op->kind == OP_GO_LABEL)
		return;
	if (value_of(&run->starts, goid))
		life = life * 31 + OP_GO_START;
	if (op->kind != OP_GO_START)
		life = life * 31 + op->kind;
	assert_int_equal(map64_set(&run->starts, goid, op->kind == OP_GO_START), 0);
	assert_int_equal(map64_set(&run->lives, goid, life), 0);
}

/* Each generation repeats the labels of the goroutines that run in it. */
static bool repeats_labels(const struct op *op, const struct tables *tables)
{
	const char *category = strtab_get(tables->strings, op->kind == OP_LOG ? op->string : 0, NULL);

	return strncmp(category, "labels ", 7) == 0;
}

static void note_status(struct run *run, uint32_t g, uint32_t status, const struct tables *tables)
{
	if (g)
		assert_int_equal(map64_set(&run->status, tables->goids[g], status), 0);
}

static void follow(struct run *run, const struct op *op, const struct tables *tables)
{
	switch (op->kind) {
	case OP_GO_STATUS:
		note_status(run, op->g, op->status, tables);
		break;
	case OP_GO_START:
	case OP_SYSCALL_END:
		note_status(run, op->g, G_RUNNING, tables);
		break;
	case OP_GO_STOP:
	case OP_SYSCALL_END_BLOCKED:
		note_status(run, op->g, G_RUNNABLE, tables);
		break;
	case OP_GO_CREATE:
	case OP_GO_UNBLOCK:
		note_status(run, op->g2, G_RUNNABLE, tables);
		break;
	case OP_GO_CREATE_BLOCKED:
		note_status(run, op->g2, G_WAITING, tables);
		break;
	case OP_GO_BLOCK:
		note_status(run, op->g, G_WAITING, tables);
		break;
	case OP_SYSCALL_BEGIN:
		note_status(run, op->g, G_SYSCALL, tables);
		break;
	case OP_GO_DESTROY:
		note_status(run, op->g, 0, tables);
		break;
	}
}

/* Times increase from record to record. */
static const struct raw_record *record_at(const struct sim *sim, uint64_t time)
{
	size_t low = 0, high = sim->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (sim->out[middle].time < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low < sim->n && sim->out[low].time == time ? &sim->out[low] : NULL;
}

/* Checks that the sample shows which goroutine ran where, according to memory at that time. */
static void check_sample(struct run *run, const struct op *op, const struct tables *tables)
{
	const struct raw_record *rec = run->truth ? record_at(run->truth, op->time) : NULL;
	uint64_t goid = op->g ? tables->goids[op->g] : 0;

	run->samples++;
	if (!run->truth)
		return;
	assert_non_null(rec);
	assert_int_equal(rec->site, SITE_CPU_SAMPLE);
	assert_int_equal(rec->tid, op->m);
	assert_int_equal(op->p >= 0, rec->p != 0);
	assert_int_equal(rec->g == 0, op->g == NO_G);
	if (goid >= MADE_UP_GOID)
		run->unknown++; /* invented: no record had its id */
	else
		assert_int_equal(goid, rec->goid);
}

static void follow_gc(struct run *run, const struct op *op, const struct tables *tables)
{
	switch (op->kind) {
	case OP_GC_ACTIVE:
	case OP_GC_BEGIN:
	case OP_GC_END:
		run->gc = op->kind != OP_GC_END;
		break;
	case OP_GC_SWEEP_END:
		run->swept += op->arg;
		run->reclaimed += op->arg2;
		break;
	case OP_HEAP_ALLOC:
		run->heap += op->arg;
		break;
	case OP_GC_ASSIST_ACTIVE:
	case OP_GC_ASSIST_BEGIN:
	case OP_GC_ASSIST_END:
	case OP_GO_DESTROY:
		assert_int_equal(map64_set(&run->assists, tables->goids[op->g],
					   op->kind == OP_GC_ASSIST_ACTIVE || op->kind == OP_GC_ASSIST_BEGIN),
				 0);
		break;
	}
}

static void follow_life(struct run *run, const struct op *op, const struct generation *gen)
{
	bool dies = op->kind == OP_GO_DESTROY || op->kind == OP_GO_DESTROY_SYSCALL ||
		    op->kind == OP_GO_SWITCH_DESTROY;
	bool is_born = op->kind == OP_GO_CREATE || op->kind == OP_GO_CREATE_BLOCKED;
	uint32_t birth = is_born                                                        ? op->g2
			 : op->kind == OP_GO_STATUS || op->kind == OP_GO_CREATE_SYSCALL ? op->g
											: 0;

	assert_true(op->g < MAX_LIVES && op->g2 < MAX_LIVES);
	run->first_ns = run->first_ns ? run->first_ns : op->time;
	if (birth && !run->born[birth] && gen->tables->goids[birth] != 1ull << 52)
		run->born[birth] = op->time;
	if (!dies || !run->born[op->g])
		return;
	run->lived_ns += op->time - run->born[op->g];
	run->born[op->g] = 0;
}

static void end_lives(struct run *run, const struct generation *gen)
{
	for (unsigned g = 0; g < MAX_LIVES; g++) {
		run->lived_ns += run->born[g] ? gen->end - run->born[g] : 0;
		run->born[g] = 0;
	}
}

static int check_generation(void *ctx, const struct generation *gen)
{
	struct run *run = ctx;
	struct error err = {""};
	int rc;

	if (op_rules_generation(run->rules, gen, &err))
		fail_msg("seed %llu, generation %u: %s", (unsigned long long)run->seed, gen->number,
			 err.text);
	rc = run->full ? 0 : wire_generation(run->wire, gen, &err);
	run->full |= rc == -EFBIG && run->format <= WIRE_GO15;
	if (rc && !run->full)
		fail_msg("seed %llu: %s", (unsigned long long)run->seed, err.text);
	for (size_t i = 0; i < gen->nops; i++) {
		const struct op *op = &gen->ops[i];

		run->kinds[op->kind]++;
		if (op->kind != OP_CPU_SAMPLE)
			follow_life(run, op, gen);
		follow(run, op, gen->tables);
		if (op->kind == OP_CPU_SAMPLE)
			check_sample(run, op, gen->tables);
		follow_gc(run, op, gen->tables);
		if (op->g && !repeats_labels(op, gen->tables))
			note_life(run, gen->tables->goids[op->g], op);
		if (op->g2)
			note_life(run, gen->tables->goids[op->g2], op);
	}
	if (gen->last)
		end_lives(run, gen);
	run->ops += gen->nops;
	run->generations++;
	return 0;
}

static int keep(void *ctx, const void *bytes, size_t n)
{
	struct run *run = ctx;

	run->bytes = realloc(run->bytes, run->nbytes + n);
	if (!run->bytes)
		return -12;
	memcpy(run->bytes + run->nbytes, bytes, n);
	run->nbytes += n;
	return 0;
}

static void open_wire(struct run *run)
{
	static const enum wire_format formats[] = {WIRE_GO122, WIRE_GO123, WIRE_GO125, WIRE_GO126, WIRE_V0,
						   WIRE_GO15,  WIRE_GO17,  WIRE_GO18,  WIRE_GO19,  WIRE_GO110,
						   WIRE_GO111, WIRE_GO119, WIRE_GO121};
	struct wire_options options = {.out = {.write = keep, .ctx = run}};

	run->format = formats[run->seed % (sizeof(formats) / sizeof(formats[0]))];
	options.format = run->format;
	run->symbol = symbol_new(NULL, run->strings);
	options.symbol = run->symbol;
	run->wire = wire_new(&options, NULL);
	assert_non_null(run->wire);
}

/* The strict reader accepts the whole file. */
static void assert_file_valid(const struct run *run)
{
	struct wire_report report;

	if (run->full && !run->nbytes)
		return;
	if (wire_check(run->bytes, run->nbytes, &report))
		fail_msg("seed %llu: %s (byte %llu)", (unsigned long long)run->seed, report.error.text,
			 (unsigned long long)report.error_offset);
	assert_int_equal(report.valid_bytes, run->nbytes);
	/* A v1 format has no generations. */
	assert_int_equal(report.generations, report.version < WIRE_GO122 ? 1 : run->generations);
}

static void feed(struct run *run, uint32_t type, const void *data, size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = data};
	struct error err = {""};

	if (model_feed(run->model, &record, &err))
		fail_msg("seed %llu: %s", (unsigned long long)run->seed, err.text);
}

static void begin(struct run *run, uint64_t seed, unsigned go_minor)
{
	struct model_options options = {.sink = check_generation, .ctx = run};
	struct log_target target = {.pid = 77, .flags = LOG_TARGET_GO, .go_minor = go_minor};

	*run = (struct run){.seed = seed, .rules = op_rules_new(), .strings = strtab_new()};
	options.strings = run->strings;
	run->model = annotate_model_new(&options, NULL);
	open_wire(run);
	assert_non_null(run->rules);
	assert_non_null(run->model);
	feed(run, LOG_TARGET, &target, sizeof(target));
}

static void end(struct run *run)
{
	struct error err = {""};

	assert_int_equal(model_finish(run->model, &err), 0);
	assert_file_valid(run);
	free(run->bytes);
	wire_free(run->wire);
	symbol_free(run->symbol);
	model_free(run->model);
	op_rules_free(run->rules);
	strtab_free(run->strings);
	map64_free(&run->status);
	map64_free(&run->lives);
	map64_free(&run->starts);
	map64_free(&run->assists);
}

struct snap {
	struct log_snapshot info;
	struct log_heap heap;
	struct log_g gs[SIM_GS];
	struct log_p ps[SIM_PS];
	struct log_m ms[SIM_MS];
	size_t ngs;
};

static void take(const struct sim *sim, struct snap *snap, uint32_t marker)
{
	snap->info = (struct log_snapshot){.marker_before = marker,
					   .marker_after = marker + 1,
					   .time_before = sim->now,
					   .time_after = sim->now,
					   .gomaxprocs = SIM_PS};
	snap->heap = (struct log_heap){.goal = 5 << 20, .gc = sim->gc ? LOG_GC_RUNS : LOG_GC_OFF};
	snap->ngs = sim_snapshot(sim, snap->gs, snap->ps, snap->ms);
}

static void feed_snapshot(struct run *run, const struct snap *snap)
{
	feed(run, LOG_SNAPSHOT, &snap->info, sizeof(snap->info));
	feed(run, LOG_HEAP, &snap->heap, sizeof(snap->heap));
	feed(run, LOG_GS, snap->gs, snap->ngs * sizeof(snap->gs[0]));
	feed(run, LOG_PS, snap->ps, sizeof(snap->ps));
	feed(run, LOG_MS, snap->ms, sizeof(snap->ms));
	feed(run, LOG_SNAPSHOT_END, NULL, 0);
}

/* Runs the scheduler and takes a snapshot somewhere between the markers, not at either. */
static void simulate_start(struct sim *sim, struct snap *snap, unsigned before, unsigned after)
{
	for (unsigned i = 0; i < MARKERS_AT; i++)
		sim_step(sim);
	sim_marker(sim, 1);
	for (unsigned i = 0; i < before; i++)
		sim_step(sim);
	take(sim, snap, 1);
	for (unsigned i = 0; i < after; i++)
		sim_step(sim);
	sim_marker(sim, 2);
}

static void feed_boundary(struct run *run, const struct sim *sim)
{
	struct {
		struct log_boundary head;
		struct log_m ms[SIM_MS];
	} boundary = {.head = {.time_before = sim->now + 1, .time_after = sim->now + 1, .nm = SIM_MS}};
	struct log_g gs[SIM_GS];
	struct log_p ps[SIM_PS];

	boundary.head.clock = (struct log_clock){.mono_ns = sim->now, .wall_sec = 1700000000};
	sim_snapshot(sim, gs, ps, boundary.ms);
	feed(run, LOG_BOUNDARY, &boundary, sizeof(boundary));
}

/* As if the probe on execute were removed, for a while or always. */
static void leave_out_starts(struct sim *sim, size_t from, enum starts starts)
{
	size_t kept = from;

	for (size_t i = from; i < sim->n; i++) {
		bool left_out = starts == NO_STARTS || (starts == SOME_STARTS && i / 64 % 2);

		if (sim->out[i].site != SITE_EXECUTE || !left_out)
			sim->out[kept++] = sim->out[i];
	}
	sim->n = kept;
}

/* As capture writes them: those with texts one by one, the others in batches. */
static void feed_records(struct run *run, const struct raw_record *records, size_t n)
{
	_Alignas(8) char text[SIM_TEXT];
	size_t first = 0;

	for (size_t i = 0; i < n; i++) {
		size_t size = sim_text(&records[i], text);

		if (!size)
			continue;
		feed(run, LOG_RECORDS, records + first, (i - first) * sizeof(*records));
		feed(run, LOG_TEXT, text, size);
		first = i + 1;
	}
	feed(run, LOG_RECORDS, records + first, (n - first) * sizeof(*records));
}

/* Leaves only records of execute, which show how the goroutine last left. *how: g -> that plus 1. */
static void leave_out_switches(struct sim *sim, size_t from, struct map64 *how)
{
	size_t kept = from;

	for (size_t i = from; i < sim->n; i++) {
		struct raw_record rec = sim->out[i];

		if (rec.site == SITE_PARK || rec.site == SITE_GOSCHED)
			map64_set(how, rec.g, rec.site == SITE_PARK ? 2 : 1);
		if (rec.site == SITE_PARK || rec.site == SITE_GOSCHED || rec.site == SITE_READY ||
		    rec.site == SITE_UNBLOCK || rec.site == SITE_HEAP_ALLOC || rec.site == SITE_SWEEP_BEGIN ||
		    rec.site == SITE_SWEEP_END)
			continue;
		if (rec.site == SITE_EXECUTE) {
			rec.site = SITE_RESUME;
			rec.arg = value_of(how, rec.g) == 2;
		}
		sim->out[kept++] = rec;
	}
	sim->n = kept;
}

static void feed_new_records(struct run *run, struct sim *sim, size_t *fed)
{
	if (sim->n > *fed)
		feed_records(run, sim->out + *fed, sim->n - *fed);
	*fed = sim->n;
}

static uint32_t expected(enum sim_status status)
{
	static const uint32_t map[] = {[SIM_NONE] = 0,
				       [SIM_RUNNABLE] = G_RUNNABLE,
				       [SIM_RUNNING] = G_RUNNING,
				       [SIM_SYSCALL] = G_SYSCALL,
				       [SIM_WAITING] = G_WAITING};

	return map[status];
}

/* A call that has just ended may be undecided. All other states must be those of the simulation. */
static void assert_true_state(struct run *run, const struct sim *sim)
{
	/* Goroutines that ran when the probing of only starts began may have left, and be known only by
	 * address. */
	uint64_t unseen = 0, few = run->starts_alone ? SIM_MS : 0;

	for (int g = 0; g < SIM_GS; g++) {
		uint32_t *seen = map64_get(&run->status, sim->gs[g].goid);
		uint32_t want = expected(sim->gs[g].status);

		if (!seen) {
			/* Not alive, or without a record that had its id: those that run are known only by
			 * address. */
			unseen += want != 0 && want != G_RUNNING;
			continue;
		}
		/* If only starts are probed, its steps show at the next start. Its end is seen. */
		if (run->starts_alone && want)
			continue;
		/* A goroutine whose start was not seen may be unknown, too. */
		if ((*seen == G_SYSCALL || *seen == G_RUNNABLE) && want == G_RUNNING)
			continue;
		if (*seen != want)
			fail_msg("seed %llu: goroutine %llu is %u, should be %u",
				 (unsigned long long)run->seed, (unsigned long long)sim->gs[g].goid, *seen,
				 want);
	}
	if (unseen > model_stats(run->model)->unnumbered + few)
		fail_msg("seed %llu: %llu live goroutines are not in the trace",
			 (unsigned long long)run->seed, (unsigned long long)unseen);
}

static uint64_t samples_from_marker(const struct sim *sim)
{
	uint64_t n = 0;

	for (size_t i = sim->n; i-- && !(sim->out[i].site == SITE_MARKER && sim->out[i].arg == 1);)
		n += sim->out[i].site == SITE_CPU_SAMPLE;
	return n;
}

/* Counts the records of a site since the first marker. */
static uint64_t seen_since_marker(const struct sim *sim, uint8_t site)
{
	uint64_t n = 0;
	bool since = false;

	for (size_t i = 0; i < sim->n; i++) {
		since = since || sim->out[i].site == SITE_MARKER;
		n += since && sim->out[i].site == site;
	}
	return n;
}

/*
 * The states of a goroutine add up to its life, reasons to the time blocked, and the states of Ps to
 * GOMAXPROCS times the duration. Call it after model_finish().
 */
static void assert_sums(struct run *run)
{
	const struct program_stats *program = model_program_stats(run->model);
	const struct model_stats *stats = model_stats(run->model);
	size_t n;
	const struct goroutine_stats *rows = model_goroutine_stats(run->model, BY_RUNNING, &n);
	uint64_t lived = 0, not_watched = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t waited = 0;

		for (unsigned k = 0; k < STAT_REASONS; k++)
			waited += rows[i].waiting[k].ns;
		assert_int_equal(waited, rows[i].waiting_ns);
		lived += rows[i].running_ns + rows[i].runnable_ns + rows[i].syscall_ns + rows[i].waiting_ns +
			 rows[i].not_watched_ns;
		not_watched += rows[i].not_watched_ns;
	}
	assert_int_equal(lived, run->lived_ns);
	assert_int_equal(not_watched > 0, stats->unwatched_ns > 0);
	assert_int_equal(program->gomaxprocs, SIM_PS);
	assert_int_equal(program->p_running_ns + program->p_syscall_ns + program->p_idle_ns +
				 program->p_not_watched_ns,
			 SIM_PS * (stats->end_ns - run->first_ns));
	/* In the trace, ops at one time follow one another by 1 ns. */
	assert_true(llabs((long long)(program->p_not_watched_ns - SIM_PS * stats->unwatched_ns)) <=
		    (stats->unwatched_ns ? 10000 : 0));
	assert_int_equal(program->procs_ns + program->p_not_watched_ns,
			 SIM_PS * (stats->end_ns - run->first_ns));
	assert_true(program->latency_p50_ns <= program->latency_p99_ns &&
		    program->latency_p99_ns <= program->latency_max_ns);
	assert_true(program->goroutines_peak >= program->goroutines_at_start &&
		    program->goroutines_peak >= program->goroutines_at_end);
}

/* Every event of the collector is in the ops, with its arguments, and those open at the start. */
static void assert_true_gc(const struct run *run, const struct sim *sim)
{
	static const struct {
		uint8_t site, kind;
	} pairs[] = {
		{SITE_GC_BEGIN, OP_GC_BEGIN},
		{SITE_GC_END, OP_GC_END},
		{SITE_SWEEP_BEGIN, OP_GC_SWEEP_BEGIN},
		{SITE_SWEEP_END, OP_GC_SWEEP_END},
		{SITE_ASSIST_BEGIN, OP_GC_ASSIST_BEGIN},
		{SITE_ASSIST_END, OP_GC_ASSIST_END},
		{SITE_HEAP_ALLOC, OP_HEAP_ALLOC},
	};
	uint64_t swept = 0, reclaimed = 0, heap = 0, workers = 0;
	bool since = false;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		uint64_t seen = seen_since_marker(sim, pairs[i].site);

		if (run->kinds[pairs[i].kind] != seen)
			fail_msg("seed %llu: %llu %s of %llu", (unsigned long long)run->seed,
				 (unsigned long long)run->kinds[pairs[i].kind], op_name(pairs[i].kind),
				 (unsigned long long)seen);
	}
	for (size_t i = 0; i < sim->n; i++) {
		const struct raw_record *rec = &sim->out[i];

		since = since || rec->site == SITE_MARKER;
		swept += since && rec->site == SITE_SWEEP_END ? rec->arg : 0;
		reclaimed += since && rec->site == SITE_SWEEP_END ? rec->arg2 : 0;
		heap += since && rec->site == SITE_HEAP_ALLOC ? rec->arg : 0;
		workers += since && rec->site == SITE_UNBLOCK;
	}
	assert_int_equal(run->swept, swept);
	assert_int_equal(run->reclaimed, reclaimed);
	assert_int_equal(run->heap, heap);
	assert_true(workers > 0 && run->kinds[OP_GO_LABEL] <= workers);
	/* Starts that nothing has followed yet may be unknown. */
	assert_true(run->kinds[OP_GO_LABEL] + SIM_MS >= workers);
	assert_int_equal(run->gc, sim->gc);
	for (int g = 0; g < SIM_GS; g++) {
		/* A goroutine without an id has an invented one. */
		if (map64_get(&run->status, sim->gs[g].goid))
			assert_int_equal(value_of(&run->assists, sim->gs[g].goid), sim->gs[g].assists);
	}
}

/* Leaves the steps of every goroutine in *lives (owned by the caller), and adds up the inferred starts. */
static void run_clean(uint64_t seed, bool handoff, enum starts starts, struct map64 *lives,
		      uint64_t *inferred)
{
	struct sim sim;
	struct run run;
	struct snap snap;
	size_t fed = 0;

	sim_init(&sim, seed, handoff);
	simulate_start(&sim, &snap, seed % 3 * 20, seed % 5 * 15);
	begin(&run, seed, handoff ? 25 : 26);
	run.truth = &sim;
	feed_new_records(&run, &sim, &fed);
	feed_snapshot(&run, &snap);
	for (unsigned i = 0; i < STEPS; i++) {
		sim_step(&sim);
		/* Not at once: a sweep that was open at the start ends in the first generation, as it does if
		 * generations are longer than sweeps. */
		if (i % BOUNDARY_EVERY == 300) {
			leave_out_starts(&sim, fed, starts);
			feed_new_records(&run, &sim, &fed);
			feed_boundary(&run, &sim);
		}
	}
	leave_out_starts(&sim, fed, starts);
	feed_new_records(&run, &sim, &fed);
	assert_int_equal(model_stats(run.model)->repaired, 0);
	*inferred += model_stats(run.model)->inferred_starts;
	assert_true(run.generations > 3);
	assert_int_equal(model_finish(run.model, NULL), 0);
	assert_sums(&run);
	assert_true_state(&run, &sim);
	assert_true_gc(&run, &sim);
	assert_true(run.ops > STEPS / 3);
	assert_int_equal(run.samples, samples_from_marker(&sim));
	assert_true(run.samples > STEPS / 60 && run.unknown < run.samples / 8);
	*lives = run.lives;
	run.lives = (struct map64){0};
	end(&run);
	sim_free(&sim);
}

static void test_clean_streams_need_no_repair(void **state)
{
	struct map64 lives;
	uint64_t starts = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		run_clean(seed, seed % 2, ALL_STARTS, &lives, &starts);
		map64_free(&lives);
	}
}

/* Inferred starts are those that would have been recorded: every goroutine has the same steps. */
static void test_starts_are_inferred(void **state)
{
	uint64_t none = 0, starts = 0, lives = 0, unknown = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct map64 seen, inferred;

		run_clean(seed, seed % 2, ALL_STARTS, &seen, &none);
		run_clean(seed, seed % 2, seed % 3 ? NO_STARTS : SOME_STARTS, &inferred, &starts);
		for (size_t i = 0; i < seen.capacity; i++) {
			uint32_t *life = seen.keys[i] ? map64_get(&inferred, seen.keys[i]) : NULL;

			/* Some have an id only from their start, and have another one now. Invented ids are
			 * given in the order of need. */
			bool made_up = seen.keys[i] >= MADE_UP_GOID;

			unknown += seen.keys[i] && !life;
			if (life && !made_up && *life != seen.values[i])
				fail_msg("seed %llu: goroutine %llu did something else",
					 (unsigned long long)seed, (unsigned long long)seen.keys[i]);
		}
		lives += seen.count;
		map64_free(&seen);
		map64_free(&inferred);
	}
	assert_true(starts > 3000 && starts > 10 * none);
	assert_true(lives > 2000 && unknown < lives / 50);
}

/* One of: drop, duplicate, swap with the next, corrupt a field. */
static size_t mutilate(struct sim *sim, struct raw_record *rec, size_t left, struct raw_record out[2])
{
	uint64_t *fields[] = {&rec->g, &rec->goid, &rec->p, &rec->arg, &rec->arg2, &rec->time};
	struct raw_record swap;

	out[0] = *rec;
	switch (sim_random(sim, 40)) {
	case 0:
		return 0;
	case 1:
		out[1] = *rec;
		return 2;
	case 2:
		if (left > 1) {
			swap = rec[1];
			rec[1] = rec[0];
			out[0] = swap;
		}
		return 1;
	case 3:
		*fields[sim_random(sim, 6)] = sim_random(sim, 3) ? sim->gs[sim_random(sim, SIM_GS)].ptr : 0;
		out[0] = *rec;
		return 1;
	case 4:
		out[0].site = (uint8_t)sim_random(sim, 92);
		if (out[0].site == SITE_STACK)
			out[0].site = SITE_NONE;
		return 1;
	case 5:
		out[0].tid = 5000 + (uint32_t)sim_random(sim, SIM_MS + 2);
		return 1;
	default:
		return 1;
	}
}

static void feed_mutilated(struct run *run, struct sim *sim, size_t *fed)
{
	struct raw_record two[2];

	for (; *fed < sim->n; (*fed)++) {
		size_t n = mutilate(sim, &sim->out[*fed], sim->n - *fed, two);

		if (n)
			feed_records(run, two, n);
	}
}

static void feed_new_snapshot(struct run *run, struct sim *sim, size_t *fed)
{
	uint32_t marker = 100 + (uint32_t)sim->n;
	struct snap snap;

	sim_marker(sim, marker);
	take(sim, &snap, marker);
	for (unsigned i = 0; i < sim_random(sim, 20); i++)
		sim_step(sim);
	sim_marker(sim, marker + 1);
	feed_new_records(run, sim, fed);
	feed_snapshot(run, &snap);
}

static void feed_loss(struct run *run, struct sim *sim, size_t *fed)
{
	struct log_loss loss = {.ring_full = 50};

	for (unsigned i = 0; i < 60; i++)
		sim_step(sim);
	*fed = sim->n; /* all of these are lost */
	feed(run, LOG_LOSS, &loss, sizeof(loss));
	feed_new_snapshot(run, sim, fed);
}

static void assert_nobody_runs(const struct run *run)
{
	for (size_t i = 0; i < run->status.capacity; i++) {
		if (run->status.keys[i])
			assert_int_not_equal(run->status.values[i], G_RUNNING);
	}
}

/* The texts are those of capture, by which readers of the trace recognise a gap. */
static void feed_gap_note(struct run *run, bool begins, uint64_t time)
{
	const char *text = begins ? GAP_LOG_BEGIN GAP_LOG_LIMIT : GAP_LOG_END;
	struct {
		struct log_note head;
		char text[64];
	} note = {.head = {.time = time,
			   .len = (uint32_t)strlen(text),
			   .flags = begins ? LOG_NOTE_GAP : LOG_NOTE_RESUMED}};

	memcpy(note.text, text, strlen(text));
	feed(run, LOG_NOTE, &note, sizeof(note.head) + strlen(text));
}

/* Nothing is recorded for a while, which is not running time. At its edges only some sites are probed. */
static void feed_gap(struct run *run, struct sim *sim, size_t *fed)
{
	uint64_t before = model_stats(run->model)->unwatched_ns, since = sim->now;
	bool known = model_stats(run->model)->generations > 0;
	size_t last;

	feed_gap_note(run, true, sim->now);
	if (known)
		assert_nobody_runs(run);
	for (unsigned i = 0; i < 300; i++) {
		sim_step(sim);
		if (i == 150 && sim->n % 2) /* a damaged log: the gap begins once more */
			feed_gap_note(run, true, sim->now);
	}
	last = sim->n;
	*fed = last - 20;
	leave_out_starts(sim, *fed, NO_STARTS);
	feed_new_records(run, sim, fed);
	feed_gap_note(run, false, sim->now);
	if (known)
		assert_int_equal(model_stats(run->model)->unwatched_ns, before + sim->now - since);
	feed_new_snapshot(run, sim, fed);
}

/* Feeds an interval in which only starts are probed, and the next snapshot. */
static void feed_spans(struct run *run, struct sim *sim, size_t *fed)
{
	struct log_note note = {.flags = LOG_NOTE_SPANS};
	struct map64 how = {0};

	feed(run, LOG_NOTE, &note, sizeof(note));
	for (unsigned i = 0; i < 300; i++)
		sim_step(sim);
	leave_out_switches(sim, *fed, &how);
	map64_free(&how);
	feed_new_records(run, sim, fed);
	note.flags = LOG_NOTE_RESUMED;
	feed(run, LOG_NOTE, &note, sizeof(note));
	feed_new_snapshot(run, sim, fed);
}

static void run_mutilated(uint64_t seed, bool handoff)
{
	struct sim sim;
	struct run run;
	struct snap snap;
	size_t fed = 0;

	sim_init(&sim, seed, handoff);
	simulate_start(&sim, &snap, 30, 30);
	begin(&run, seed, handoff ? 25 : 26);
	feed_mutilated(&run, &sim, &fed);
	feed_snapshot(&run, &snap);
	for (unsigned i = 0; i < STEPS / 2; i++) {
		sim_step(&sim);
		if (i % BOUNDARY_EVERY == BOUNDARY_EVERY - 1) {
			feed_mutilated(&run, &sim, &fed);
			feed_boundary(&run, &sim);
		}
		if (i % 900 == 899)
			feed_loss(&run, &sim, &fed);
		if (i % 1300 == 1299)
			feed_gap(&run, &sim, &fed);
		if (i % 1100 == 1099)
			feed_spans(&run, &sim, &fed);
	}
	feed_mutilated(&run, &sim, &fed);
	assert_true(model_stats(run.model)->repaired > 0);
	assert_true(run.samples > STEPS / 200);
	end(&run);
	sim_free(&sim);
}

static void test_mutilated_streams_stay_valid(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++)
		run_mutilated(seed, seed % 2);
}

/* An assist that ended without a record ends when its goroutine runs again. */
static void assert_no_assist_left(const struct run *run, const struct sim *sim)
{
	for (int g = 0; g < SIM_GS; g++) {
		uint64_t goid = sim->gs[g].goid;

		if (value_of(&run->assists, goid) && !sim->gs[g].assists && sim->gs[g].status != SIM_NONE)
			fail_msg("seed %llu: the assist of goroutine %llu does not end",
				 (unsigned long long)run->seed, (unsigned long long)goid);
	}
}

/* After a loss and a new snapshot the state is true again. */
static void run_loss(uint64_t seed, bool handoff, void (*lose)(struct run *, struct sim *, size_t *))
{
	struct sim sim;
	struct run run;
	struct snap snap;
	size_t fed = 0;
	uint64_t repaired;

	sim_init(&sim, seed, handoff);
	simulate_start(&sim, &snap, 10, 10);
	begin(&run, seed, handoff ? 25 : 26);
	feed_new_records(&run, &sim, &fed);
	feed_snapshot(&run, &snap);
	for (unsigned i = 0; i < 500; i++)
		sim_step(&sim);
	feed_new_records(&run, &sim, &fed);
	lose(&run, &sim, &fed);
	for (unsigned i = 0; i < 3000; i++)
		sim_step(&sim);
	repaired = model_stats(run.model)->repaired;
	feed_new_records(&run, &sim, &fed);
	/* Goroutines that run at the time of the loss may be placed late. Soon nothing is left to repair. */
	assert_true(model_stats(run.model)->repaired < repaired + 40);
	assert_int_equal(model_finish(run.model, NULL), 0);
	assert_sums(&run);
	assert_true_state(&run, &sim);
	assert_int_equal(run.gc, sim.gc);
	assert_no_assist_left(&run, &sim);
	end(&run);
	sim_free(&sim);
}

static void test_a_loss_heals(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++)
		run_loss(seed, seed % 2, feed_loss);
}

static void test_a_gap_heals(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++)
		run_loss(seed, seed % 2, feed_gap);
}

/* The recording ends with a gap of 2 s, which the trace includes. */
static void run_gap_to_the_end(uint64_t seed)
{
	struct log_end last = {.reason = LOG_END_STOPPED};
	const struct model_stats *stats;
	struct sim sim;
	struct run run;
	struct snap snap;
	size_t fed = 0;

	sim_init(&sim, seed, seed % 2);
	simulate_start(&sim, &snap, 10, 10);
	begin(&run, seed, seed % 2 ? 25 : 26);
	feed_new_records(&run, &sim, &fed);
	feed_snapshot(&run, &snap);
	for (unsigned i = 0; i < 500; i++)
		sim_step(&sim);
	feed_new_records(&run, &sim, &fed);
	feed_gap_note(&run, true, sim.now);
	last.clock.mono_ns = sim.now + 2000000000;
	feed(&run, LOG_END, &last, sizeof(last));
	assert_int_equal(model_finish(run.model, NULL), 0);
	stats = model_stats(run.model);
	assert_int_equal(stats->unwatched_ns, 2000000000);
	assert_in_range(stats->end_ns, last.clock.mono_ns, last.clock.mono_ns + 1000);
	assert_sums(&run);
	end(&run);
	sim_free(&sim);
}

static void test_a_gap_to_the_end(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++)
		run_gap_to_the_end(seed);
}

static void test_spans_heal(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++)
		run_loss(seed, seed % 2, feed_spans);
}

static bool has_row(const struct run *run, const char *name)
{
	const struct goroutine_stats *rows;
	size_t n;

	rows = model_goroutine_stats(run->model, BY_RUNNING, &n);
	for (size_t i = 0; i < n; i++) {
		if (rows[i].name && strcmp(strtab_get(run->strings, rows[i].name, NULL), name) == 0)
			return true;
	}
	return false;
}

/* Counts the kinds of ops that remain of a stream if only starts are recorded; with `all`, of the whole
 * stream. */
static void run_starts_alone(uint64_t seed, bool handoff, bool all, uint64_t kinds[OP_KIND_COUNT])
{
	struct log_note note = {.flags = LOG_NOTE_SPANS};
	struct map64 how = {0};
	struct sim sim;
	struct run run;
	struct snap snap;
	size_t fed = 0;

	sim_init(&sim, seed, handoff);
	simulate_start(&sim, &snap, 10, 10);
	begin(&run, seed, handoff ? 25 : 26);
	run.starts_alone = !all;
	feed_new_records(&run, &sim, &fed);
	feed_snapshot(&run, &snap);
	if (!all)
		feed(&run, LOG_NOTE, &note, sizeof(note));
	for (unsigned i = 0; i < STEPS; i++)
		sim_step(&sim);
	if (!all)
		leave_out_switches(&sim, fed, &how);
	feed_new_records(&run, &sim, &fed);
	assert_int_equal(model_stats(run.model)->repaired, 0);
	assert_int_equal(model_finish(run.model, NULL), 0);
	assert_sums(&run);
	assert_true_state(&run, &sim);
	assert_false(has_row(&run, "[gotrace]")); /* the synthetic goroutine is not one of the target's */
	for (unsigned i = 0; i < OP_KIND_COUNT; i++)
		kinds[i] += run.kinds[i];
	end(&run);
	map64_free(&how);
	sim_free(&sim);
}

/* When and how a goroutine left is inferred every time, except for the last. */
static void test_leavings_are_inferred(void **state)
{
	static const uint8_t kinds[] = {OP_GO_BLOCK, OP_GO_STOP, OP_GO_START, OP_GO_DESTROY,
					OP_SYSCALL_BEGIN};
	enum { SEEDS = 100 };
	uint64_t all[OP_KIND_COUNT] = {0}, alone[OP_KIND_COUNT] = {0};

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		run_starts_alone(seed, seed % 2, true, all);
		run_starts_alone(seed, seed % 2, false, alone);
	}
	for (unsigned i = 0; i < sizeof(kinds); i++) {
		uint64_t a = all[kinds[i]], b = alone[kinds[i]];

		/* The note adds a stop and a start. */
		if ((a > b ? a - b : b - a) > SEEDS * (SIM_MS + 3))
			fail_msg("%s: %llu and %llu", op_name(kinds[i]), (unsigned long long)a,
				 (unsigned long long)b);
		if (a < 10 * SEEDS)
			fail_msg("only %llu of %s", (unsigned long long)a, op_name(kinds[i]));
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_leavings_are_inferred),
	cmocka_unit_test(test_spans_heal),
	cmocka_unit_test(test_clean_streams_need_no_repair),
	cmocka_unit_test(test_starts_are_inferred),
	cmocka_unit_test(test_mutilated_streams_stay_valid),
	cmocka_unit_test(test_a_loss_heals),
	cmocka_unit_test(test_a_gap_heals),
	cmocka_unit_test(test_a_gap_to_the_end),
};

UNIT_TESTS(tests, NULL, NULL);
