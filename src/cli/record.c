/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace -p PID, gotrace -- CMD: traces a live process. */
#include "cli/record.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/layout_file.h"
#include "cli/record_export.h"
#include "cli/session.h"
#include "cli/signals.h"
#include "cli/spawn.h"
#include "cli/titles.h"
#include "pipeline/pipeline.h"
#include "workers/summary/status.h"
#include "target/target.h"
#include "util/clock.h"
#include "util/limits.h"
#include "util/message.h"
#include "util/text.h"

/* Time limit for a started program to be mapped: exec continues after gotrace has been notified of it. */
#define BIND_MS 1000
/* Time to wait for the program's end after Ctrl-C, which the program also received. */
#define GRACE_MS 2000

/* A trace, and the program that is started for it, if any. */
struct record {
	struct session session;
	const struct record_options *options;
	char path[PATH_MAX]; /* of the program to start */
	struct child child;
	struct output trace, raw;
	struct error broken; /* why tracing ended early; "" = it did not */
	uint64_t followed;   /* forked processes seen so far */
};

/* --- the log, with --children --- */

/* The broker must know a process before the writer gets its first record and inspects it. */
static void allow_processes(struct record *record, const struct log_record *log)
{
	struct broker *broker = record->session.workers.broker;
	const struct log_target *target = log->data;
	const struct raw_record *records = log->data;

	if (log->type == LOG_TARGET && log->size >= sizeof(*target))
		broker_allow(broker, (pid_t)target->pid);
	for (size_t i = 0; log->type == LOG_RECORDS && i < log->size / sizeof(*records); i++) {
		if (!log_is_followed_fork(&records[i]))
			continue;
		broker_allow(broker, (pid_t)records[i].arg);
		record->followed++;
	}
}

static void note_processes(struct record *record, const struct log_record *log)
{
	struct titles *titles = record->options->parts ? record->options->parts->titles : NULL;
	const struct log_target *target = log->data;
	const struct raw_record *records = log->data;

	if (!titles)
		return;
	if (log->type == LOG_TARGET && log->size >= sizeof(*target))
		titles_add(titles, (pid_t)target->pid);
	for (size_t i = 0; log->type == LOG_RECORDS && i < log->size / sizeof(*records); i++) {
		if (log_is_followed_fork(&records[i]))
			titles_add(titles, (pid_t)records[i].arg);
		if (records[i].site == SITE_EXEC)
			titles->next_ns = 0;
	}
}

static int put_several(void *ctx, const struct log_record *log)
{
	struct record *record = ctx;

	allow_processes(record, log);
	note_processes(record, log);
	return writer_put(record->session.workers.writer, log);
}

static void flush_several(void *ctx)
{
	struct record *record = ctx;

	writer_flush(record->session.workers.writer);
}

/* Limit on processes that wait for the writer. Each costs far more than records do: files, tables, names. */
#define MAX_WAITING 512

static double fill_several(void *ctx)
{
	struct record *record = ctx;
	struct writer *writer = record->session.workers.writer;
	double bytes = writer_fill(writer);
	uint64_t begun = writer_begun(writer);
	double waiting = begun < record->followed ? (double)(record->followed - begun) / MAX_WAITING : 0;

	return bytes > waiting ? bytes : waiting;
}

static struct log_outlet outlet(struct record *record)
{
	if (!record->options->children)
		return workers_outlet(&record->session.workers);
	return (struct log_outlet){
		.put = put_several, .flush = flush_several, .fill = fill_several, .ctx = record};
}

/* --- beginning --- */

static struct summary_style style_of(const struct record_options *options)
{
	struct summary_style style = options->style;

	style.width = (uint16_t)status_line_width();
	return style;
}

static int begin_writing(struct record *record, struct error *err)
{
	const struct record_options *options = record->options;
	const struct target *target = record->session.target;
	const struct record_parts *parts = options->parts;
	const struct writer_options wanted = {
		.trace = &record->trace,
		.raw = options->raw ? &record->raw : NULL,
		.trace_options = options->trace_options,
		.max_bytes = options->max_bytes,
		.json = options->json,
		.quiet = options->quiet || options->parts || options->trace_fd,
		.style = style_of(options),
		.exact = options->detail == DETAIL_EXACT,
		.first = options->children ? record->session.pid : 0,
		.layout = target ? layout_source(target, options->layout) : "",
		.file_server = {.output = options->output,
				.raw = options->raw,
				.now = time(NULL),
				.beside = parts ? parts->beside : NULL,
				.handed_to = parts ? parts->socket : -1},
	};

	return writer_begin(record->session.workers.writer, &wanted, err);
}

