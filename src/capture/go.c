/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A Go program: probes in its runtime, snapshots out of its memory. */
#include "capture/backend.h"

#include "bpf/gotrace.skel.h"
#include "capture/ids.h"
#include "capture/look.h"
#include "capture/own_sites.h"
#include "target/namespaces.h"

enum { HEAP_MS = 10 }; /* between two readings of the heap's size */

static int load(struct capture *capture, struct error *err)
{
	const struct capture_options *options = &capture->options;
	struct bpf_options wanted = {
		.features = options->features,
		.layout = &options->target->layout,
		.alloc_layout = &options->target->alloc_layout,
		.go_minor = options->target->go_minor,
		.cgo = options->target->cgo,
		.inner_tids = !namespace_is_initial(options->pid),
		.ring_bytes = options->ring_bytes,
		.rings = options->rings,
		.syscalls = options->syscalls && !options->probe_only,
		.samples = options->sample_hz && !options->probe_only,
		.probe_only = options->probe_only,
		.plan = options->plan,
	};

	int rc = ids_outer(options->features, options->pid, &wanted.tgid, err);

	if (rc)
		return rc;
	target_park_skips(options->target, wanted.park_skips);
	target_wait_texts(options->target, wanted.wait_texts);
	return bpf_load(&capture->bpf, &wanted, err);
}

static int calibrate(struct capture *capture, struct error *err)
{
	uint64_t bare = own_calibration_ns(), probed;
	struct attachments *attachments = &capture->bpf.attachments;
	int rc = attach_self(attachments, capture->bpf.object, "calibrate", own_calibration, err);

	if (rc)
		return rc;
	probed = own_calibration_ns();
	/* The probe stays: nothing calls the function any more, and taking it off would wait for the kernel.
	 */
	capture->stats.probe_hit_ns = probed > bare ? probed - bare : 0;
	return attach_self(attachments, capture->bpf.object, "marker", own_marker, err);
}

static int attach(struct capture *capture, struct error *err)
{
	int rc = calibrate(capture, err);

	/* The first hits need them already; a program that is started gets its places later (log_info). */
	if (rc == 0 && !capture->options.spawned)
		bpf_tell_places(&capture->bpf, &capture->options.target->places);
	if (rc == 0)
		rc = look_begin(capture, err);
	capture->stats.probes = capture->options.plan->n;
	return rc;
}

static int log_info(struct capture *capture, struct error *err)
{
	struct target *target = capture->options.target;
	pid_t bound = target->pid;
	int rc;

	if (!bound)
		target->pid = capture->options.pid; /* it ended before it could be looked at */
	bpf_tell_places(&capture->bpf, &target->places);
	rc = target_log_info(target, capture->options.spawned ? LOG_TARGET_SPAWNED : 0, capture->options.sink,
			     capture->options.ctx, err);
	target->pid = bound;
	return rc;
}

/* The target goes on while it is read, which takes a second for a million goroutines. */
static int read_snapshot(struct capture *capture, void **out, struct error *err)
{
	const struct capture_options *options = &capture->options;
	struct target_snapshot *snapshot = NULL;
	int more, rc = target_snapshot_begin(options->target, options->sink, options->ctx, &snapshot, err);

	*out = snapshot;
	if (rc)
		return rc;
	do {
		more = target_snapshot_read(snapshot, err);
		if (more >= 0)
			rc = drain_all(&capture->drain);
	} while (more > 0 && rc >= 0);
	return more < 0 ? more : rc < 0 ? rc : 0;
}

static int put_snapshot(struct capture *capture, void *snapshot, const uint32_t markers[2], struct error *err)
{
	(void)capture;
	(void)err;
	return target_snapshot_put(snapshot, markers);
}

static void free_snapshot(void *snapshot)
{
	target_snapshot_free(snapshot);
}

static int read_ms(struct capture *capture, struct error *err)
{
	return target_read_ms(capture->options.target, capture->ms, MAX_MS, err);
}

/* Where the heap's growing is not probed, its size is read instead. */
static int log_heap_live(struct capture *capture, uint64_t now)
{
	struct log_heap_live live = {.time = now};

	if (look_at_heap(capture) || capture->shed.level == LEVEL_OFF || now < capture->next_heap_ns ||
	    !capture->options.target->pid)
		return 0;
	capture->next_heap_ns = now + HEAP_MS * 1000000ull;
	if (target_heap_live(capture->options.target, &live.bytes))
		return 0; /* it is ending */
	return drain_put(&capture->drain, LOG_HEAP_LIVE, &live, sizeof(live));
}

static int adapt(struct capture *capture, uint64_t now, struct error *err)
{
	int rc = look_adapt(capture, now, err);

	return rc ? rc : log_heap_live(capture, now);
}

const struct backend go_backend = {
	.load = load,
	.attach = attach,
	.log_info = log_info,
	.read_snapshot = read_snapshot,
	.put_snapshot = put_snapshot,
	.free_snapshot = free_snapshot,
	.read_ms = read_ms,
	.adapt = adapt,
};
