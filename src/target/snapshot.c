/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The goroutines that exist, read in batches: their structs, then the stacks
 * of those that have stopped, then the structs again, so that a stack counts
 * only if its goroutine did not move meanwhile.
 */
#include "target/private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bpf/stack_hash.h"
#include "target/alloc.h"
#include "target/heap.h"
#include "target/memory.h"
#include "target/park.h"
#include "target/reasons.h"
#include "target/stack.h"
#include "target/threads.h"
#include "target/walk.h"
#include "target/remote.h"

#define BATCH 1024u
/* Most stacks of parked goroutines are shorter; the rest is read when the walk gets there. */
#define FIRST_CHUNK 2048u
/* A slice of pointers to goroutines; more of them would need as many gigabytes of stack. */
#define MAX_GS         (16u << 20)
#define MAX_STACK      (1ull << 30) /* the runtime's own ceiling on amd64 */
#define GS_A_RECORD    16384u
#define AREAS_A_RECORD 32768u
#define TRIES          5

struct walked { /* one goroutine of the batch */
	uint64_t g;
	struct g_view view;
	bool exists;
	uint16_t flags;
	unsigned n; /* PCs, 0 = no stack */
	uint64_t pcs[STACK_DEPTH];
};

struct target_snapshot {
	const struct target *target;
	log_sink sink;
	void *ctx;
	struct memory_batch batch;
	struct log_snapshot head;
	struct walker walker;
	struct threads threads;
	struct log_heap heap;
	uint64_t *addresses; /* of all gs */
	size_t naddresses, at;
	struct log_g *gs;
	size_t ngs;
	struct areas areas;          /* of memory, if they are wanted */
	struct map64 sent;           /* hashes of stacks that are in the log */
	struct walked *walked;       /* BATCH of them */
	struct memory_piece *pieces; /* BATCH of them */
};

uint64_t target_stack_hash(const uint64_t *pcs, unsigned n, unsigned skip)
{
	uint64_t hash = stack_hash_begin(skip);

	for (unsigned i = 0; i < n; i++)
		hash = stack_hash_add(hash, pcs[i]);
	return stack_hash_end(hash, n);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* The slice runtime.allgs grows and moves; read until pointer and length agree before and after. */
static int read_addresses(struct target_snapshot *snap)
{
	const struct target *target = snap->target;
	uint64_t slice[3], again[3];

	for (int i = 0; i < TRIES; i++) {
		int rc = memory_read(target->pid, target->allgs, slice, sizeof(slice));

		if (rc)
			return rc;
		if (slice[1] > MAX_GS || slice[1] > slice[2])
			continue;
		snap->naddresses = slice[1];
		snap->addresses = malloc(slice[1] * sizeof(uint64_t) + 1);
		if (!snap->addresses)
			return -ENOMEM;
		rc = memory_read(target->pid, slice[0], snap->addresses, slice[1] * sizeof(uint64_t));
		if (rc == 0)
			rc = memory_read(target->pid, target->allgs, again, sizeof(again));
		/* A longer one in the same place is fine: what was read of it stays. */
		if (rc == 0 && slice[0] == again[0])
			return 0;
		free(snap->addresses);
		snap->addresses = NULL;
		if (rc && rc != -EFAULT)
			return rc;
	}
	return -EAGAIN;
}

static void add_piece(struct target_snapshot *snap, size_t *n, uint64_t address, size_t size, size_t owner)
{
	snap->pieces[(*n)++] = (struct memory_piece){
		.address = address,
		.size = (uint32_t)size,
		.owner = (uint32_t)owner,
	};
}

static uint8_t wait_reason(const struct target *target, const struct g_view *view)
{
	if (target->go_minor > 10)
		return view->waitreason;
	return target_wait_reason(target, view->wait_text, view->wait_len);
}

/*
 * Up to Go 1.6 a goroutine that is locked to its thread keeps its M while it is
 * parked (dropg, runtime/proc.go); later an M says that it runs on.
 */
static bool is_parked_with_m(const struct target *target, const struct g_view *view)
{
	const struct reasons *waits = release_reasons(target->image->release, REASON_WAIT);

	return target->go_minor < 7 && view->status == G_STATUS_WAITING && view->m &&
	       park_is_parked(waits->texts[wait_reason(target, view)]);
}

static void read_view(const struct target *target, const uint8_t *bytes, struct g_view *view)
{
	g_view_read(&target->layout, bytes, view);
	if (is_parked_with_m(target, view))
		view->m = 0;
}

static int read_structs(struct target_snapshot *snap, const uint64_t *addresses, size_t count)
{
	size_t size = g_view_size(&snap->target->layout), n = 0;
	int rc;

	for (size_t i = 0; i < count; i++) {
		snap->walked[i].g = addresses[i];
		snap->walked[i].exists = false;
		snap->walked[i].n = 0;
		add_piece(snap, &n, addresses[i], size, i);
	}
	rc = memory_gather(&snap->batch, snap->pieces, n);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct walked *walked = &snap->walked[snap->pieces[i].owner];

		if (!snap->pieces[i].bytes)
			continue;
		read_view(snap->target, snap->pieces[i].bytes, &walked->view);
		/* One that ended may keep its stack for the next. */
		if (snap->target->alloc)
			rc = areas_add_stack(&snap->areas, walked->view.stack_lo, walked->view.stack_hi);
		walked->exists = walked->view.status != G_STATUS_IDLE &&
				 walked->view.status != G_STATUS_DEAD &&
				 walked->view.status != G_STATUS_DEADEXTRA;
	}
	return rc;
}

