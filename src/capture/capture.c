/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What happens when: attach, snapshot, drain, generation, loss, end. */
#include "capture/capture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "capture/backend.h"
#include "capture/bpf_threads.h"
#include "capture/functions.h"
#include "capture/needs.h"
#include "capture/own_sites.h"

enum {
	GENERATION_MS = 1000,
	DRAIN_MS = 10,      /* between two looks at the ring; 16 MiB hold 220,000 records */
	IDLE_MS = 40,       /* the same when there was nothing in it */
	RESYNC_MS = 200,    /* at least, between two snapshots after losses */
	MARKER_TRIES = 200, /* ms to wait for a marker to come out of the ring */
	EXEC_CHECK_MS = 50,
	END_WAIT_MS = 100,
	MANY_FILES = 1 << 14, /* whose names the log knows */
};

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uint64_t capture_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static struct log_clock clock_pair(void)
{
	uint64_t wall = clock_ns(CLOCK_REALTIME);

	return (struct log_clock){.mono_ns = capture_now_ns(),
				  .wall_sec = wall / 1000000000,
				  .wall_nsec = (uint32_t)(wall % 1000000000)};
}

/* What can be traced of it depends on what is asked for. */
static int check_features(const struct capture_options *options, struct error *err)
{
	unsigned needs = options->process ? NEED_C : NEED_GO;
	const struct feature *lack;

	if (options->sample_hz && !options->probe_only)
		needs |= NEED_SAMPLES;
	if (options->functions && options->functions->nlists)
		needs |= NEED_FUNCTIONS;
	if (!options->process && options->syscalls && !options->probe_only)
		needs |= NEED_SYSCALLS;
	lack = features_lack(options->features, needs);
	return lack ? error_set(err, ENOTSUP, "%s", features_line(lack).text) : 0;
}

int capture_open(const struct capture_options *options, struct capture **out, struct error *err)
{
	struct capture *capture = calloc(1, sizeof(*capture));
	int rc;

	if (!capture)
		return error_set(err, ENOMEM, "out of memory");
	capture->options = *options;
	capture->backend = options->process ? &threads_backend : &go_backend;
	capture->watch.pidfd = capture->watch.memory = -1;
	capture->drain.memory = -1;
	capture->drain.pid = capture->drain.files.pid = options->pid;
	capture->ms = calloc(MAX_MS, sizeof(*capture->ms));
	rc = capture->ms ? check_features(options, err) : error_set(err, ENOMEM, "out of memory");
	if (rc == 0)
		rc = watch_open(&capture->watch, options->pid, err);
	if (rc == 0)
		rc = capture->backend->load(capture, err);
	if (rc == 0)
		rc = drain_open(&capture->drain, capture->bpf.ring_fds, &capture->bpf.rings, options->sink,
				options->ctx, err);
	if (rc) {
		capture_free(capture);
		return rc;
	}
	*out = capture;
	return 0;
}

/* Drains until the marker has come out: what was reserved before it may still be being written. */
static int drain_past_marker(struct capture *capture, uint32_t number)
{
	for (int tries = 0; tries < MARKER_TRIES; tries++) {
		int rc = drain_all(&capture->drain);

		if (rc < 0 || capture->drain.last_marker >= number)
			return rc < 0 ? rc : 0;
		watch_wait(&capture->watch, 1);
	}
	return 0; /* the marker itself was lost: the model then goes by the times */
}

/* The snapshot is handed over when all that happened while it was read has been drained. */
int capture_snapshot(struct capture *capture, struct error *err)
{
	const struct backend *backend = capture->backend;
	uint32_t markers[2] = {++capture->markers, ++capture->markers};
	void *snapshot = NULL;
	int rc;

	own_marker(markers[0]);
	rc = backend->read_snapshot(capture, &snapshot, err);
	own_marker(markers[1]);
	if (rc == 0)
		rc = drain_past_marker(capture, markers[1]);
	if (rc == 0)
		rc = backend->put_snapshot(capture, snapshot, markers, err);
	backend->free_snapshot(snapshot);
	return rc;
}

