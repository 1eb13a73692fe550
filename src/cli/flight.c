/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace flight: one process after the other, each until it ends. */
#include "cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cli/boxes.h"
#include "cli/find_process.h"
#include "cli/record.h"
#include "cli/recorder.h"
#include "cli/signals.h"
#include "report/status.h"
#include "sandbox/privilege.h"
#include "sandbox/remote.h"
#include "target/namespaces.h"
#include "target/process.h"
#include "target/target.h"
#include "util/message.h"
#include "util/text.h"

enum {
	POLL_MS = 40,  /* so long may a snapshot wait to be begun */
	LOOK_MS = 200, /* between two looks for a process */
	RETRY_S = 10,  /* until one that could not be recorded is tried again */
};

/* Half of what the kernel can remember. What is kept of stacks stays below twice that. */
#define RENEW_STACKS 32768

/* One process. */
struct flight {
	struct recorder *recorder;
	struct boxes boxes;
	struct recording recording;
	struct target *target;  /* a Go program; NULL: */
	struct process process; /* seen as threads */
	struct features features;
	struct probe_plan plan;
	struct function_plan functions; /* those that triggers are about, each once */
	struct status status;
	bool told_small; /* that --max-bytes does not hold the window */
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static enum wire_format format_of(const struct flight *flight)
{
	enum wire_format wanted = flight->recorder->options->look.format;

	if (wanted != WIRE_NONE)
		return wanted;
	return flight->target ? wire_format_of_release(flight->target->go_minor) : WIRE_GO126;
}

static int find_target(struct flight *flight, struct error *err)
{
	pid_t pid = flight->recording.pid;
	int rc = namespace_check_proc(err);

	if (rc == 0)
		rc = process_check("/proc", pid, err);
	if (rc)
		return rc;
	rc = remote_target_open(&flight->boxes.looker, pid, &flight->target, err);
	if (rc == 0)
		return target_plan(flight->target, &flight->plan, err);
	if (rc != -ENOEXEC)
		return rc;
	process_open(&flight->process, pid);
	return 0;
}

static int check_options(const struct flight *flight, struct error *err)
{
	const struct flight_options *options = flight->recorder->options;
	const struct record_options *look = &options->look;
	const char *wrong = look->exact            ? "--exact"
			    : look->light          ? "--light"
			    : look->spans          ? "--spans"
			    : look->runtime_frames ? "--runtime-frames"
						   : NULL;

	for (unsigned i = 0; i < options->plan.ntriggers; i++) {
		if (options->plan.triggers[i].kind == TRIGGER_GC_PAUSE)
			wrong = "gc-pause";
	}
	if (flight->target || !wrong)
		return 0;
	return error_set(err, EINVAL, "%s is for Go programs: %s is recorded as threads", wrong,
			 flight->process.label);
}

static int find_functions(struct flight *flight, struct error *err)
{
	const struct flight_plan *plan = &flight->recorder->options->plan;
	struct function_want wanted[MAX_TRIGGERS];
	unsigned n = 0, which;

	for (unsigned i = 0; i < plan->ntriggers; i++) {
		const struct trigger *trigger = &plan->triggers[i];

		if (trigger->kind != TRIGGER_FUNCTION)
			continue;
		for (which = 0; which < n && strcmp(wanted[which].text, trigger->name) != 0;)
			which++;
		wanted[which] = (struct function_want){.text = trigger->name, .kind = FUNCTION_REGION};
		n += which == n;
	}
	return n == 0 ? 0
		      : remote_functions_plan(&flight->boxes.looker,
					      flight->target ? 0 : flight->recording.pid, "", wanted, n,
					      &flight->functions, err);
}

/* The tape is in the process that makes the trace; its scribe and who opens the files have a socket. */
static int make_tape(struct flight *flight, struct error *err)
{
	bool runtime_frames = flight->recorder->options->look.runtime_frames;
	struct recording *recording = &flight->recording;
	int ends[2], rc;

	recording->writer = flight->boxes.writer;
	recording->format = format_of(flight);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return error_set(err, errno, "cannot set up the sandbox: %s", strerror(errno));
	recording->files = snapshot_writer_new(&flight->recorder->store, ends[0]);
	rc = recording->files
		     ? writer_begin_tape(recording->writer, recording->format, runtime_frames, ends[1], err)
		     : error_set(err, ENOMEM, "out of memory");
	close(ends[1]);
	if (rc)
		return rc;
	recording->relay = relay_new(boxes_put, &flight->boxes);
	return recording->relay ? 0 : error_set(err, ENOMEM, "out of memory");
}

static int open_capture(struct flight *flight, struct error *err)
{
	const struct module_reader reader = boxes_reader(&flight->boxes);
	struct capture_options wanted = {
		.features = &flight->features,
		.target = flight->target,
		.plan = &flight->plan,
		.process = flight->target ? NULL : &flight->process,
		.functions = &flight->functions,
		.pid = flight->recording.pid,
		.reader = &reader,
		.renew_stacks = RENEW_STACKS,
		.sink = relay_put,
		.ctx = flight->recording.relay,
	};

	return record_capture(&flight->recorder->options->look, &wanted, &flight->recording.capture, err);
}

static int start(struct flight *flight, struct error *err)
{
	const struct flight_options *options = flight->recorder->options;
	struct recording *recording = &flight->recording;
	int rc = boxes_open(&flight->boxes, recording->pid, &options->plan, err);

	features_probe(&flight->features, &(struct features_options){.root = "", .btf = options->look.btf});
	if (rc == 0)
		rc = find_target(flight, err);
	if (rc == 0)
		rc = check_options(flight, err);
	if (rc == 0)
		rc = find_functions(flight, err);
	if (rc == 0)
		rc = make_tape(flight, err);
	if (rc == 0)
		rc = open_capture(flight, err);
	if (rc == 0)
		rc = capture_start(recording->capture, err);
	/* Names of native code take their time, and the ring has none. */
	if (rc == 0 && flight->target)
		rc = relay_flush(recording->relay);
	if (rc == 0 && flight->target)
		boxes_functab(&flight->boxes, flight->target);
	return rc;
}

static void tell_begin(const struct flight *flight)
{
	const struct recorder *recorder = flight->recorder;

	if (flight->plan.left_out[0])
		fprintf(stderr, "gotrace: not traced in this program: %s\n", flight->plan.left_out);
	if (recorder->options->look.quiet)
		return;
	if (flight->target)
		fprintf(stderr,
			"gotrace: recording PID %d (%s), %u probes; write with: gotrace snapshot %d\n",
			(int)flight->recording.pid, flight->target->go_version,
			capture_stats(flight->recording.capture)->probes, (int)getpid());
	else
		fprintf(stderr,
			"gotrace: recording PID %d (%s), its threads; write with: gotrace snapshot %d\n",
			(int)flight->recording.pid,
			text_name(flight->process.comm, strlen(flight->process.comm), 16).bytes,
			(int)getpid());
}

static void show_status(struct flight *flight, const struct keeper_stats *kept)
{
	const struct capture_stats *stats = capture_stats(flight->recording.capture);
	struct status_figures figures = {
		.now_ns = now_ns(),
		.events = stats->records,
		.lost = record_lost(stats),
		.bytes = kept->bytes,
		.hit_ns = stats->probe_hit_ns,
		.look = record_look(stats->level, !flight->target),
	};

	status_update(&flight->status, &figures);
}

/* Fewer bytes than the window needs: told once a process. */
static void tell_small(struct flight *flight, const struct keeper_stats *kept)
{
	const struct flight_plan *plan = &flight->recorder->options->plan;

	if (flight->told_small || !kept->dropped_soon)
		return;
	flight->told_small = true;
	status_clear(&flight->status);
	fprintf(stderr, "gotrace: --max-bytes %s hold only the last %s now, not the window of %s\n",
		text_bytes(plan->max_bytes).bytes, text_time(now_ns() - kept->start_ns).bytes,
		text_time(plan->window_ns).bytes);
}

/*
 * Everything is attached, and what is needed from here on is known. Who is to record a successor must be able
 * to attach once more, and keeps in its own thread what that takes.
 */
static int reduce(struct flight *flight, struct error *err)
{
	uint64_t needed;
	int rc = boxes_reduce(&flight->boxes, flight->recording.capture, &needed, err);

	if (rc || !flight->recorder->options->look.pid)
		return rc;
	return privilege_keep(needed, err);
}

static enum log_end_reason follow(struct flight *flight, struct error *err)
{
	struct recording *recording = &flight->recording;
	int first = capture_poll(recording->capture, 0, err);