static int read_stacks(struct target_snapshot *snap, size_t count)
{
	size_t n = 0;
	int rc;

	for (size_t i = 0; i < count; i++) {
		const struct g_view *view = &snap->walked[i].view;
		uint64_t room = view->stack_hi - view->sp;

		if (snap->walked[i].exists && g_view_has_stack(view) &&
		    view->stack_hi - view->stack_lo <= MAX_STACK)
			add_piece(snap, &n, view->sp, room < FIRST_CHUNK ? room : FIRST_CHUNK, i);
	}
	rc = memory_gather(&snap->batch, snap->pieces, n);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct walked *walked = &snap->walked[snap->pieces[i].owner];

		if (snap->pieces[i].bytes)
			walked->n = walker_walk(&snap->walker, walked->g, &walked->view, &snap->pieces[i],
						walked->pcs, &walked->flags);
	}
	return rc;
}

/* Drops the stacks of goroutines that moved, and takes over their new state. */
static int check_again(struct target_snapshot *snap, size_t count)
{
	size_t size = g_view_size(&snap->target->layout), n = 0;
	int rc;

	for (size_t i = 0; i < count; i++) {
		if (snap->walked[i].n)
			add_piece(snap, &n, snap->walked[i].g, size, i);
	}
	rc = memory_gather(&snap->batch, snap->pieces, n);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct walked *walked = &snap->walked[snap->pieces[i].owner];
		struct g_view now;

		if (snap->pieces[i].bytes) {
			read_view(snap->target, snap->pieces[i].bytes, &now);
			if (g_view_same(&walked->view, &now))
				continue;
		}
		walked->n = 0;
	}
	return rc;
}

static int send_stack(struct target_snapshot *snap, const struct walked *walked, uint64_t hash)
{
	uint64_t buffer[sizeof(struct raw_stack) / sizeof(uint64_t) + STACK_DEPTH];
	struct raw_stack head = {.n = walked->n, .site = SITE_STACK, .flags = walked->flags, .hash = hash};
	struct log_record record = {
		.type = LOG_STACK,
		.size = (uint32_t)(sizeof(head) + walked->n * sizeof(uint64_t)),
		.data = buffer,
	};
	int rc;

	if (map64_get(&snap->sent, hash))
		return 0;
	memcpy(buffer, &head, sizeof(head));
	memcpy((char *)buffer + sizeof(head), walked->pcs, walked->n * sizeof(uint64_t));
	rc = snap->sink(snap->ctx, &record);
	return rc ? rc : map64_set(&snap->sent, hash, 1);
}