static int log_info(struct capture *capture, struct error *err)
{
	int rc = capture->backend->log_info(capture, err);

	capture->info_logged = rc == 0;
	return rc;
}

static void see_program(struct capture *capture)
{
	watch_program(&capture->watch);
	capture->drain.memory = capture->watch.memory;
}

/* The thread that drains has little to do, but must not be late: a full ring loses records. */
static void step_forward(void)
{
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), -10);
}

int capture_start(struct capture *capture, struct error *err)
{
	uint64_t now;
	int rc;

	step_forward();
	rc = capture->backend->attach(capture, err);

	if (rc == 0 && !capture->options.probe_only && !capture->options.spawned) {
		rc = log_info(capture, err);
		see_program(capture);
		if (rc == 0)
			rc = capture_snapshot(capture, err);
	}
	now = capture_now_ns();
	capture->next_boundary_ns = now + GENERATION_MS * 1000000ull;
	return rc;
}

static int log_boundary(struct capture *capture, struct error *err)
{
	size_t size;
	struct log_boundary *boundary;
	uint64_t before = capture_now_ns();
	int n = capture->backend->read_ms ? capture->backend->read_ms(capture, err) : 0;
	int rc;

	if (n < 0)
		n = 0; /* it is ending: nothing to settle by */
	size = sizeof(*boundary) + (size_t)n * sizeof(*capture->ms);
	boundary = calloc(1, size);
	if (!boundary)
		return error_set(err, ENOMEM, "out of memory");
	*boundary = (struct log_boundary){.time_before = before,
					  .time_after = capture_now_ns(),
					  .clock = clock_pair(),
					  .nm = (uint32_t)n};
	memcpy(boundary + 1, capture->ms, (size_t)n * sizeof(*capture->ms));
	rc = drain_until(&capture->drain, boundary->time_after);
	if (rc == 0)
		rc = drain_put(&capture->drain, LOG_BOUNDARY, boundary, size);
	free(boundary);
	return rc;
}

static struct log_loss losses_so_far(struct capture *capture)
{
	uint64_t counts[BPF_LOSSES] = {0};

	bpf_read_losses(&capture->bpf, counts);
	capture->stats.lost_samples = counts[BPF_LOSS_SAMPLE];
	capture->silent = counts[BPF_HITS_SILENT];
	return (struct log_loss){
		.ring_full = counts[BPF_LOSS_RING_FULL],
		.stack_full = counts[BPF_LOSS_STACK_FULL] + counts[BPF_LOSS_SCRATCH_BUSY],
		.unreadable = counts[BPF_LOSS_UNREADABLE],
		.missed = capture->stats.loss.missed,
	};
}

/* Tells the log what was lost since it was told last. */
static int log_losses(struct capture *capture)
{
	struct log_loss now = losses_so_far(capture), *told = &capture->told;
	struct log_loss since = {
		.ring_full = now.ring_full - told->ring_full,
		.stack_full = now.stack_full - told->stack_full,
		.unreadable = now.unreadable - told->unreadable,
		.missed = now.missed - told->missed,
	};

	capture->stats.loss = now;
	if (!since.ring_full && !since.stack_full && !since.unreadable && !since.missed)
		return 0;
	capture->told = now;
	/* A stack that is missing changes no state; records that are missing do. */
	if (since.ring_full || since.unreadable || since.missed)
		capture->snapshot_due = true;
	return drain_put(&capture->drain, LOG_LOSS, &since, sizeof(since));
}

static int resync(struct capture *capture, uint64_t now, struct error *err)
{
	int rc;

	if (!capture->snapshot_due || now < capture->next_snapshot_ns)
		return 0;
	capture->snapshot_due = false;
	capture->next_snapshot_ns = now + RESYNC_MS * 1000000ull;
	rc = capture_snapshot(capture, err);
	return rc == -ESRCH ? 0 : rc;
}

/* Where only starts are probed, a snapshot tells why and where those that have not started again have left.
 */
