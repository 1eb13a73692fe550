/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/prove.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/memory.h"
#include "target/private.h"
#include "target/reasons.h"
#include "target/stack.h"
#include "util/map64.h"

/* A running process changes while it is read: a snapshot that fails the checks is taken again. */
#define TRIES    6
#define LAST_TID (1u << 22) /* PID_MAX_LIMIT of 64-bit kernels */
/* Goroutine ids are assigned in sequence: no program gets this far (bpf/record.h). */
#define LAST_GOID (1ull << 52)

/* Limits on goroutines, and on Ms whose own goroutines are read. */
#define MOST_GS 256u
#define MOST_MS 64u

struct collected {
	const struct target *target;
	bool proven; /* the code has proven the layout */
	struct log_g *gs;
	struct log_m *ms;
	struct log_p *ps;
	size_t ngs, nms, nps;
	uint32_t gomaxprocs;
};

static int proof_append_row(void **rows, size_t *n, size_t size, const struct log_record *record)
{
	size_t more = record->size / size;
	void *bigger = realloc(*rows, (*n + more) * size + 1);

	if (!bigger)
		return -ENOMEM;
	*rows = bigger;
	if (more)
		memcpy((char *)bigger + *n * size, record->data, more * size);
	*n += more;
	return 0;
}

static bool is_in_function(const struct functab *functab, uint64_t pc)
{
	size_t index;

	return functab_lookup(functab, pc, &index) == 0;
}

static int collect(void *ctx, const struct log_record *record)
{
	struct collected *all = ctx;

	switch (record->type) {
	case LOG_SNAPSHOT:
		all->gomaxprocs = ((const struct log_snapshot *)record->data)->gomaxprocs;
		return 0;
	case LOG_GS:
		return proof_append_row((void **)&all->gs, &all->ngs, sizeof(*all->gs), record);
	case LOG_MS:
		return proof_append_row((void **)&all->ms, &all->nms, sizeof(*all->ms), record);
	case LOG_PS:
		return proof_append_row((void **)&all->ps, &all->nps, sizeof(*all->ps), record);
	default:
		return 0;
	}
}

static int proof_take_snapshot(const struct target *target, struct collected *all, struct error *err)
{
	static const uint32_t markers[2];
	struct target_snapshot *snapshot = NULL;
	int rc = target_snapshot_begin_detailed(target, MOST_GS, collect, all, &snapshot, err);

	if (rc)
		return rc;
	do
		rc = target_snapshot_read(snapshot, err);
	while (rc > 0);
	if (rc == 0)
		rc = target_snapshot_put(snapshot, markers);
	target_snapshot_free(snapshot);
	return rc;
}

static int no_proof(struct error *err, const char *what)
{
	return error_set(err, EBADMSG, "%s", what);
}

/*
 * Whether enough of n objects are as they should be. Up to an eighth may have changed while they were read.
 * If the code has proven the layout, only total disagreement counts: goroutines of plugins and of C threads
 * begin in code that is not in the function table, and a program may have just started.
 */
static bool enough(const struct collected *all, size_t good, size_t n)
{
	return all->proven ? good || n < 2 : good >= n - n / 8;
}

static bool status_is_legal(uint32_t status)
{
	/* Go 1.26 runtime/runtime2.go: 5 is unused, 7 obsolete, 8 a stack that is being copied. */
	return (status >= G_STATUS_RUNNABLE && status <= G_STATUS_WAITING) || status == 8 ||
	       status == G_STATUS_PREEMPTED || status == G_STATUS_LEAKED;
}

static bool begins_at_function(const struct target *target, uint64_t pc)
{
	uint64_t entry, end;
	const char *name;
	size_t index;

	return functab_lookup(target->functab, pc, &index) == 0 &&
	       functab_entry(target->functab, index, &entry, &end, &name) == 0 && entry == pc;
}

/*
 * Goroutines that C code has called have no start function (runtime/proc.go, oneNewExtraM), and a snapshot
 * puts the root of the stack in its place. So this reads the structs themselves.
 */
