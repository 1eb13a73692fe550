/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The sequence of a trace: snapshot, drain, generation, loss, end. */
#include "capture/capture.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "capture/backend.h"
#include "capture/bpf_threads.h"
#include "capture/functions.h"
#include "capture/gap.h"
#include "capture/off_cpu.h"
#include "capture/probe_set.h"
#include "capture/rest.h"
#include "capture/snapshot.h"
#include "capture/tally.h"
#include "capture/retained_capabilities.h"
#include "util/clock.h"
#include "util/utf8.h"

enum {
	GENERATION_MS = 1000,
	RESYNC_MS = 200,     /* minimum interval between two snapshots after losses */
	EXEC_CHECK_MS = 500, /* another process is asked, which must wake up */
	END_WAIT_MS = 1000,  /* on a busy machine, of an exiting process; of others there is nothing more to
				record */
	LEAST_REST_MS = 10,
	BUSY_GO_MS = 160,
	BUSY_THREADS_MS =
		50,   /* a round reads the names of the files of system calls, which may be closed soon */
	SOON_MS = 40, /* the longest rest where rounds are due often */
	MANY_FILES = 1 << 14, /* logged file names at which a renewal is due */
};

/* Returns both clocks at `mono`, which is now or slightly earlier. */
static struct log_clock capture_clock_at(uint64_t mono)
{
	uint64_t wall = clock_ns(CLOCK_REALTIME) - (now_ns() - mono);

	return (struct log_clock){
		.mono_ns = mono, .wall_sec = wall / 1000000000, .wall_nsec = (uint32_t)(wall % 1000000000)};
}

/* Limits a time to the end of recording: the log may be written later. */
static uint64_t not_past_end(const struct capture *capture, uint64_t now)
{
	uint64_t end = atomic_load(&capture->control.ended_ns);

	if (capture->execed_ns && (!end || capture->execed_ns < end))
		end = capture->execed_ns;
	return end && end < now ? end : now;
}

/* The features needed depend on the options. */
static int check_features(const struct capture_options *options, struct error *err)
{
	unsigned needs = options->process ? NEED_C : NEED_GO;
	const struct feature *missing;

	if (options->sample_hz && !options->probe_only)
		needs |= NEED_SAMPLES;
	if (options->functions && options->functions->nlists)
		needs |= NEED_FUNCTIONS;
	if (!options->process && options->syscalls && !options->probe_only)
		needs |= NEED_SYSCALLS;
	missing = features_find_missing(options->features, needs);
	return missing ? error_set(err, ENOTSUP, "%s", features_line(missing).text) : 0;
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
	capture->drain.pid = capture->drain.files.pid = options->pid;
	capture->ms = calloc(MAX_MS, sizeof(*capture->ms));
	rc = capture->ms ? check_features(options, err) : error_set(err, ENOMEM, "out of memory");
	if (rc == 0)
		rc = watch_open(&capture->watch, options->pid, options->pidfd, err);
	if (rc == 0)
		rc = capture->backend->load(capture, err);
	if (rc == 0)
		rc = drain_open(&capture->drain, capture->bpf.ring_fds, &capture->bpf.rings, &options->outlet,
				err);
	if (rc) {
		capture_free(capture);
		return rc;
	}
	*out = capture;
	return 0;
}

/* A program that gotrace starts must have been exec'd: before that, the process is still gotrace. */
static int capture_log_info(struct capture *capture, struct error *err)
{
	int rc = capture->backend->log_info(capture, err);

	capture->info_logged = rc == 0;
	watch_program(&capture->watch);
	/* In a tree, the other processes may have another executable and environment than the first. */
	if (!capture->options.children)
		origin_read(&capture->origin, capture->options.pid);
	return rc;
}

/* The model drops notes that come before the first record, so this one waits for it. */
static int log_origin(struct capture *capture)
{
	if (!capture->drain.records)
		return 0;
	capture->origin_noted = true;
	return origin_note(&capture->origin, capture);
}

/*
 * The draining thread has little to do but must not be late, and the target may compete for every CPU. A
 * real-time thread gets a CPU at once, and is exempt from the cgroup's limit (cpu.max); rest_ns() makes it
 * leave others as much CPU time as it uses, unless the rings fill up. Both calls need CAP_SYS_NICE.
 */