static int end_generation(struct capture *capture, uint64_t now, struct error *err)
{
	unsigned ms = capture->options.generation_ms ? capture->options.generation_ms : GENERATION_MS;
	bool spans = capture->options.target && capture->shed.level >= LEVEL_SPANS;
	int rc = spans ? capture_snapshot(capture, err) : 0;

	capture->next_boundary_ns = now + ms * 1000000ull;
	return rc && rc != -ESRCH ? rc : log_boundary(capture, err);
}

/*
 * Stacks, and what files are called, are told of once, which in the long run would have to be remembered
 * for ever. The record comes first: what is sent after the kernel has forgotten
 * is behind it in the log (tables_renew relies on that).
 */
static int renew_stacks(struct capture *capture)
{
	struct log_note note = {.time = capture_now_ns(), .flags = LOG_NOTE_RENEW};
	uint64_t most = capture->options.renew_stacks, sent = capture->drain.stacks;
	int rc;

	if (!most ||
	    (sent - capture->renewed_stacks < most && files_told(&capture->drain.files) < MANY_FILES))
		return 0;
	capture->renewed_stacks = sent;
	rc = drain_put(&capture->drain, LOG_NOTE, &note, sizeof(note));
	files_forget(&capture->drain.files);
	return rc ? rc : bpf_forget_stacks(&capture->bpf);
}

static int round_of_work(struct capture *capture, struct error *err)
{
	uint64_t now = capture_now_ns();
	int drained, rc = 0;

	if (!capture->info_logged) {
		rc = log_info(capture, err);
		see_program(capture);
	}
	drained = rc ? rc : drain_all(&capture->drain);
	rc = drained < 0 ? drained : log_losses(capture);
	if (rc == 0)
		rc = resync(capture, now, err);
	if (rc == 0)
		rc = capture->backend->adapt(capture, now, err);
	if (rc == 0)
		rc = renew_stacks(capture);
	if (rc == 0 && now >= capture->next_boundary_ns && capture->shed.level != LEVEL_OFF)
		rc = end_generation(capture, now, err);
	return rc < 0 ? rc : drained;
}

/* With the children, when the last of them has ended; the first one may go before. */
static bool all_have_ended(struct capture *capture, int wait_ms)
{
	const struct timespec pause = {.tv_nsec = wait_ms * 1000000l};
	uint64_t now;

	nanosleep(&pause, NULL);
	now = capture_now_ns();
	if (now < capture->next_exec_check_ns)
		return false;
	capture->next_exec_check_ns = now + EXEC_CHECK_MS * 1000000ull;
	if (!watch_wait(&capture->watch, 0) || bpf_someone_lives(&capture->bpf))
		return false;
	capture->end_reason = LOG_END_EXITED;
	return true;
}

int capture_boundary(struct capture *capture, struct error *err)
{
	int rc;

	if (!capture->info_logged)
		return 0; /* nothing was seen yet */
	rc = drain_all(&capture->drain);
	if (rc < 0)
		return rc;
	/* While nothing is seen, a snapshot of memory would show what the records cannot follow. */
	if (capture->shed.level == LEVEL_OFF)
		return log_boundary(capture, err);
	return end_generation(capture, capture_now_ns(), err);
}

static bool has_ended(struct capture *capture, int wait_ms)
{
	uint64_t now;

	if (capture->options.children)
		return all_have_ended(capture, wait_ms);
	if (watch_wait(&capture->watch, wait_ms)) {
		capture->end_reason = LOG_END_EXITED;
		return true;
	}
	now = capture_now_ns();
	if (now < capture->next_exec_check_ns)
		return false;
	capture->next_exec_check_ns = now + EXEC_CHECK_MS * 1000000ull;
	if (watch_has_execed(&capture->watch))
		/* A process that ends loses its memory, too, a little before it is over. */
		capture->end_reason =
			watch_wait(&capture->watch, END_WAIT_MS) ? LOG_END_EXITED : LOG_END_EXECED;
	return capture->end_reason != 0;
}