static int prove_heads(const struct collected *all, struct error *err)
{
	const struct target *target = all->target;
	const struct go_layout *layout = &target->layout;
	size_t starts = 0, begun = 0, creators = 0, created = 0;

	for (size_t i = 0; i < all->ngs; i++) {
		uint64_t startpc = 0, gopc = 0;

		if (layout->g_startpc != LAYOUT_ABSENT) /* Go 1.4 does not have it */
			memory_read(target->pid, all->gs[i].g + layout->g_startpc, &startpc, sizeof(startpc));
		memory_read(target->pid, all->gs[i].g + layout->g_gopc, &gopc, sizeof(gopc));
		starts += startpc != 0;
		begun += startpc && begins_at_function(target, startpc);
		creators += gopc != 0;
		created += gopc && is_in_function(target->functab, gopc);
	}
	if (!enough(all, begun, starts) || (!all->proven && !starts))
		return no_proof(err, "goroutines do not begin at functions");
	return enough(all, created, creators) && (all->proven || creators)
		       ? 0
		       : no_proof(err, "goroutines were not created by functions");
}

static bool reason_is_legal(const struct reasons *waits, const struct log_g *lg)
{
	return lg->waitreason < waits->n && (lg->waitreason == 0 || waits->texts[lg->waitreason]);
}

static int prove_goroutines(const struct collected *all, struct error *err)
{
	const struct reasons *waits = release_reasons(all->target->image->release, REASON_WAIT);
	size_t legal = 0, waiting = 0, reasons = 0, named = 0;
	struct map64 ids = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < all->ngs; i++) {
		const struct log_g *lg = &all->gs[i];

		if (!lg->goid || lg->goid >= LAST_GOID || map64_get(&ids, lg->goid))
			rc = no_proof(err, "ids of goroutines are not unique");
		else if (map64_set(&ids, lg->goid, 1))
			rc = error_set(err, ENOMEM, "out of memory");
		legal += status_is_legal(lg->status);
		if (lg->status != G_STATUS_WAITING)
			continue;
		waiting++;
		reasons += reason_is_legal(waits, lg);
		named += lg->waitreason != 0;
	}
	map64_free(&ids);
	if (rc)
		return rc;
	if (!enough(all, legal, all->ngs))
		return no_proof(err, "goroutines have invalid states");
	/* Go starts some goroutines of its own before main, and most of them wait. */
	if (!all->proven && (all->ngs < 2 || !waiting))
		return no_proof(err, "there are no goroutines");
	if (!enough(all, reasons, waiting))
		return no_proof(err, "goroutines have invalid wait reasons");
	if (all->proven ? !enough(all, named, waiting) : named <= waiting / 2)
		return no_proof(err, "goroutines wait without a reason");
	return 0;
}

static const struct log_m *collected_find_m(const struct collected *all, uint64_t m)
{
	for (size_t i = 0; m && i < all->nms; i++) {
		if (all->ms[i].m == m)
			return &all->ms[i];
	}
	return NULL;
}

static bool is_m(const struct collected *all, uint64_t m)
{
	return m == 0 || collected_find_m(all, m);
}

static bool is_p(const struct collected *all, uint64_t p)
{
	for (size_t i = 0; i < all->nps; i++) {
		if (all->ps[i].p == p)
			return true;
	}
	return p == 0;
}

/* Spare Ms for C threads (runtime.extraM) have no thread. */
static int prove_threads(const struct collected *all, struct error *err)
{
	size_t threads = 0, ps = 0;
	struct map64 tids = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < all->nms; i++) {
		const struct log_m *lm = &all->ms[i];

		ps += is_p(all, lm->p) && is_p(all, lm->oldp);
		if (!lm->tid)
			continue;
		threads++;
		if (lm->tid > LAST_TID || map64_get(&tids, lm->tid))
			rc = no_proof(err, "ids of threads are not unique");
		else if (map64_set(&tids, lm->tid, 1))
			rc = error_set(err, ENOMEM, "out of memory");
	}
	map64_free(&tids);
	if (rc)
		return rc;
	if (!threads && !all->proven)
		return no_proof(err, "there are no threads");
	return enough(all, ps, all->nms) ? 0 : no_proof(err, "threads have Ps that do not exist");
}

/*
 * Whether a P has a state that it can have with, or without, an M. From 0: Pidle, Prunning, Psyscall (up to
 * 1.25), Pgcstop, Pdead (Go 1.26 runtime/runtime2.go).
 */
static bool p_state_is_right(const struct log_p *lp)
{
	return lp->m ? lp->status == 1 || lp->status == 3 : lp->status != 1;
}