	if ((first < 0 && first != -EINTR) || reduce(flight, err))
		return LOG_END_ERROR;
	for (;;) {
		struct keeper_stats kept;
		int rc;

		if (signals_seen())
			return LOG_END_STOPPED;
		if (boxes_have_gone(&flight->boxes, err))
			return LOG_END_ERROR;
		rc = capture_poll(recording->capture, POLL_MS, err);
		if (rc > 0)
			return capture_end_reason(recording->capture);
		if (rc == 0)
			rc = recorder_serve(flight->recorder, recording, err);
		if (rc < 0 && rc != -EINTR)
			return LOG_END_ERROR;
		kept = board_stats(writer_board(recording->writer), now_ns());
		tell_small(flight, &kept);
		show_status(flight, &kept);
	}
}

static void tell_broken(const struct flight *flight, const struct error *err)
{
	const struct error *why = writer_error(flight->recording.writer);

	if (!why->text[0])
		why = err;
	fprintf(stderr, "gotrace: recording PID %d broke off: %s\n", (int)flight->recording.pid,
		why->text[0] ? why->text : "the log could not be read");
}

static void tell_end(const struct flight *flight, enum log_end_reason reason)
{
	uint64_t lost = record_lost(capture_stats(flight->recording.capture));

	if (reason == LOG_END_EXITED && !flight->recorder->options->look.quiet)
		fprintf(stderr, "gotrace: PID %d has ended\n", (int)flight->recording.pid);
	if (reason == LOG_END_EXECED && !flight->recorder->options->look.quiet)
		fprintf(stderr, "gotrace: PID %d runs another program now\n", (int)flight->recording.pid);
	if (lost)
		fprintf(stderr, "gotrace: lost in all: %s records (the traces say where)\n",
			text_count(lost).bytes);
}

/* What ends by itself leaves a snapshot of its end; what was asked for is written in any case. */
static enum log_end_reason run(struct flight *flight)
{
	struct error err = {""}, end_err = {""};
	enum log_end_reason reason;