/* It may be a pipe. */
static int adopt_trace(struct output *trace, int fd)
{
	struct stat st;

	return output_adopt(trace, fd, "the trace", fstat(fd, &st) == 0 && S_ISREG(st.st_mode), false);
}

static int open_files(struct record *record, struct error *err)
{
	const struct record_options *options = record->options;
	int rc;

	if (options->children)
		return begin_writing(record, err);
	if (options->parts)
		rc = output_adopt(&record->trace, options->parts->trace, options->output, true, false);
	else if (options->trace_fd)
		rc = adopt_trace(&record->trace, options->trace_fd);
	else if (options->output)
		rc = output_open(&record->trace, options->output, err);
	else
		rc = output_open_new(&record->trace, NULL, record->session.pid, time(NULL), err);
	if (rc == 0 && options->raw)
		rc = output_open(&record->raw, options->raw, err);
	return rc ? rc : begin_writing(record, err);
}

static int find_program(struct record *record, struct error *err)
{
	record->session.path = record->path;
	return spawn_find(record->options->command[0], record->path, err);
}

/* The child waits until the probes are in place before it becomes the program. */
static int start_child(struct record *record, struct error *err)
{
	struct session *session = &record->session;
	int rc = spawn_fork(record->path, record->options->command, &record->child, err);

	session->pid = record->child.pid;
	if (rc == 0)
		rc = session_hold(session, err);
	if (rc == 0)
		broker_allow(session->workers.broker, session->pid);
	return rc;
}

/* Layouts of other releases are verified on the running process before use. This one has not started yet. */
static int check_release_of_command(const struct target *target, struct error *err)
{
	if (!target || !target->nearest)
		return 0;
	return error_set(
		err, ENOTSUP,
		"the program was built by %s, which this gotrace does not support for CMD: start the "
		"program and trace it with -p PID",
		target->go_version);
}

/* Does everything that can fail without leaving a trace. Until it succeeds, no existing file is replaced. */
static int record_prepare(struct record *record, struct error *err)
{
	const struct record_options *options = record->options;
	struct session *session = &record->session;
	int rc = limits_raise_files(err);

	/* Check the machine first: an unmounted /proc is its fault, not the process's. */
	if (rc == 0)
		rc = session_check_machine(session, err);
	if (rc == 0 && !options->command)
		rc = session_hold(session, err);
	if (rc == 0)
		rc = session_open_workers(session, NULL, err);
	if (rc == 0 && options->command)
		rc = find_program(record, err);
	if (rc == 0)
		rc = session_open_target(session, err);
	if (rc == 0 && options->command)
		rc = check_release_of_command(session->target, err);
	if (rc == 0)
		rc = session_check_options(session, NULL, err);
	if (rc == 0)
		rc = session_make_plan(session, options->functions, options->nfunctions, err);
	if (rc == 0 && options->command)
		rc = start_child(record, err);
	if (rc == 0) {
		const struct log_outlet out = outlet(record);

		rc = session_open_capture(session, &out, options->trace_options.any_first, err);
	}
	return rc ? rc : open_files(record, err);
}

static int bind_target(struct record *record, struct error *err)
{
	int rc = -ESRCH;

	for (int waited = 0; waited < BIND_MS; waited++) {
		bool ended = spawn_has_ended(&record->child);

		rc = target_bind(record->session.target, record->child.pid, err);
		if (rc == 0 || ended)
			break;
		poll(NULL, 0, 1);
	}
	return rc;
}

/* A program that ends before it can be inspected has been traced nevertheless. */
static int release_child(struct record *record, struct error *err)
{
	int rc;

	if (record->child.pid == 0)
		return 0;
	rc = spawn_release(&record->child, err);
	if (rc)
		return rc;
	if (!record->session.target) {
		process_open(&record->session.process, record->child.pid);
		return 0;
	}
	rc = bind_target(record, err);
	return rc && spawn_has_ended(&record->child) ? 0 : rc;
}