static int prove_processors(const struct collected *all, struct error *err)
{
	size_t ms = 0, right = 0, owned = 0, mutual = 0;

	if (all->proven && all->nps == 0) /* the program has just started */
		return 0;
	if (all->nps == 0 || all->gomaxprocs == 0 || all->gomaxprocs > all->nps)
		return no_proof(err, "there are fewer Ps than GOMAXPROCS");
	for (size_t i = 0; i < all->nps; i++) {
		if (all->ps[i].id != i)
			return no_proof(err, "Ps have the wrong ids");
		if (all->ps[i].status > 4)
			return no_proof(err, "Ps have invalid states");
		const struct log_m *lm = collected_find_m(all, all->ps[i].m);

		ms += is_m(all, all->ps[i].m);
		right += p_state_is_right(&all->ps[i]);
		owned += lm != NULL;
		mutual += lm && lm->p == all->ps[i].p;
	}
	if (!enough(all, ms, all->nps))
		return no_proof(err, "Ps have threads that do not exist");
	if (!enough(all, right, all->nps))
		return no_proof(err, "Ps have states that their threads contradict");
	/* Ps move between threads while they are read, so a busy program may have no such pair. */
	return all->proven || !owned || mutual ? 0
					       : no_proof(err, "Ps and threads do not point to each other");
}

static bool points_back(const struct target *target, uint64_t m, uint32_t field, size_t *found)
{
	uint64_t g = 0, back = 0;

	if (memory_read(target->pid, m + field, &g, sizeof(g)) || !g)
		return false;
	++*found;
	return memory_read(target->pid, g + target->layout.g_m, &back, sizeof(back)) == 0 && back == m;
}

/* The goroutines that an M has for itself belong to it as long as it exists. */
static int prove_links(const struct collected *all, struct error *err)
{
	const struct go_layout *layout = &all->target->layout;
	size_t g0s = 0, own = 0, gsignals = 0, signals = 0;

	for (size_t i = 0; i < all->nms && i < MOST_MS; i++) {
		own += points_back(all->target, all->ms[i].m, layout->m_g0, &g0s);
		signals += points_back(all->target, all->ms[i].m, layout->m_gsignal, &gsignals);
	}
	if (!enough(all, own, g0s))
		return no_proof(err, "threads and their first goroutines do not point to each other");
	return enough(all, signals, gsignals)
		       ? 0
		       : no_proof(err, "threads and their signal goroutines do not point to each other");
}

static int prove_once(const struct target *target, bool proven, struct error *err)
{
	static int (*const proofs[])(const struct collected *all, struct error *err) = {
		prove_goroutines, prove_heads, prove_threads, prove_processors, prove_links};
	struct collected all = {.target = target, .proven = proven};
	int rc = proof_take_snapshot(target, &all, err);

	for (size_t i = 0; rc == 0 && i < sizeof(proofs) / sizeof(proofs[0]); i++)
		rc = proofs[i](&all, err);
	free(all.gs);
	free(all.ms);
	free(all.ps);
	return rc;
}

/* A running process changes while it is read, so a single attempt may fail for another reason than most. */
static const struct error *most_frequent(const struct error *reasons, unsigned n)
{
	unsigned best = 0, most = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned times = 0;

		for (unsigned k = 0; k < n; k++)
			times += strcmp(reasons[i].text, reasons[k].text) == 0;
		if (times > most) {
			most = times;
			best = i;
		}
	}
	return &reasons[best];
}

int target_prove(const struct target *target, bool proven, struct error *err)
{
	struct error reasons[TRIES];
	int rc = -EBADMSG;

	for (unsigned i = 0; i < TRIES; i++) {
		error_set(&reasons[i], ENOMEM, "out of memory"); /* for failures that set no line */
		rc = prove_once(target, proven, &reasons[i]);
		if (rc == 0)
			return 0;
		*err = reasons[i];
		if (rc == -ESRCH || rc == -EPERM || rc == -ENOMEM)
			return rc;
		/* A program may lose its CPU while it changes its Ps: gives it 1, 4, 16, 64 and 256 ms. */
		if (proven && i + 1 < TRIES)
			usleep(1000u << 2 * i);
	}
	*err = *most_frequent(reasons, TRIES);
	return rc;
}
