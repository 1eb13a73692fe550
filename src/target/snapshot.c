/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads the existing goroutines in batches: their structs, then the stacks of those that have stopped, then
 * the structs again. A stack is used only if its goroutine did not run in between.
 */
#include "target/private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/stack_hash.h"
#include "target/alloc.h"
#include "target/awaited.h"
#include "target/details.h"
#include "target/heap.h"
#include "target/labels.h"
#include "target/memory.h"
#include "target/reasons.h"
#include "target/stack.h"
#include "target/threads.h"
#include "target/walk.h"
#include "target/remote.h"
#include "util/clock.h"

#define BATCH 1024u
/* Most stacks of parked goroutines are shorter. The walk reads more on demand. */
#define FIRST_CHUNK 2048u
/* Limit on goroutines, whose smallest stacks (2 KiB) would take 32 GiB. */
#define MAX_GS           (16u << 20)
#define MAX_STACK        (1ull << 30) /* the runtime's own limit on amd64 */
#define GS_PER_RECORD    16384u
#define AREAS_PER_RECORD 32768u
#define TRIES            5

struct walked { /* a goroutine of the batch */
	uint64_t g;
	struct g_view view;
	struct log_g_details details; /* if requested */
	uint64_t labels;              /* g.labels */
	uint64_t awaited;             /* AWAITED(); 0 = unknown, or details not requested */
	bool exists;
	uint16_t flags;
	unsigned n; /* number of PCs, 0 = no stack */
	uint64_t pcs[STACK_DEPTH];
};

struct target_snapshot {
	const struct target *target;
	log_sink sink;
	void *ctx;
	struct memory_batch batch;
	struct log_snapshot head;
	struct walker walker;
	struct go_threads threads;
	struct log_heap heap;
	uint64_t *addresses; /* of all gs */
	size_t naddresses, at;
	struct log_g *gs;
	size_t ngs;
	uint32_t most;                  /* limit on goroutines, read with details; 0: all, without */
	bool labelled;                  /* log only goroutines' labels */
	struct log_g_details *details;  /* ngs entries, if requested */
	struct labels *labels;          /* if requested and the release has them */
	struct log_g_labels *labels_of; /* nlabels_of entries: goroutines with labels, if labelled */
	size_t nlabels_of;
	struct areas areas;          /* memory in use, if requested */
	struct map64 sent;           /* hashes of stacks already logged */
	struct walked *walked;       /* BATCH entries */
	struct memory_piece *pieces; /* BATCH entries */
};

uint64_t target_stack_hash(const uint64_t *pcs, unsigned n, unsigned skip)
{
	uint64_t hash = stack_hash_begin(skip);

	for (unsigned i = 0; i < n; i++)
		hash = stack_hash_add(hash, pcs[i]);
	return stack_hash_end(hash, n);
}