/* -d counts from the beginning of the trace. */
static void set_deadline(struct record *record)
{
	uint64_t start = capture_stats(record->session.capture)->start_ns;

	if (record->options->duration_ns)
		atomic_store(&record->session.deadline_ns,
			     (start ? start : now_ns()) + record->options->duration_ns);
	capture_look_at_guard(record->session.capture);
}

/*
 * Sending the function table takes tens of ms, during which nobody drains the rings. So it is sent before the
 * probes are attached, unless the program is yet to start: its addresses are not known before it runs.
 */
static void send_functab(struct record *record)
{
	if (record->session.target && !record->options->probe_only)
		workers_functab(&record->session.workers, record->session.target);
}

static int record_start(struct record *record, struct error *err)
{
	int rc;

	if (!record->options->command)
		send_functab(record);
	workers_hurry(&record->session.workers);
	rc = capture_start(record->session.capture, err);
	if (rc == 0)
		rc = release_child(record, err);
	if (rc == 0)
		set_deadline(record);
	if (rc == 0 && record->options->parts && !record->options->children)
		titles_add(record->options->parts->titles, record->session.pid);
	/* From here on there will be a trace, so old files may be replaced. */
	if (rc == 0 && !record->options->children)
		rc = output_publish(&record->trace, err);
	if (rc == 0 && record->options->raw && !record->options->children)
		rc = output_publish(&record->raw, err);
	if (rc == 0 && record->options->command)
		send_functab(record);
	return rc;
}

static void report_what_is_left_out(const struct record *record)
{
	char library[256];

	layout_report(record->session.target, record->options->layout);
	if (record->session.plan.left_out[0])
		message("not traced in this program: %s", record->session.plan.left_out);
	if (target_other_go(record->session.target, library, sizeof(library)))
		message("%s also contains Go code (a plugin, or a runtime of its own): gotrace "
			"traces only the executable's runtime, and code in that file has no names",
			text_name(library, strlen(library), 100).bytes);
}

static void record_report_begin(const struct record *record)
{
	const struct record_options *options = record->options;
	const char *until = options->duration_ns || options->command ? "" : "; end with Ctrl-C";

	if (record->session.target)
		report_what_is_left_out(record);
	if (options->quiet || !isatty(STDERR_FILENO))
		return;
	if (record->session.target)
		message("tracing PID %d (%s), %u probes%s", (int)record->session.pid,
			record->session.target->go_version, capture_stats(record->session.capture)->probes,
			until);
	else
		message("tracing the threads of PID %d (%s)%s%s", (int)record->session.pid,
			text_name(record->session.process.comm, strlen(record->session.process.comm), 16)
				.bytes,
			options->children ? " and of its descendants" : "", until);
}

static void record_measure(const struct record *record)
{
	if (record->options->meter)
		record->options->meter(record->options->meter_ctx, capture_stats(record->session.capture));
}

/* Called before each round of draining. */
static int record_step(void *ctx, struct error *err)
{
	struct record *record = ctx;

	(void)err;
	if (!record->options->children && spawn_has_ended(&record->child))
		return LOG_END_EXITED;
	if (record->options->parts)
		titles_refresh(record->options->parts->titles, now_ns());
	record_measure(record);
	session_show_status(&record->session, writer_progress(record->session.workers.writer).written);
	return 0;
}

/* Keeps the first reason. Errors of the files are reported with the files. */
static void break_off(struct record *record, const struct error *err, const char *otherwise)
{
	if (record->broken.text[0] || writer_error(record->session.workers.writer)->text[0])
		return;
	error_set(&record->broken, EIO, "%s", err->text[0] ? err->text : otherwise);
}

