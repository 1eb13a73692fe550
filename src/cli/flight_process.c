/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/flight_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/find_process.h"
#include "cli/layout_file.h"
#include "cli/recorder.h"
#include "cli/session.h"
#include "workers/summary/exit_status.h"
#include "target/functions/value_list.h"
#include "util/clock.h"
#include "util/message.h"
#include "util/text.h"

/* How often it is looked at how much is not watched. */
#define BLIND_LOOK_NS 30000000000ull

/* The recording of one process. */
struct flight {
	struct session session;
	struct recorder *recorder;
	struct recording recording;
	struct found_process wanted;
	bool small_reported; /* --max-bytes was reported as too small for the window */
	bool blind_reported; /* that most of the time is not watched */
	uint64_t looked_ns,
		unwatched_ns; /* when that was last looked at, and how much had not been watched */
};

static enum wire_format format_of(const struct flight *flight)
{
	enum wire_format wanted = flight->recorder->options->record.trace_options.format;

	if (wanted != WIRE_NONE)
		return wanted;
	return flight->session.target ? wire_format_of_release(flight->session.target->go_minor) : WIRE_GO126;
}

/* Returns the name of a trigger that needs a Go program, or NULL. */
static const char *go_trigger(const struct flight_plan *plan)
{
	for (unsigned i = 0; i < plan->ntriggers; i++) {
		const char *name = trigger_go_only(&plan->triggers[i]);

		if (name)
			return name;
	}
	return NULL;
}

static bool has_task_option(const struct record_options *record)
{
	for (unsigned i = 0; i < record->nfunctions; i++) {
		if (record->functions[i].kind == FUNCTION_TASK)
			return true;
	}
	return false;
}

/* In a program that is traced as threads, only --task makes tasks: without it, `request` never matches. */
static int check_requests(const struct flight *flight, struct error *err)
{
	const struct flight_plan *plan = &flight->recorder->options->plan;

	if (flight->session.target || has_task_option(&flight->recorder->options->record))
		return 0;
	for (unsigned i = 0; i < plan->ntriggers; i++) {
		const struct trigger *trigger = &plan->triggers[i];

		if (trigger->kind == TRIGGER_REQUEST)
			return error_set(
				err, EINVAL,
				"--on '%.*s': %s is traced as threads and has no requests: also give "
				"--task FUNC",
				text_fit(trigger->text, 100), trigger->text, flight->session.process.label);
	}
	return 0;
}

/* Whether calls of this function are regions of that name. want->text may end in values in parentheses. */
static bool flight_process_has_name(const struct function_want *want, const char *name, bool go)
{
	struct value_list list;

	if (strcmp(want->text, name) == 0)
		return true;
	/* In C++ the parentheses may be a function's parameters, and part of its name. */
	if (value_list_parse(want->text, &list, NULL) || !list.n || (!go && !list.certain))
		return false;
	return strlen(name) == list.name_len && memcmp(want->text, name, list.name_len) == 0;
}

/* Collects the functions of --region, --task and the triggers, each once. */
static int functions_of(const struct flight *flight, struct function_want wanted[MAX_FUNCTIONS], unsigned *n,
			struct error *err)
{
	const struct flight_options *options = flight->recorder->options;
	unsigned which;

	*n = options->record.nfunctions;
	memcpy(wanted, options->record.functions, *n * sizeof(*wanted));
	for (unsigned i = 0; i < options->plan.ntriggers; i++) {
		const struct trigger *trigger = &options->plan.triggers[i];

		if (trigger->kind != TRIGGER_FUNCTION)
			continue;
		for (which = 0; which < *n && !flight_process_has_name(&wanted[which], trigger->name,
								       flight->session.target);)
			which++;
		if (which == MAX_FUNCTIONS)
			return error_set(err, EINVAL, "more than %u functions by --region, --task and --on",
					 MAX_FUNCTIONS);
		if (which == *n)
			wanted[(*n)++] =
				(struct function_want){.text = trigger->name, .kind = FUNCTION_REGION};
	}
	return 0;
}

/*
 * The recorder pipeline runs in the writer. A socket connects its snapshot worker and the thread that opens
 * the files.
 */