/* runtime.allgs grows and moves. Retries until its address is the same before and after the read. */
static int target_snapshot_read_addresses(struct target_snapshot *snap)
{
	const struct target *target = snap->target;
	uint64_t slice[3], again[3];

	for (int i = 0; i < TRIES; i++) {
		int rc = memory_read(target->pid, target->allgs, slice, sizeof(slice));

		if (rc)
			return rc;
		if (slice[1] > MAX_GS || slice[1] > slice[2])
			continue;
		snap->naddresses = snap->most && slice[1] > snap->most ? snap->most : slice[1];
		snap->head.left_out = (uint32_t)(slice[1] - snap->naddresses);
		snap->addresses = malloc(snap->naddresses * sizeof(uint64_t) + 1);
		if (!snap->addresses)
			return -ENOMEM;
		rc = memory_read(target->pid, slice[0], snap->addresses, snap->naddresses * sizeof(uint64_t));
		if (rc == 0)
			rc = memory_read(target->pid, target->allgs, again, sizeof(again));
		/* If only the length has grown, what was read is still valid. */
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

static uint8_t target_snapshot_wait_reason(const struct target *target, const struct g_view *view)
{
	if (target->go_minor > 10)
		return view->waitreason;
	return target_wait_reason(target, view->wait_text, view->wait_len);
}

/*
 * Up to Go 1.6 a goroutine that is locked to its thread keeps its M while it is parked (dropg,
 * runtime/proc.go). In later releases a waiting goroutine with an M is running.
 */
static bool is_parked_with_m(const struct target *target, const struct g_view *view)
{
	const struct reasons *waits = release_reasons(target->image->release, REASON_WAIT);

	return target->go_minor < 7 && view->status == G_STATUS_WAITING && view->m &&
	       park_is_parked(waits->texts[target_snapshot_wait_reason(target, view)]);
}

static void read_view(const struct target *target, const uint8_t *bytes, struct g_view *view)
{
	g_view_read(&target->layout, bytes, view);
	if (is_parked_with_m(target, view))
		view->m = 0;
}

/* Whether details are read. They include the address of the labels. */
static bool has_details(const struct target_snapshot *snap)
{
	return snap->most || snap->labelled;
}

/* Number of bytes of a g to read. */
static size_t struct_size(const struct target_snapshot *snap)
{
	size_t size = g_view_size(&snap->target->layout);
	size_t details = has_details(snap) ? details_size(snap->target) : 0;

	return size > details ? size : details;
}

static int read_structs(struct target_snapshot *snap, const uint64_t *addresses, size_t count)
{
	size_t size = struct_size(snap), n = 0;
	int rc;

	for (size_t i = 0; i < count; i++) {
		snap->walked[i].g = addresses[i];
		snap->walked[i].exists = false;
		snap->walked[i].n = 0;
		snap->walked[i].labels = 0;
		snap->walked[i].awaited = 0;
		add_piece(snap, &n, addresses[i], size, i);
	}
	rc = memory_gather(&snap->batch, snap->pieces, n);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct walked *walked = &snap->walked[snap->pieces[i].owner];

		if (!snap->pieces[i].bytes)
			continue;
		read_view(snap->target, snap->pieces[i].bytes, &walked->view);
		if (has_details(snap))
			walked->labels = details_read(snap->target, snap->pieces[i].bytes, &walked->details);
		/* A goroutine that has ended may keep its stack for the next one. */
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
		uint64_t available = view->stack_hi - view->sp;

		if (snap->walked[i].exists && g_view_has_stack(view) &&
		    view->stack_hi - view->stack_lo <= MAX_STACK)
			add_piece(snap, &n, view->sp, available < FIRST_CHUNK ? available : FIRST_CHUNK, i);
	}
	rc = memory_gather(&snap->batch, snap->pieces, n);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct walked *walked = &snap->walked[snap->pieces[i].owner];

		if (!snap->pieces[i].bytes)
			continue;
		walked->n = walker_walk(&snap->walker, walked->g, &walked->view, &snap->pieces[i],
					walked->pcs, &walked->flags);
		if (snap->most)
			walked->awaited = awaited_read(snap->target, &walked->view, &snap->pieces[i]);
	}
	return rc;
}

/* Reads the labels of goroutines that exist. LOG_G_LABELS_LOST marks those that cannot be read. */
static int read_labels(struct target_snapshot *snap, size_t count)
{
	uint64_t addresses[BATCH] = {0};
	uint32_t numbers[BATCH] = {0};
	int rc;

	if (!snap->labels)
		return 0;
	for (size_t i = 0; i < count; i++)
		addresses[i] = snap->walked[i].exists ? snap->walked[i].labels : 0;
	rc = labels_read(snap->labels, addresses, count, numbers);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		struct log_g_details *details = &snap->walked[i].details;

		details->labels = numbers[i] == LABELS_LOST ? 0 : numbers[i];
		if (numbers[i] == LABELS_LOST)
			details->flags |= LOG_G_LABELS_LOST;
	}
	return rc;
}

/* Discards labels that the goroutine no longer has: their memory may have been reused. */
static void check_labels(struct target_snapshot *snap, struct walked *walked, const uint8_t *bytes)
{
	struct log_g_details now;

	if (!walked->labels || (bytes && details_read(snap->target, bytes, &now) == walked->labels &&
				now.goid == walked->details.goid))
		return;
	walked->details.labels = 0;
	walked->details.flags |= LOG_G_LABELS_LOST;
}