static void capture_raise_priority(void)
{
	const struct sched_param least = {.sched_priority = 1};

	if (sched_setscheduler(0, SCHED_RR, &least))
		setpriority(PRIO_PROCESS, 0, -20);
}

/* If the PID has been reused, the probes are in another process. Fails before anything is recorded. */
static int check_same_process(const struct capture *capture, struct error *err)
{
	if (!watch_wait(&capture->watch, 0))
		return 0;
	return error_set(err, ESRCH, "PID %d has ended before it could be traced", (int)capture->options.pid);
}

static void set_next_boundary(struct capture *capture, uint64_t now)
{
	unsigned ms = capture->options.generation_ms ? capture->options.generation_ms : GENERATION_MS;

	capture->next_boundary_ns = now + ms * 1000000ull;
}

int capture_start(struct capture *capture, struct error *err)
{
	int rc;

	capture_raise_priority();
	rc = capture->backend->attach(capture, err);
	if (rc == 0)
		rc = check_same_process(capture, err);
	/* Before the trace begins, as a snapshot may take seconds. The processes of a tree would all be said
	 * to have used what this one did. */
	if (rc == 0 && !capture->options.probe_only && !capture->options.children)
		host_begin(&capture->host, capture->options.pid);
	if (rc == 0 && !capture->options.probe_only && !capture->options.spawned) {
		rc = capture_log_info(capture, err);
		if (rc == 0)
			rc = capture_snapshot(capture, err);
		if (rc == 0)
			rc = off_cpu_log(capture);
		if (rc == 0)
			rc = log_origin(capture);
	}
	set_next_boundary(capture, now_ns());
	return rc;
}

/* Returns whether state that is read from the target now has matching records. */
static bool is_recording(const struct capture *capture)
{
	return capture->gap.state == GAP_NONE && !capture->drain.is_held;
}

/* Reads the Ms, by which the model settles system calls (go_settle()). Returns their number, or a negative
 * errno. */
static int read_ms_to_settle(struct capture *capture, struct error *err)
{
	uint64_t records = capture->drain.records;

	/* Without a record since then, nothing is left to settle. Each M is asked for in another process. */
	if (!capture->backend->read_ms || !is_recording(capture) || records == capture->read_ms_after)
		return 0;
	capture->read_ms_after = records;
	return capture->backend->read_ms(capture, err);
}

static int log_boundary(struct capture *capture, struct error *err)
{
	size_t size;
	struct log_boundary *boundary;
	uint64_t before = now_ns();
	int n = read_ms_to_settle(capture, err);
	uint64_t after = now_ns();
	int rc;

	if (n < 0)
		n = 0; /* it is exiting: no Ms to settle system calls by */
	size = sizeof(*boundary) + (size_t)n * sizeof(*capture->ms);
	boundary = calloc(1, size);
	if (!boundary)
		return error_set(err, ENOMEM, "out of memory");
	*boundary = (struct log_boundary){.time_before = not_past_end(capture, before),
					  .time_after = not_past_end(capture, after),
					  .clock = capture_clock_at(not_past_end(capture, after)),
					  .nm = (uint32_t)n};
	memcpy(boundary + 1, capture->ms, (size_t)n * sizeof(*capture->ms));
	/* State that was read after the end of recording matches no record. */
	if (boundary->time_after < after) {
		boundary->nm = 0;
		size = sizeof(*boundary);
	}
	rc = drain_until(&capture->drain, boundary->time_after);
	if (rc == 0)
		rc = off_cpu_log(capture);
	if (rc == 0)
		rc = drain_put(&capture->drain, LOG_BOUNDARY, boundary, size);
	free(boundary);
	return rc;
}

static struct log_loss losses_so_far(struct capture *capture)
{
	uint64_t counts[COUNTERS] = {0};

	bpf_read_counters(&capture->bpf, counts);
	capture->stats.lost_samples = counts[LOSS_SAMPLE];
	capture->silent = counts[HITS_SILENT];
	capture->processes.ended_cpu_ns = counts[ENDED_CPU_NS];
	capture->processes.ended_bytes = counts[ENDED_BYTES];
	hit_cost_update(&capture->hit_cost, counts);
	return (struct log_loss){
		.ring_full = counts[LOSS_RECORD],
		.stack_full = counts[LOSS_SCRATCH_BUSY],
		.unreadable = counts[LOSS_UNREADABLE],
		.missed = capture->stats.loss.missed,
	};
}