static int begin_recorder(struct flight *flight, struct error *err)
{
	struct writer_options options = {.trace_options = flight->recorder->options->record.trace_options};
	struct recording *recording = &flight->recording;
	int ends[2], rc;

	recording->writer = flight->session.workers.writer;
	options.trace_options.format = format_of(flight);
	recording->format = options.trace_options.format;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return error_set(err, errno, "cannot set up the sandbox: %s", strerror(errno));
	recording->files = snapshot_files_new(&flight->recorder->store, ends[0]);
	rc = recording->files ? writer_begin_recorder(recording->writer, &options, ends[1], err)
			      : error_set(err, ENOMEM, "out of memory");
	close(ends[1]);
	return rc;
}

/* Holds the process that was found. Its PID may have been reused since. */
static int hold_process(struct flight *flight, struct error *err)
{
	const struct found_process *wanted = &flight->wanted;
	struct snapshot_origin *origin = &flight->recording.origin;
	int rc = session_hold(&flight->session, err);
	uid_t effective;

	if (rc)
		return rc;
	origin->start = process_start(wanted->pid);
	if (!process_users(wanted->pid, &origin->uid, &effective) ||
	    (wanted->start && origin->start != wanted->start))
		return error_set(err, ESRCH, "PID %d has just ended", (int)wanted->pid);
	if (wanted->start && !process_matches(&flight->recorder->options->filter, wanted->pid))
		return error_set(err, ESRCH, "PID %d has just become another program or user",
				 (int)wanted->pid);
	return 0;
}

static int open_target(struct flight *flight, struct error *err)
{
	const struct flight_plan *plan = &flight->recorder->options->plan;
	struct function_want functions[MAX_FUNCTIONS];
	unsigned n = 0;
	int rc = session_open_target(&flight->session, err);

	if (rc == 0)
		rc = session_check_options(&flight->session, go_trigger(plan), err);
	if (rc == 0)
		rc = check_requests(flight, err);
	if (rc == 0)
		rc = functions_of(flight, functions, &n, err);
	if (rc == 0)
		rc = session_make_plan(&flight->session, functions, n, err);
	return rc;
}

static int open_capture(struct flight *flight, struct error *err)
{
	const struct log_outlet outlet = workers_outlet(&flight->session.workers);
	int rc = session_open_capture(&flight->session, &outlet, true, err);

	flight->recording.capture = flight->session.capture;
	return rc;
}

static int flight_process_begin(struct flight *flight, struct error *err)
{
	struct session *session = &flight->session;
	int rc = session_check_machine(session, err);

	if (rc == 0)
		rc = hold_process(flight, err);
	if (rc == 0)
		rc = session_open_workers(session, &flight->recorder->options->plan, err);
	if (rc == 0)
		rc = open_target(flight, err);
	if (rc == 0)
		rc = begin_recorder(flight, err);
	if (rc == 0)
		rc = open_capture(flight, err);
	/* Before the probes are attached: sending it takes tens of ms, during which nobody drains the rings.
	 */
	if (rc == 0 && session->target)
		workers_functab(&session->workers, session->target);
	if (rc)
		return rc;
	workers_hurry(&session->workers);
	return capture_start(session->capture, err);
}

static void flight_process_report_begin(const struct flight *flight)
{
	const struct recorder *recorder = flight->recorder;

	if (flight->session.target)
		layout_report(flight->session.target, recorder->options->record.layout);
	if (flight->session.plan.left_out[0])
		message("not traced in this program: %s", flight->session.plan.left_out);
	if (recorder->options->record.quiet)
		return;
	if (flight->session.target)
		message("recording PID %d (%s), %u probes; write with: gotrace snapshot -p %d",
			(int)flight->recording.origin.pid, flight->session.target->go_version,
			capture_stats(flight->session.capture)->probes, (int)getpid());
	else
		message("recording PID %d (%s) as threads; write with: gotrace snapshot -p %d",
			(int)flight->recording.origin.pid,
			text_name(flight->session.process.comm, strlen(flight->session.process.comm), 16)
				.bytes,
			(int)getpid());
}

/* Reports, once per process, that --max-bytes is too small for the window. */
static void report_small(struct flight *flight, const struct generation_ring_stats *kept)
{
	const struct flight_plan *plan = &flight->recorder->options->plan;

	if (flight->small_reported || !kept->dropped_in_window)
		return;
	flight->small_reported = true;
	status_line_clear(&flight->session.status);
	message("--max-bytes %s now holds only the last %s, not the window of %s",
		text_bytes(flight_share_part(plan->share, plan->max_bytes)).bytes,
		text_time(now_ns() - kept->start_ns).bytes, text_time(plan->window_ns).bytes);
}