int capture_poll(struct capture *capture, unsigned timeout_ms, struct error *err)
{
	uint64_t end = capture_now_ns() + timeout_ms * 1000000ull;
	int wait_ms;

	do {
		int rc = capture->options.probe_only ? 0 : round_of_work(capture, err);
		unsigned pace = rc > 0 ? DRAIN_MS : IDLE_MS;

		/* What fails because the target is gone, is its end. */
		if (rc < 0)
			return !capture->drain.sink_error && has_ended(capture, 0) ? 1 : rc;
		wait_ms = (int)(timeout_ms < pace ? timeout_ms : pace);
		if (has_ended(capture, wait_ms))
			return 1;
	} while (capture_now_ns() + (unsigned)wait_ms * 1000000ull < end);
	return 0;
}

/* Hits on the user's functions cost more than those of tracepoints: the mean of all. */
static uint64_t mean_hit_ns(const struct capture *capture)
{
	uint64_t calls = capture->drain.functions, hits = drain_hits(&capture->drain) + capture->silent;
	uint64_t others = hits > calls ? hits - calls : 0;

	if (!calls || !capture->call_hit_ns)
		return capture->stats.probe_hit_ns;
	return (others * capture->stats.probe_hit_ns + calls * capture->call_hit_ns) / (others + calls);
}

static int log_end(struct capture *capture, enum log_end_reason reason)
{
	struct log_end end = {
		.reason = reason,
		.clock = clock_pair(),
		.total = capture->stats.loss,
		.lost_samples = (uint32_t)capture->stats.lost_samples,
		.hits = drain_hits(&capture->drain) + capture->silent,
		.probe_hit_ns = mean_hit_ns(capture),
	};

	return drain_put(&capture->drain, LOG_END, &end, sizeof(end));
}

int capture_stop(struct capture *capture, enum log_end_reason reason, struct error *err)
{
	int rc = 0;

	if (capture->options.probe_only) {
		bpf_unload(&capture->bpf);
		return 0;
	}
	if (!capture->info_logged)
		rc = log_info(capture, err);
	/* While the probes still stand: what the threads are doing now settles the last system calls. */
	if (rc == 0)
		rc = log_boundary(capture, err);
	if (rc == 0)
		rc = drain_until(&capture->drain, capture_now_ns());
	capture->stats.loss.missed = bpf_read_missed(&capture->bpf);
	if (rc == 0)
		rc = log_losses(capture);
	if (rc == 0)
		rc = log_end(capture, reason);
	return rc;
}

static bool bpf_is_for_all(void)
{
	FILE *file = fopen("/proc/sys/kernel/unprivileged_bpf_disabled", "re");
	int c = file ? fgetc(file) : '0';

	if (file)
		fclose(file);
	return c == '0';
}

uint64_t capture_capabilities(struct capture *capture)
{
	const struct capture_options *options = &capture->options;
	unsigned major = 0, minor = 0;
	struct utsname name;
	struct needs needs = {
		.threads = options->process != NULL,
		.reattaches = options->shed.first != options->shed.last,
		.multi = capture->bpf.attachments.multi,
		.memory_open = capture->watch.memory >= 0,
		.go_minor = options->target ? options->target->go_minor : 0,
		.bpf_for_all = bpf_is_for_all(),
	};

	if (uname(&name) == 0 && sscanf(name.release, "%u.%u", &major, &minor) == 2)
		needs.kernel = major << 8 | (minor < 255 ? minor : 255);
	return needs_capabilities(&needs);
}

enum log_end_reason capture_end_reason(const struct capture *capture)
{
	return capture->end_reason;
}

const struct capture_stats *capture_stats(struct capture *capture)
{
	capture->stats.records = capture->drain.records;
	capture->stats.stacks = capture->drain.stacks;
	/* Of threads nothing is left out there. */
	capture->stats.level = capture->options.process && capture->shed.level == LEVEL_SPANS
				       ? LEVEL_EXACT
				       : capture->shed.level;
	return &capture->stats;
}

void capture_free(struct capture *capture)
{
	if (!capture)
		return;
	drain_close(&capture->drain);
	sampler_close(&capture->sampler);
	if (capture->bpf.skeleton || capture->bpf.threads)
		bpf_unload(&capture->bpf);
	if (capture->backend->close)
		capture->backend->close(capture);
	watch_close(&capture->watch);
	free(capture->ms);
	free(capture);
}