static void record_trace(struct record *record)
{
	enum log_end_reason reason;
	struct error err = {""}, end_err = {""};
	int stopped;

	status_line_init(&record->session.status, !record->options->quiet, now_ns());
	record->session.more_capabilities = output_capabilities(&record->trace);
	reason = session_follow(&record->session, record_step, record, &err);
	status_line_clear(&record->session.status);
	stopped = capture_stop(record->session.capture, reason, &end_err);
	record_measure(record);
	writer_sync(record->session.workers.writer);
	/* A report of some seconds does not say why they are fewer: there is no summary. */
	if (record->options->trace_fd && record->options->duration_ns && !record->options->quiet)
		session_report_end(record->session.pid, reason);
	if (reason == LOG_END_ERROR)
		break_off(record, &err, "tracing stopped early");
	if (stopped)
		break_off(record, &end_err, "the end of the trace could not be read");
	writer_end(record->session.workers.writer);
}

/* gotrace -- CMD ends when CMD ends; a signal also ends the wait. */
static void wait_for_child(struct record *record)
{
	struct child *child = &record->child;

	if (child->pid == 0 || spawn_wait(child, 0))
		return;
	if (!signals_seen() && !record->options->quiet)
		message("the trace is written; waiting for the program to end (Ctrl-C: do not wait)");
	spawn_wait(child, signals_seen() ? GRACE_MS : -1);
}

/* Returns the program's exit status as a shell would report it, unless the trace failed. */
static int exit_status_of(const struct record *record, int status)
{
	int own = record->child.status;

	if (!record->options->command || !record->child.reaped || status != STATUS_WHOLE)
		return status;
	if (WIFSIGNALED(own)) {
		if (record->options->quiet)
			message("the trace is complete; %s was killed by signal %d",
				text_path(record->path).bytes, WTERMSIG(own));
		return 128 + WTERMSIG(own);
	}
	own = WEXITSTATUS(own);
	if (own && record->options->quiet)
		message("the trace is complete; %s exited with status %d", text_path(record->path).bytes,
			own);
	return own;
}

static int finish(struct record *record)
{
	struct exit_info exit = {.command = record->options->command ? record->path : NULL};

	wait_for_child(record);
	exit.command_ended = record->child.reaped;
	exit.command_status = record->child.status;
	if (record->broken.text[0]) {
		message_error(&record->broken);
		exit.cut = record->broken.text;
	}
	return exit_status_of(record, writer_report(record->session.workers.writer, &exit));
}

/* For benchmarks: the probes were attached, and nothing is written. */
static int finish_probes(struct record *record)
{
	wait_for_child(record);
	output_discard(&record->trace);
	output_discard(&record->raw);
	return STATUS_WHOLE;
}

static void record_discard(struct record *record, const struct error *err)
{
	/* If the disk is full, the file's error is more specific than the queue's. */
	bool files;

	if (record->session.workers.writer)
		writer_sync(record->session.workers.writer);
	files = record->session.workers.writer && writer_error(record->session.workers.writer)->text[0];
	message_error(files ? writer_error(record->session.workers.writer) : err);
	output_discard(&record->trace);
	output_discard(&record->raw);
	if (record->session.workers.writer)
		writer_discard(record->session.workers.writer);
}

int record_process(const struct record_options *options)
{
	struct record *record = calloc(1, sizeof(*record));
	struct error err = {""};
	int status = STATUS_NONE;

	if (!record) {
		message("out of memory");
		return STATUS_NONE;
	}
	record->options = options;
	session_init(&record->session, options, options->pid);
	record->child.release_fd = record->child.report_fd = -1;
	output_init(&record->trace);
	output_init(&record->raw);
	signals_install();
	if (record_prepare(record, &err) || record_start(record, &err)) {
		record_discard(record, &err);
	} else {
		record_report_begin(record);
		record_trace(record);
		status = options->probe_only ? finish_probes(record) : finish(record);
	}
	spawn_close(&record->child);
	session_close(&record->session);
	free(record);
	return status;
}

int command_record(int argc, char **argv)
{
	struct record_options options;
	struct error err;
	int rc;

	rc = options_record(argc, argv, &options, &err);
	if (rc)
		return options_end(rc, "gotrace", &err);
	if (options.version) {
		printf("gotrace %s\n", GOTRACE_VERSION);
		return STATUS_WHOLE;
	}
	return record_exports(options.output) ? record_export(&options, record_process)
					      : record_process(&options);
}