/* Discards stacks of goroutines that have run since, and labels that have changed. */
static int check_again(struct target_snapshot *snap, size_t count)
{
	size_t size = struct_size(snap), n = 0;
	int rc;

	for (size_t i = 0; i < count; i++) {
		if (snap->walked[i].n || (snap->walked[i].exists && snap->walked[i].labels))
			add_piece(snap, &n, snap->walked[i].g, size, i);
	}
	rc = memory_gather(&snap->batch, snap->pieces, n);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct walked *walked = &snap->walked[snap->pieces[i].owner];
		struct g_view now;

		check_labels(snap, walked, snap->pieces[i].bytes);
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

/* g.inMarkAssist exists from Go 1.22 on. */
static uint8_t assist_of(const struct target_snapshot *snap, const struct g_view *view)
{
	if (snap->target->layout.g_in_mark_assist == LAYOUT_ABSENT)
		return 0;
	return view->assists ? LOG_ASSIST_OPEN : LOG_ASSIST_NONE;
}

/* Go 1.4 has no g.startpc: the goroutine's function is the outermost one below runtime.goexit. */
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

static void deliver_labels(struct target_snapshot *snap, const struct walked *walked)
{
	const struct log_g_details *details = &walked->details;
	bool lost = details->flags & LOG_G_LABELS_LOST;

	if (snap->labels_of && (details->labels || lost))
		snap->labels_of[snap->nlabels_of++] = (struct log_g_labels){
			.g = walked->g,
			.goid = details->goid,
			.labels = details->labels,
			.flags = lost ? LOG_G_LABELS_LOST : 0,
		};
}

static int target_snapshot_deliver(struct target_snapshot *snap, size_t count)
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
			.waitreason = target_snapshot_wait_reason(snap->target, &walked->view),
			.assist = assist_of(snap, &walked->view),
		};
		if (snap->details)
			snap->details[snap->ngs] = walked->details;
		deliver_labels(snap, walked);
		if (!lg->startpc)
			lg->startpc = root_function(snap->target->functab, walked);
		if (walked->n) {
			log_g_set_awaited(lg, walked->awaited);
			lg->stack = target_stack_hash(walked->pcs, walked->n, 0);
			rc = send_stack(snap, walked, lg->stack);
		}
		snap->ngs++;
	}
	return rc;
}

static int target_snapshot_read_batch(struct target_snapshot *snap, const uint64_t *addresses, size_t count)
{
	int rc = read_structs(snap, addresses, count);

	if (rc == 0)
		rc = read_stacks(snap, count);
	if (rc == 0)
		rc = read_labels(snap, count);
	if (rc == 0)
		rc = check_again(snap, count);
	if (rc == 0)
		rc = target_snapshot_deliver(snap, count);
	return rc;
}

static int begin_details(struct target_snapshot *snap)
{
	if (!has_details(snap))
		return 0;
	if (snap->most)
		snap->details = malloc(snap->naddresses * sizeof(*snap->details) + 1);
	else
		snap->labels_of = malloc(snap->naddresses * sizeof(*snap->labels_of) + 1);
	if (!snap->details && !snap->labels_of)
		return -ENOMEM;
	if (!labels_are_known(snap->target))
		return 0;
	snap->labels = labels_new(snap->target->pid, snap->target->go_minor, snap->sink, snap->ctx);
	return snap->labels ? 0 : -ENOMEM;
}

static int begin_goroutines(struct target_snapshot *snap)
{
	int rc = target_snapshot_read_addresses(snap);

	if (rc == 0)
		rc = begin_details(snap);
	if (rc)
		return rc;
	snap->gs = malloc(snap->naddresses * sizeof(*snap->gs) + 1);
	snap->walked = calloc(BATCH, sizeof(*snap->walked));
	snap->pieces = calloc(BATCH, sizeof(*snap->pieces));
	return snap->gs && snap->walked && snap->pieces ? 0 : -ENOMEM;
}

static int snapshot_fail(const struct target_snapshot *snap, int rc, struct error *err)
{
	return threads_fail(snap->target, rc, "its goroutines (runtime.allgs)", err);
}

static int snapshot_begin_collecting(struct target_snapshot *snap, struct error *err)
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
	return rc ? snapshot_fail(snap, rc, err) : 0;
}