/* Logs the losses since the last report. */
static int log_losses(struct capture *capture)
{
	struct log_loss now = losses_so_far(capture), *reported = &capture->reported;
	struct log_loss since = {
		.ring_full = now.ring_full - reported->ring_full,
		.stack_full = now.stack_full - reported->stack_full,
		.unreadable = now.unreadable - reported->unreadable,
		.missed = now.missed - reported->missed,
	};

	capture->stats.loss = now;
	if (!since.ring_full && !since.stack_full && !since.unreadable && !since.missed)
		return 0;
	capture->reported = now;
	/* A missing stack changes no state; missing records do. */
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

/* If only starts are probed, takes a snapshot: it shows why and where goroutines that have not started again
 * left their threads. */
static int capture_end_generation(struct capture *capture, uint64_t now, struct error *err)
{
	bool spans = capture->options.target && capture->governor.level >= LEVEL_STARTS_ONLY;
	int rc = spans ? capture_snapshot(capture, err) : 0;

	set_next_boundary(capture, now);
	/* What a flight recorder keeps does not have the beginning: each generation says where it is from. */
	if (rc == 0 && (capture->options.renew_stacks || !capture->origin_noted))
		rc = log_origin(capture);
	return rc && rc != -ESRCH ? rc : log_boundary(capture, err);
}

/*
 * Stacks and file names are logged once. In a long trace, readers would have to keep them forever, so they
 * are renewed. The note is written first: stacks that are sent after the kernel has forgotten them follow it
 * in the log (tables_renew() relies on that).
 */
static int renew_stacks(struct capture *capture)
{
	struct log_note note = {.time = now_ns(), .flags = LOG_NOTE_RENEW};
	uint64_t most = capture->options.renew_stacks, sent = capture->drain.stacks;
	int rc;

	if (!most ||
	    (sent - capture->renewed_stacks < most && files_count(&capture->drain.files) < MANY_FILES))
		return 0;
	capture->renewed_stacks = sent;
	rc = drain_put(&capture->drain, LOG_NOTE, &note, sizeof(note));
	files_forget(&capture->drain.files);
	return rc ? rc : bpf_forget_stacks(&capture->bpf);
}

/* Returns the number of records and stacks that the round read, or a negative errno. */
static int poll_round(struct capture *capture, struct error *err)
{
	uint64_t now = now_ns(), before = drain_count(&capture->drain);
	int rc = 0;

	if (!capture->info_logged)
		rc = capture_log_info(capture, err);
	control_check(&capture->control);
	capture->is_polled = true;
	rc = rc ? rc : capture_drain(capture);
	rc = rc < 0 ? rc : log_losses(capture);
	if (rc == 0)
		rc = gap_update(capture, now, err);
	if (rc == 0 && is_recording(capture))
		rc = resync(capture, now, err);
	if (rc == 0)
		rc = capture->backend->adapt(capture, now, err);
	if (rc == 0)
		rc = renew_stacks(capture);
	if (rc == 0 && now >= capture->next_boundary_ns && is_recording(capture))
		rc = capture_end_generation(capture, now, err);
	control_beat(&capture->control);
	before = drain_count(&capture->drain) - before;
	return rc < 0 ? rc : before > INT_MAX ? INT_MAX : (int)before;
}

/* Whether rounds are due often: they read the heap's size. */
static bool rounds_are_often(const struct capture *capture)
{
	return capture->options.target && !probe_set_has_heap(capture);
}

/* begin: of the round; cpu: CPU time that it took, ns; n: number of records and stacks that it read. */
static uint64_t rest_after(struct capture *capture, uint64_t begin, uint64_t cpu, int n)
{
	struct rest_input input = {
		.cpu_ns = cpu,
		.arrival_ns = begin - capture->round_ns,
		.busy_ns = (capture->options.target ? BUSY_GO_MS : BUSY_THREADS_MS) * 1000000ull,
		.idle_ns = rings_idle_ns(&capture->bpf.rings),
		.fill = drain_fill(&capture->drain),
		.rate = capture->drain.rate,
		.busy = n > 0,
		.is_often = rounds_are_often(capture),
		.held = capture->drain.is_held,
	};

	/* A gap may end, too. */
	if ((input.is_often || capture->gap.state != GAP_NONE) && input.idle_ns > SOON_MS * 1000000ull)
		input.idle_ns = SOON_MS * 1000000ull;
	capture->round_ns = begin;
	return rest_ns(&input);
}

/* With --children, the trace ends with the last process. The first one may exit earlier. */
static bool all_have_ended(struct capture *capture)
{
	uint64_t now = now_ns();

	if (now < capture->next_exec_check_ns)
		return false;
	capture->next_exec_check_ns = now + EXEC_CHECK_MS * 1000000ull;
	if (!watch_wait(&capture->watch, 0) || bpf_has_live_process(&capture->bpf))
		return false;
	capture->end_reason = LOG_END_EXITED;
	return true;
}

int capture_note(struct capture *capture, const char *text)
{
	char note[MAX_NOTE + 1];

	if (!capture->info_logged)
		return 0; /* nothing has been recorded yet */
	snprintf(note, sizeof(note), "%.*s", text_fit(text, MAX_NOTE), text);
	return note_put(capture, capture->backend->note_flags(capture), note);
}

int capture_boundary(struct capture *capture, struct error *err)
{
	int rc;

	if (!capture->info_logged)
		return 0; /* nothing has been recorded yet */
	rc = drain_all(&capture->drain);
	if (rc < 0)
		return rc;
	/* In a gap, a snapshot would show state that does not follow from any records. */
	if (!is_recording(capture))
		return log_boundary(capture, err);
	return capture_end_generation(capture, now_ns(), err);
}

/*
 * Rests for wait_ns, or until a ring fills, or a file with code is mapped: then at least for LEAST_REST_MS,
 * as a program maps many when it starts. Returns true if recording has to end.
 */
static bool rest_or_end(struct capture *capture, uint64_t wait_ns)
{
	int pidfd = capture->options.children ? -1 : capture->watch.pidfd;
	uint64_t least = LEAST_REST_MS * 1000000ull, began = now_ns(), took;

	if (control_wait(&capture->control, pidfd, capture->drain.wakeups, wait_ns))
		return true;
	took = now_ns() - began;
	if (took >= wait_ns)
		return false;
	drain_woken(&capture->drain);
	if (took >= least || drain_fill(&capture->drain) >= RING_FILL_TO_DRAIN)
		return false;
	return control_wait(&capture->control, pidfd, -1, (wait_ns < least ? wait_ns : least) - took);
}

/* Its probes then recorded nothing more (sched.bpf.h). A program that gotrace starts has been exec'd once. */
static bool has_execed(const struct capture *capture)
{
	return !capture->options.children && capture->drain.execs > capture->options.spawned;
}

/* What the new program does is not recorded: the trace ends with the last record of the old one. */
static void end_at_exec(struct capture *capture)
{
	capture->end_reason = LOG_END_EXECED;
	capture->execed_ns = capture->drain.last_ns;
}

static bool has_ended(struct capture *capture, uint64_t wait_ns)
{
	uint64_t now;

	if (rest_or_end(capture, has_execed(capture) ? 0 : wait_ns)) {
		capture->end_reason = (enum log_end_reason)atomic_load(&capture->control.reason);
		return true;
	}
	if (capture->options.children)
		return all_have_ended(capture);
	if (watch_wait(&capture->watch, 0)) {
		capture->end_reason = LOG_END_EXITED;
		return true;
	}
	if (has_execed(capture)) {
		end_at_exec(capture);
		return true;
	}
	host_look(&capture->host);
	now = now_ns();
	if (now < capture->next_exec_check_ns)
		return false;
	capture->next_exec_check_ns = now + EXEC_CHECK_MS * 1000000ull;
	if (!watch_has_execed(&capture->watch))
		return false;
	if (!watch_has_memory(&capture->watch) && watch_wait(&capture->watch, END_WAIT_MS))
		capture->end_reason = LOG_END_EXITED;
	else
		end_at_exec(capture);
	return true;
}

void capture_look_at_guard(struct capture *capture)
{
	control_look(&capture->control);
}

int capture_poll(struct capture *capture, unsigned timeout_ms, struct error *err)
{
	uint64_t timeout = timeout_ms * 1000000ull, end = now_ns() + timeout, wait;

	do {
		uint64_t begin = now_ns(), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		int rc = capture->options.probe_only ? 0 : poll_round(capture, err);

		/* Errors after the target has exited end the trace normally. */
		if (rc < 0)
			return !capture->drain.sink_error && has_ended(capture, 0) ? 1 : rc;
		wait = rest_after(capture, begin, clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu, rc);
		if (wait > timeout)
			wait = timeout;
		if (has_ended(capture, wait))
			return 1;
	} while (now_ns() + wait < end);
	return 0;
}

/* The mean cost of all hits so far. */
static uint64_t mean_hit_ns(struct capture *capture)
{
	uint64_t hits = drain_hits(&capture->drain) + capture->silent;
	struct governor_figures last;

	capture->tally.ns = capture->tally.ns ? 1 : 0; /* forces a tally, however recent the last one */
	tally_take(capture, now_ns(), &last);
	return hits ? capture->cost_ns / hits : 0;
}

static int log_end(struct capture *capture, enum log_end_reason reason)
{
	struct log_end end = {
		.reason = reason,
		.clock = capture_clock_at(not_past_end(capture, now_ns())),
		.total = capture->stats.loss,
		.lost_samples = (uint32_t)capture->stats.lost_samples,
		.hits = drain_hits(&capture->drain) + capture->silent,
		.probe_hit_ns = mean_hit_ns(capture),
		.late = capture->drain.merge.late,
	};

	return drain_put(&capture->drain, LOG_END, &end, sizeof(end));
}

int capture_stop(struct capture *capture, enum log_end_reason reason, struct error *err)
{
	int rc = 0;

	if (capture->options.probe_only) {
		control_end(&capture->control);
		return 0;
	}
	if (!capture->info_logged)
		rc = capture_log_info(capture, err);
	if (rc == 0 && !capture->origin_noted)
		rc = log_origin(capture);
	/* Still recording: the present state of the threads settles the last system calls. */
	if (rc == 0 && capture->gap.state != GAP_CLOSING)
		rc = log_boundary(capture, err);
	control_end(&capture->control);
	capture->drain.is_last = true;
	/* A gap may have begun since the last round. */
	if (rc == 0 && capture->gap.state == GAP_NONE)
		rc = gap_update(capture, now_ns(), err);
	if (rc == 0)
		rc = drain_until(&capture->drain, now_ns());
	if (rc == 0 && capture->gap.state == GAP_CLOSING)
		rc = gap_update(capture, now_ns(), err);
	if (rc == 0)
		rc = host_end(&capture->host, capture, not_past_end(capture, now_ns()));
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
	struct tracing_mode needs = {
		.threads = options->process != NULL,
		.plugins = capture->plugins.is_possible,
		.probes = !options->process || (options->functions && options->functions->nlists),
		.reattaches = options->governor.first != options->governor.last,
		.multi = capture->bpf.attachments.multi,
		.memory_open = capture->watch.memory >= 0,
		.go_minor = options->target ? options->target->go_minor : 0,
		.bpf_for_all = bpf_is_for_all(),
	};

	if (uname(&name) == 0 && sscanf(name.release, "%u.%u", &major, &minor) == 2)
		needs.kernel = major << 8 | (minor < 255 ? minor : 255);
	return retained_capabilities(&needs);
}

enum log_end_reason capture_end_reason(const struct capture *capture)
{
	return capture->end_reason;
}

const struct capture_stats *capture_stats(struct capture *capture)
{
	capture->stats.records = capture->drain.records;
	capture->stats.unwatched = capture->gap.state != GAP_NONE;
	capture->stats.stacks = capture->drain.stacks;
	capture->stats.cost_ns = capture->cost_ns;
	/* For threads, this level is full detail. */
	capture->stats.level = capture->options.process && capture->governor.level == LEVEL_STARTS_ONLY
				       ? LEVEL_EXACT
				       : capture->governor.level;
	return &capture->stats;
}

void capture_free(struct capture *capture)
{
	if (!capture)
		return;
	control_free(&capture->control);
	off_cpu_close(capture);
	drain_close(&capture->drain);
	sampler_close(&capture->sampler);
	if (capture->bpf.destroy)
		bpf_unload(&capture->bpf);
	if (capture->backend->close)
		capture->backend->close(capture);
	watch_close(&capture->watch);
	host_free(&capture->host);
	free(capture->ms);
	free(capture);
}
