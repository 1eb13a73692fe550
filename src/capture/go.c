/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The backend for Go programs: probes in the runtime, snapshots from memory. */
#include "capture/backend.h"

#include <errno.h>

#include "bpf/gotrace.skel.h"
#include "capture/bpf_go.h"
#include "capture/ids.h"
#include "capture/functions.h"
#include "capture/plugins.h"
#include "capture/probe_set.h"
#include "capture/snapshot.h"
#include "target/namespaces.h"

enum {
	HEAP_MS = 10, /* interval between readings of the heap's size */
};

static bool has_functions(const struct capture *capture)
{
	return capture->options.functions && capture->options.functions->nlists;
}

static int go_backend_load(struct capture *capture, struct error *err)
{
	const struct capture_options *options = &capture->options;
	struct bpf_go_options wanted = {
		.features = options->features,
		.layout = &options->target->layout,
		.alloc_layout = &options->target->alloc_layout,
		.go_minor = options->target->go_minor,
		.cgo = options->target->cgo,
		.inner_tids = !namespace_is_initial(options->pid),
		.ring_bytes = options->ring_bytes,
		.rings = options->rings,
		.syscalls = options->syscalls && !options->probe_only,
		.off_cpu = options->off_cpu,
		.cpus = options->cpus,
		.samples = options->sample_hz && !options->probe_only,
		.probe_only = options->probe_only,
		.plan = options->plan,
		.functions = has_functions(capture),
		.requests = has_functions(capture) && options->functions->report[0],
		.values = has_functions(capture) ? options->functions->nvalues : 0,
	};

	int rc = ids_outer(options->features, options->pid, &wanted.tgid, err);

	if (rc)
		return rc;
	plugins_find(capture);
	wanted.plugins = &capture->plugins;
	target_park_skips(options->target, wanted.park_skips);
	target_wait_texts(options->target, wanted.wait_texts);
	rc = bpf_load_go(&capture->bpf, &wanted, err);
	return rc ? rc : attach_by_node(&capture->bpf.attachments, options->node, wanted.tgid, err);
}

/* bare: ns that the calibration function takes without a probe. */
static int calibrate(struct capture *capture, uint64_t bare, struct error *err)
{
	uint64_t probed;
	struct attachments *attachments = &capture->bpf.attachments;
	int rc = attach_self(attachments, capture->bpf.object, "empty", own_calibration, err);

	if (rc)
		return rc;
	probed = own_calibration_ns();
	/* The probe stays attached: nothing else calls the function, and removal waits for the kernel. */
	capture->hit_cost.trap_ns = probed > bare ? probed - bare : 0;
	rc = attach_self(attachments, capture->bpf.object, "marker", own_marker, err);
	return rc ? rc : attach_self(attachments, capture->bpf.object, "renew", own_renew, err);
}

static int go_backend_attach(struct capture *capture, struct error *err)
{
	uint64_t bare = own_calibration_ns();
	int rc = calibrate(capture, bare, err);

	if (rc == 0 && has_functions(capture))
		capture->hit_cost.function_ns = functions_calibrate(&capture->bpf, bare);
	/* The first hits need the addresses. A program that gotrace starts gets them later
	 * (go_backend_log_info()). */
	if (rc == 0 && !capture->options.spawned)
		bpf_set_places(&capture->bpf, &capture->options.target->places);
	if (rc == 0)
		rc = control_start(&capture->control, &capture->options.guard, &capture->bpf.attachments,
				   capture->bpf.lease, err);
	if (rc == 0)
		rc = probe_set_begin(capture, err);
	capture->stats.probes = capture->options.plan->n;
	/* From here on a program reports that another plugin is opened. */
	return rc ? rc : plugins_update(capture, err);
}

static int go_backend_log_info(struct capture *capture, struct error *err)
{
	struct target *target = capture->options.target;
	pid_t bound = target->pid;
	int rc;

	if (!bound)
		target->pid = capture->options.pid; /* it ended before it could be inspected */
	bpf_set_places(&capture->bpf, &target->places);
	rc = target_log_info(target, capture->options.spawned ? LOG_TARGET_SPAWNED : 0,
			     capture->options.outlet.put, capture->options.outlet.ctx, err);
	target->pid = bound;
	if (rc == 0 && has_functions(capture))
		rc = functions_log(capture->options.functions, capture->options.outlet.put,
				   capture->options.outlet.ctx);
	return rc;
}

/* The target keeps running while it is read, which takes a second for a million goroutines. */
static int go_backend_read_snapshot(struct capture *capture, void **out, struct error *err)
{
	const struct capture_options *options = &capture->options;
	struct target_snapshot *snapshot = NULL;
	int more, rc = target_snapshot_begin(options->target, options->plan->g_labels != 0,
					     options->outlet.put, options->outlet.ctx, &snapshot, err);

	*out = snapshot;
	if (rc)
		return rc;
	do {
		more = target_snapshot_read(snapshot, err);
		if (more >= 0)
			rc = capture_drain(capture);
	} while (more > 0 && rc >= 0);
	return more < 0 ? more : rc < 0 ? rc : 0;
}

static int go_backend_put_snapshot(struct capture *capture, void *snapshot, const uint32_t markers[2],
				   struct error *err)
{
	(void)capture;
	(void)err;
	return target_snapshot_put(snapshot, markers);
}

static void go_backend_free_snapshot(void *snapshot)
{
	target_snapshot_free(snapshot);
}

static int go_backend_read_ms(struct capture *capture, struct error *err)
{
	return target_read_ms(capture->options.target, capture->ms, MAX_MS, err);
}

/* If heap growth is not probed, reads and logs the heap's size instead. */
static int log_heap_live(struct capture *capture, uint64_t now)
{
	struct log_heap_live live = {.time = now};

	if (probe_set_has_heap(capture) || capture->governor.level == LEVEL_OFF ||
	    now < capture->next_heap_ns || !capture->options.target->pid)
		return 0;
	capture->next_heap_ns = now + HEAP_MS * 1000000ull;
	if (target_heap_live(capture->options.target, &live.bytes))
		return 0; /* it is exiting */
	return drain_put(&capture->drain, LOG_HEAP_LIVE, &live, sizeof(live));
}

static int go_backend_adapt(struct capture *capture, uint64_t now, struct error *err)
{
	int rc = plugins_log(capture);

	if (rc == 0)
		rc = probe_set_adapt(capture, now, err);
	return rc ? rc : log_heap_live(capture, now);
}

/* The process may end meanwhile. */
static int go_backend_resume(struct capture *capture, struct error *err)
{
	int rc = plugins_update(capture, err);

	return rc == -ESRCH ? 0 : rc;
}

const struct backend go_backend = {
	.load = go_backend_load,
	.attach = go_backend_attach,
	.log_info = go_backend_log_info,
	.read_snapshot = go_backend_read_snapshot,
	.put_snapshot = go_backend_put_snapshot,
	.free_snapshot = go_backend_free_snapshot,
	.read_ms = go_backend_read_ms,
	.adapt = go_backend_adapt,
	.resume = go_backend_resume,
	.note_flags = probe_set_flags,
	.level_text = probe_set_text,
	.close = plugins_close,
};