/* Whether a mark assist is open is known from Go 1.22 on. */
static uint8_t assist_of(const struct target_snapshot *snap, const struct g_view *view)
{
	if (snap->target->layout.g_in_mark_assist == LAYOUT_ABSENT)
		return 0;
	return view->assists ? LOG_ASSIST_OPEN : LOG_ASSIST_NONE;
}

/* Go 1.4 does not keep where a goroutine began (g.startpc): the outermost function but runtime.goexit. */
static uint64_t root_function(const struct functab *functab, const struct walked *walked)
{
	uint64_t entry, end;
	const char *name;
	size_t index;

	for (unsigned i = walked->n; i > 0 && i + 2 > walked->n; i--) {
		if (functab_lookup(functab, walked->pcs[i - 1] - 1, &index) ||
		    functab_entry(functab, index, &entry, &end, &name))
			return 0;
		if (strcmp(name, "runtime.goexit") != 0)
			return entry;
	}
	return 0;
}

static int deliver(struct target_snapshot *snap, size_t count)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < count; i++) {
		const struct walked *walked = &snap->walked[i];
		struct log_g *lg = &snap->gs[snap->ngs];

		if (!walked->exists)
			continue;
		*lg = (struct log_g){
			.g = walked->g,
			.goid = walked->view.goid,
			.m = walked->view.m,
			.startpc = walked->view.startpc,
			.status = walked->view.status,
			.tid = threads_tid(&snap->threads, walked->view.m),
			.waitreason = wait_reason(snap->target, &walked->view),
			.assist = assist_of(snap, &walked->view),
		};
		if (!lg->startpc)
			lg->startpc = root_function(snap->target->functab, walked);
		if (walked->n) {
			lg->stack = target_stack_hash(walked->pcs, walked->n, 0);
			rc = send_stack(snap, walked, lg->stack);
		}
		snap->ngs++;
	}
	return rc;
}

static int read_batch(struct target_snapshot *snap, const uint64_t *addresses, size_t count)
{
	int rc = read_structs(snap, addresses, count);

	if (rc == 0)
		rc = read_stacks(snap, count);
	if (rc == 0)
		rc = check_again(snap, count);
	if (rc == 0)
		rc = deliver(snap, count);
	return rc;
}

static int begin_goroutines(struct target_snapshot *snap)
{
	int rc = read_addresses(snap);

	if (rc)
		return rc;
	snap->gs = malloc(snap->naddresses * sizeof(*snap->gs) + 1);
	snap->walked = calloc(BATCH, sizeof(*snap->walked));
	snap->pieces = calloc(BATCH, sizeof(*snap->pieces));
	return snap->gs && snap->walked && snap->pieces ? 0 : -ENOMEM;
}

static int fail(const struct target_snapshot *snap, int rc, struct error *err)
{
	return threads_fail(snap->target, rc, "its goroutines (runtime.allgs)", err);
}

static int begin(struct target_snapshot *snap, struct error *err)
{
	int rc = heap_read(snap->target, &snap->heap);

	if (rc)
		return threads_fail(snap->target, rc, "its heap's state (runtime.gcController)", err);
	rc = threads_read(snap->target, &snap->batch, true, &snap->threads, err);
	if (rc)
		return rc;
	rc = walker_init(&snap->walker, snap->target);
	if (rc == 0)
		rc = begin_goroutines(snap);
	return rc ? fail(snap, rc, err) : 0;
}