/* Reports, once per process, that most of the time is not watched. */
static void report_blind(struct flight *flight)
{
	uint64_t now = now_ns(), took = now - flight->looked_ns, unwatched, blind;

	if (flight->blind_reported || took < BLIND_LOOK_NS)
		return;
	unwatched = capture_stats(flight->session.capture)->unwatched_ns;
	blind = unwatched - flight->unwatched_ns;
	if (flight->looked_ns && blind > took / 2) {
		flight->blind_reported = true;
		status_line_clear(&flight->session.status);
		message("not watched: %s of the last %s, in which no trigger can fire; the traces say why "
			"(a higher --max-overhead records more, if it is the limit)",
			text_time(blind).bytes, text_time(took).bytes);
	}
	flight->looked_ns = now;
	flight->unwatched_ns = unwatched;
}

/* Called before each round of draining. */
static int flight_process_step(void *ctx, struct error *err)
{
	struct flight *flight = ctx;
	struct generation_ring_stats kept;
	int rc = recorder_serve(flight->recorder, &flight->recording, err);

	if (rc)
		return rc;
	kept = status_page_stats(writer_status_page(flight->recording.writer), now_ns());
	report_small(flight, &kept);
	report_blind(flight);
	session_show_status(&flight->session, kept.bytes);
	return 0;
}

static void report_broken(const struct flight *flight, const struct error *err)
{
	const struct error *why = writer_error(flight->recording.writer);

	if (!why->text[0])
		why = err;
	message("recording of PID %d stopped early: %s", (int)flight->recording.origin.pid,
		why->text[0] ? why->text : "the log could not be read");
}

static void flight_process_report_end(const struct flight *flight, enum log_end_reason reason)
{
	const struct capture_stats *stats = capture_stats(flight->session.capture);
	uint64_t lost = session_lost(&flight->session);

	if (!flight->recorder->options->record.quiet)
		session_report_end(flight->recording.origin.pid, reason);
	if (stats->unwatched_ns)
		message("not watched: %s in all (the traces record when and why)",
			text_time(stats->unwatched_ns).bytes);
	if (lost)
		message("lost: %s records in all (the traces record where)", text_count(lost).bytes);
}

/*
 * Records until the end. Then writes a snapshot unless recording was stopped by request; a snapshot that is
 * due is always written.
 */
static enum log_end_reason flight_process_run(struct flight *flight)
{
	struct error err = {""}, end_err = {""};
	enum log_end_reason reason;

	status_line_init(&flight->session.status,
			 !flight->recorder->options->record.quiet && !flight->recorder->options->node,
			 now_ns());
	reason = session_follow(&flight->session, flight_process_step, flight, &err);
	status_line_clear(&flight->session.status);
	if (capture_stop(flight->recording.capture, reason, &end_err) && reason != LOG_END_ERROR)
		err = end_err;
	writer_sync(flight->recording.writer);
	writer_end(flight->recording.writer);
	flight_process_report_end(flight, reason);
	if (reason == LOG_END_ERROR)
		report_broken(flight, &err);
	recorder_settle(flight->recorder, &flight->recording, reason != LOG_END_STOPPED);
	return reason;
}

static void close_flight(struct flight *flight)
{
	recorder_end_host(&flight->recording);
	session_close(&flight->session);
	snapshot_files_free(flight->recording.files);
	free(flight);
}

int flight_record(struct recorder *recorder, const struct found_process *process, void (*began)(void *ctx),
		  void *ctx, int *status, struct error *err)
{
	struct flight *flight = calloc(1, sizeof(*flight));
	int rc;

	*status = STATUS_NONE;
	if (!flight)
		return error_set(err, ENOMEM, "out of memory");
	flight->recorder = recorder;
	flight->wanted = *process;
	session_init(&flight->session, &recorder->options->record, process->pid);
	flight->session.more_capabilities = recorder->to_attach;
	flight->recording.origin.pid = process->pid;
	rc = flight_process_begin(flight, err);
	if (rc == 0) {
		flight->recording.began_ns = now_ns();
		recorder->server.target = process->pid;
		flight_process_report_begin(flight);
		if (began)
			began(ctx);
		recorder_begin_host(recorder, &flight->recording);
		if (flight_process_run(flight) != LOG_END_ERROR)
			*status = session_lost(&flight->session) || recorder->failures ? STATUS_CUT
										       : STATUS_WHOLE;
		recorder->server.target = 0;
	}
	close_flight(flight);
	return rc;
}