static int snapshot_begin(const struct target *target, uint32_t most, bool labelled, log_sink sink, void *ctx,
			  struct target_snapshot **out, struct error *err)
{
	struct target_snapshot *snap = calloc(1, sizeof(*snap));
	int rc;

	if (!snap)
		return error_set(err, ENOMEM, "out of memory");
	*snap = (struct target_snapshot){
		.target = target,
		.sink = sink,
		.ctx = ctx,
		.most = most,
		.labelled = labelled,
		.batch = {.pid = target->pid},
		.head = {.time_before = now_ns()},
	};
	rc = target->remote ? target->remote->snapshot_begin(target, most, labelled, sink, ctx, err)
			    : snapshot_begin_collecting(snap, err);
	if (rc)
		target_snapshot_free(snap);
	else
		*out = snap;
	return rc;
}

int target_snapshot_begin(const struct target *target, bool labelled, log_sink sink, void *ctx,
			  struct target_snapshot **out, struct error *err)
{
	return snapshot_begin(target, 0, labelled, sink, ctx, out, err);
}

int target_snapshot_begin_detailed(const struct target *target, uint32_t most, log_sink sink, void *ctx,
				   struct target_snapshot **out, struct error *err)
{
	return snapshot_begin(target, most, false, sink, ctx, out, err);
}

/* Reads a batch of spans, after all goroutines. */
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
	rc = target_snapshot_read_batch(snap, snap->addresses + snap->at, count);
	if (rc)
		return snapshot_fail(snap, rc, err);
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

static int snapshot_put(const struct target_snapshot *snap, enum log_type type, const void *data, size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = data};

	return snap->sink(snap->ctx, &record);
}

int target_snapshot_put(struct target_snapshot *snap, const uint32_t markers[2])
{
	const struct go_threads *threads = &snap->threads;
	int rc;

	if (snap->target->remote)
		return snap->target->remote->snapshot_put(snap->target, markers);
	snap->head.marker_before = markers[0];
	snap->head.marker_after = markers[1];
	rc = snapshot_put(snap, LOG_SNAPSHOT, &snap->head, sizeof(snap->head));
	if (rc == 0)
		rc = snapshot_put(snap, LOG_HEAP, &snap->heap, sizeof(snap->heap));
	for (size_t at = 0; rc == 0 && at < snap->ngs; at += GS_PER_RECORD) {
		size_t n = snap->ngs - at < GS_PER_RECORD ? snap->ngs - at : GS_PER_RECORD;

		rc = snapshot_put(snap, LOG_GS, snap->gs + at, n * sizeof(*snap->gs));
	}
	for (size_t at = 0; rc == 0 && snap->details && at < snap->ngs; at += GS_PER_RECORD) {
		size_t n = snap->ngs - at < GS_PER_RECORD ? snap->ngs - at : GS_PER_RECORD;

		rc = snapshot_put(snap, LOG_G_DETAILS, snap->details + at, n * sizeof(*snap->details));
	}
	for (size_t at = 0; rc == 0 && at < snap->nlabels_of; at += GS_PER_RECORD) {
		size_t n = snap->nlabels_of - at < GS_PER_RECORD ? snap->nlabels_of - at : GS_PER_RECORD;

		rc = snapshot_put(snap, LOG_G_LABELS, snap->labels_of + at, n * sizeof(*snap->labels_of));
	}
	if (rc == 0)
		rc = snapshot_put(snap, LOG_PS, threads->ps, threads->nps * sizeof(*threads->ps));
	if (rc == 0)
		rc = snapshot_put(snap, LOG_MS, threads->ms, threads->nms * sizeof(*threads->ms));
	for (size_t at = 0; rc == 0 && at < snap->areas.n; at += AREAS_PER_RECORD) {
		size_t n = snap->areas.n - at < AREAS_PER_RECORD ? snap->areas.n - at : AREAS_PER_RECORD;

		rc = snapshot_put(snap, LOG_AREAS, snap->areas.all + at, n * sizeof(*snap->areas.all));
	}
	if (rc == 0)
		rc = snapshot_put(snap, LOG_SNAPSHOT_END, NULL, 0);
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
	free(snap->details);
	labels_free(snap->labels);
	free(snap->labels_of);
	free(snap->walked);
	free(snap->pieces);
	free(snap);
}