int target_snapshot_begin(const struct target *target, log_sink sink, void *ctx, struct target_snapshot **out,
			  struct error *err)
{
	struct target_snapshot *snap = calloc(1, sizeof(*snap));
	int rc;

	if (!snap)
		return error_set(err, ENOMEM, "out of memory");
	*snap = (struct target_snapshot){
		.target = target,
		.sink = sink,
		.ctx = ctx,
		.batch = {.pid = target->pid},
		.head = {.time_before = now_ns()},
	};
	rc = target->remote ? target->remote->snapshot_begin(target, sink, ctx, err) : begin(snap, err);
	if (rc)
		target_snapshot_free(snap);
	else
		*out = snap;
	return rc;
}

/* A batch of spans, once there are no more goroutines. */
static int read_areas(struct target_snapshot *snap, struct error *err)
{
	int rc = snap->target->alloc ? areas_read_spans(snap->target, &snap->batch, &snap->areas) : 0;

	return rc < 0 ? threads_fail(snap->target, rc, "its heap (runtime.mheap_.allspans)", err) : rc;
}

int target_snapshot_read(struct target_snapshot *snap, struct error *err)
{
	size_t left = snap->naddresses - snap->at, count = left < BATCH ? left : BATCH;
	int rc;

	if (snap->target->remote)
		return snap->target->remote->snapshot_read(snap->target, err);
	rc = read_batch(snap, snap->addresses + snap->at, count);
	if (rc)
		return fail(snap, rc, err);
	snap->at += count;
	if (count < left)
		return 1;
	rc = read_areas(snap, err);
	if (rc)
		return rc;
	snap->head.time_after = now_ns();
	snap->head.gomaxprocs = snap->threads.gomaxprocs;
	return 0;
}

static int put(const struct target_snapshot *snap, enum log_type type, const void *data, size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = data};

	return snap->sink(snap->ctx, &record);
}

int target_snapshot_put(struct target_snapshot *snap, const uint32_t markers[2])
{
	const struct threads *threads = &snap->threads;
	int rc;

	if (snap->target->remote)
		return snap->target->remote->snapshot_put(snap->target, markers);
	snap->head.marker_before = markers[0];
	snap->head.marker_after = markers[1];
	rc = put(snap, LOG_SNAPSHOT, &snap->head, sizeof(snap->head));
	if (rc == 0)
		rc = put(snap, LOG_HEAP, &snap->heap, sizeof(snap->heap));
	for (size_t at = 0; rc == 0 && at < snap->ngs; at += GS_A_RECORD) {
		size_t n = snap->ngs - at < GS_A_RECORD ? snap->ngs - at : GS_A_RECORD;

		rc = put(snap, LOG_GS, snap->gs + at, n * sizeof(*snap->gs));
	}
	if (rc == 0)
		rc = put(snap, LOG_PS, threads->ps, threads->nps * sizeof(*threads->ps));
	if (rc == 0)
		rc = put(snap, LOG_MS, threads->ms, threads->nms * sizeof(*threads->ms));
	for (size_t at = 0; rc == 0 && at < snap->areas.n; at += AREAS_A_RECORD) {
		size_t n = snap->areas.n - at < AREAS_A_RECORD ? snap->areas.n - at : AREAS_A_RECORD;

		rc = put(snap, LOG_AREAS, snap->areas.all + at, n * sizeof(*snap->areas.all));
	}
	if (rc == 0)
		rc = put(snap, LOG_SNAPSHOT_END, NULL, 0);
	return rc;
}

void target_snapshot_free(struct target_snapshot *snap)
{
	if (!snap)
		return;
	if (snap->target->remote)
		snap->target->remote->snapshot_free(snap->target);
	memory_batch_free(&snap->batch);
	threads_free(&snap->threads);
	walker_free(&snap->walker);
	map64_free(&snap->sent);
	areas_free(&snap->areas);
	free(snap->addresses);
	free(snap->gs);
	free(snap->walked);
	free(snap->pieces);
	free(snap);
}