	status_init(&flight->status, !flight->recorder->options->look.quiet, now_ns());
	reason = follow(flight, &err);
	status_clear(&flight->status);
	if (capture_stop(flight->recording.capture, reason, &end_err) && reason != LOG_END_ERROR)
		err = end_err;
	relay_flush(flight->recording.relay);
	writer_sync(flight->recording.writer);
	writer_end(flight->recording.writer);
	tell_end(flight, reason);
	if (reason == LOG_END_ERROR)
		tell_broken(flight, &err);
	recorder_settle(flight->recorder, &flight->recording, reason != LOG_END_STOPPED);
	return reason;
}

static void close_flight(struct flight *flight)
{
	struct recording *recording = &flight->recording;

	if (recording->capture)
		capture_free(recording->capture);
	relay_free(recording->relay);
	functions_free(&flight->functions);
	if (flight->target)
		target_free(flight->target);
	boxes_close(&flight->boxes);
	snapshot_writer_free(recording->files);
	free(flight);
}

/* Returns the exit status if nothing follows; *began is set if the process could be recorded. */
static int record_one(struct recorder *recorder, pid_t pid, bool *began, struct error *err)
{
	struct flight *flight = calloc(1, sizeof(*flight));
	int status = STATUS_WHOLE;

	*began = false;
	if (!flight)
		return error_set(err, ENOMEM, "out of memory") ? STATUS_NONE : STATUS_NONE;
	flight->recorder = recorder;
	flight->recording.pid = pid;
	if (start(flight, err) == 0) {
		*began = true;
		tell_begin(flight);
		if (run(flight) == LOG_END_ERROR)
			status = STATUS_NONE;
		else if (record_lost(capture_stats(flight->recording.capture)) || recorder->failures)
			status = STATUS_CUT;
	} else {
		status = STATUS_NONE;
	}
	if (flight->recording.relay)
		relay_flush(flight->recording.relay);
	close_flight(flight);
	return status;
}

/* --- successors --- */

/* What could not be recorded, and when that was: it is told once, and tried again later. */
struct refused {
	struct found_process process;
	time_t when;
};

static bool was_refused(const struct refused *refused, const struct found_process *process, bool for_now)
{
	for (int i = 0; i < MAX_FOUND; i++) {
		const struct refused *one = &refused[i];

		if (one->process.pid == process->pid && one->process.start == process->start)
			return !for_now || time(NULL) - one->when < RETRY_S;
	}
	return false;
}

static void note_refused(struct refused *refused, const struct found_process *process,
			 const struct error *err)
{
	bool told = was_refused(refused, process, false);

	if (!told) {
		message_error(err);
		memmove(refused + 1, refused, (MAX_FOUND - 1) * sizeof(*refused));
		refused[0].process = *process;
	}
	for (int i = 0; i < MAX_FOUND; i++) {
		if (refused[i].process.pid == process->pid)
			refused[i].when = time(NULL);
	}
}

/* Records the newest that can be; false if there was none. */
static bool record_found(struct recorder *recorder, struct refused *refused, int *status)
{
	const struct flight_options *options = recorder->options;
	struct found_process found[MAX_FOUND];
	struct error err = {""};
	int n = find_processes(options->comm, options->cgroup, found, &err);
	bool began = false;
	int ended;

	for (int i = 0; i < n && !began && !signals_seen(); i++) {
		if (was_refused(refused, &found[i], true))
			continue;
		ended = record_one(recorder, found[i].pid, &began, &err);
		if (began)
			*status = ended;
		else
			note_refused(refused, &found[i], &err);
	}
	return began;
}

static int record_successors(struct recorder *recorder)
{
	struct refused *refused = calloc(MAX_FOUND, sizeof(*refused));
	const struct flight_options *options = recorder->options;
	int status = STATUS_WHOLE;
	bool told = false;

	while (refused && !signals_seen()) {
		if (record_found(recorder, refused, &status)) {
			told = false;
			continue;
		}
		if (!told && !options->look.quiet)
			fprintf(stderr, "gotrace: waiting for a process of %s %s\n",
				options->comm ? "the name" : "the cgroup",
				options->comm ? options->comm : options->cgroup);
		told = true;
		recorder_idle(recorder);
		poll(NULL, 0, LOOK_MS);
	}
	free(refused);
	return status == STATUS_NONE ? STATUS_CUT : status;
}

static int fly(const struct flight_options *options)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	struct error err = {""};
	int status = STATUS_NONE;
	bool began;

	if (!recorder)
		return STATUS_NONE;
	if (recorder_open(recorder, options, &err)) {
		message_error(&err);
	} else if (options->look.pid) {
		status = record_one(recorder, options->look.pid, &began, &err);
		if (!began)
			message_error(&err);
	} else {
		status = record_successors(recorder);
	}
	recorder_close(recorder);
	free(recorder);
	return status;
}

int command_flight(int argc, char **argv)
{
	struct flight_options *options = calloc(1, sizeof(*options));
	struct error err;
	int status;

	if (!options)
		return STATUS_NONE;
	if (options_flight(argc, argv, options, &err)) {
		status = options_refuse("gotrace flight", &err);
	} else if (options->help) {
		options_help_flight();
		status = STATUS_WHOLE;
	} else {
		signals_install();
		signals_count_snapshots();
		status = fly(options);
	}
	free(options);
	return status;
}
