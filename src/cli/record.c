/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace -p PID, gotrace -- CMD: traces a live process. */
#include "cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "capture/capture.h"
#include "cli/boxes.h"
#include "cli/options.h"
#include "cli/record.h"
#include "cli/signals.h"
#include "cli/spawn.h"
#include "pipeline/pipeline.h"
#include "rawlog/relay.h"
#include "report/status.h"
#include "sandbox/privilege.h"
#include "sandbox/remote.h"
#include "target/namespaces.h"
#include "target/process.h"
#include "target/target.h"
#include "util/message.h"

/* The status line wants this pace; capture drains the ring in between. */
#define POLL_MS 100
/* How long a program that has just been started may take to be mapped (exec goes on after we hear of it). */
#define BIND_MS 1000
/* After Ctrl-C, which went to the program too, its end is waited for this long. */
#define GRACE_MS 2000

struct session {
	const struct record_options *options;
	struct features features; /* of this machine */
	struct boxes boxes;
	char path[PATH_MAX];    /* of the program to start */
	struct target *target;  /* a Go program; NULL: */
	struct process process; /* seen as threads */
	struct probe_plan plan;
	struct function_plan functions;
	struct child child;
	struct relay *relay; /* in front of the writer: between flushes that is the other thread's */
	struct capture *capture;
	struct output trace, raw;
	struct status status;
	uint64_t deadline_ns; /* 0 = none */
	struct error broken;  /* why tracing ended before its time; "" = it did not */
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static pid_t traced_pid(const struct session *session)
{
	return session->child.pid ? session->child.pid : session->options->pid;
}

static int check_process(struct session *session, struct error *err)
{
	const struct record_options *options = session->options;
	int rc;

	rc = namespace_check_proc(err);
	if (rc)
		return rc;
	if (!options->command)
		return process_check("/proc", options->pid, err);
	rc = spawn_find(options->command[0], session->path, err);
	return rc ? rc : process_check_file(session->path, err);
}

static int open_go(struct session *session, struct error *err)
{
	if (session->options->command)
		return remote_target_open_file(&session->boxes.looker, session->path, &session->target, err);
	return remote_target_open(&session->boxes.looker, session->options->pid, &session->target, err);
}

/* Not all of the processes are Go programs, perhaps: they are seen in one way. */
static void tell_if_go(struct session *session)
{
	struct error none;

	if (session->options->as == AS_C || session->options->quiet || open_go(session, &none))
		return;
	fprintf(stderr,
		"gotrace: this is a Go program: with --children its threads are seen, not its goroutines\n");
	target_free(session->target);
	session->target = NULL;
}

/* A Go program that cannot be traced as one is told so; it does not become threads unasked. */
static int find_target(struct session *session, struct error *err)
{
	const struct record_options *options = session->options;
	int rc = check_process(session, err);

	if (rc == 0 && options->as != AS_C && !options->children) {
		rc = open_go(session, err);
		if (rc != -ENOEXEC || options->as == AS_GO)
			return rc;
		rc = 0;
	}
	if (rc == 0 && options->children)
		tell_if_go(session);
	if (rc == 0 && options->command)
		process_open_file(&session->process, session->path);
	else if (rc == 0)
		process_open(&session->process, options->pid);
	return rc;
}

/* What there is in Go programs only. */
static int check_options(const struct session *session, struct error *err)
{
	const struct record_options *options = session->options;
	const char *wrong = options->alloc            ? "--alloc"
			    : options->exact          ? "--exact"
			    : options->light          ? "--light"
			    : options->spans          ? "--spans"
			    : options->runtime_frames ? "--runtime-frames"
			    : options->probe_only     ? "--probe-only"
						      : NULL;

	if (options->children && options->max_overhead)
		return error_set(err, EINVAL, "--max-overhead is for one process, not with --children");
	if (session->target || !wrong)
		return 0;
	return error_set(err, EINVAL, "%s is for Go programs: %s is traced as threads", wrong,
			 session->process.label);
}

static int find_functions(struct session *session, struct error *err)
{
	const struct record_options *options = session->options;

	if (session->target)
		return remote_functions_plan(&session->boxes.looker, 0, "", options->functions,
					     options->nfunctions, &session->functions, err);
	return remote_functions_plan(&session->boxes.looker, options->pid, session->path, options->functions,
				     options->nfunctions, &session->functions, err);
}

/* A process that is traced may be looked at, before whoever writes its trace hears of it. */
static void allow_processes(struct session *session, const struct log_record *record)
{
	const struct log_target *target = record->data;
	const struct raw_record *records = record->data;

	if (record->type == LOG_TARGET && record->size >= sizeof(*target))
		broker_allow(session->boxes.broker, (pid_t)target->pid);
	for (size_t i = 0; record->type == LOG_RECORDS && i < record->size / sizeof(*records); i++) {
		if (records[i].site == SITE_FORK && records[i].arg != records[i].goid)
			broker_allow(session->boxes.broker, (pid_t)records[i].arg);
	}
}

/* What the relay hands its records to, with the children. */
static int put_several(void *ctx, const struct log_record *record)
{
	struct session *session = ctx;

	allow_processes(session, record);
	return boxes_put(&session->boxes, record);
}

/* A thousand processes, two descriptors each. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int make_relay(struct session *session, struct error *err)
{
	if (session->options->children) {
		raise_limit();
		session->relay = relay_new(put_several, session);
	} else {
		session->relay = relay_new(boxes_put, &session->boxes);
	}
	return session->relay ? 0 : error_set(err, ENOMEM, "out of memory");
}

struct shed_options record_shed(const struct record_options *options)
{
	struct shed_options shed = {.first = LEVEL_EXACT, .last = LEVEL_LIGHT};

	if (options->max_overhead)
		shed = (struct shed_options){.last = LEVEL_OFF,
					     .max_percent = options->max_overhead,
					     .free_share = options->free_share};
	if (options->exact || options->probe_only)
		shed.last = LEVEL_EXACT;
	if (options->light)
		shed.first = LEVEL_LIGHT;
	if (options->spans)
		shed.first = LEVEL_SPANS;
	if (shed.last < shed.first)
		shed.last = shed.first;
	return shed;
}

int record_capture(const struct record_options *options, struct capture_options *wanted,
		   struct capture **capture, struct error *err)
{
	wanted->ring_bytes = options->ring_bytes;
	wanted->rings = options->rings;
	wanted->syscalls = options->syscalls;
	wanted->sample_hz = options->sample_hz;
	wanted->shed = record_shed(options);
	return capture_open(wanted, capture, err);
}

static int open_capture(struct session *session, struct error *err)
{
	const struct module_reader reader = boxes_reader(&session->boxes);
	struct capture_options wanted = {
		.features = &session->features,
		.target = session->target,
		.plan = &session->plan,
		.process = session->target ? NULL : &session->process,
		.functions = &session->functions,
		.pid = traced_pid(session),
		.reader = &reader,
		.spawned = session->child.pid != 0,
		.children = session->options->children,
		.probe_only = session->options->probe_only,
		.sink = relay_put,
		.ctx = session->relay,
	};

	return record_capture(session->options, &wanted, &session->capture, err);
}

static int begin_writing(struct session *session, struct error *err)
{
	const struct record_options *options = session->options;
	const struct writer_options wanted = {
		.trace = &session->trace,
		.raw = options->raw ? &session->raw : NULL,
		.format = options->format,
		.runtime_frames = options->runtime_frames,
		.json = options->json,
		.quiet = options->quiet,
		.first = options->children ? traced_pid(session) : 0,
		.clerk = {.output = options->output, .raw = options->raw, .now = time(NULL)},
	};

	return writer_begin(session->boxes.writer, &wanted, err);
}

static int open_files(struct session *session, struct error *err)
{
	const struct record_options *options = session->options;
	int rc;

	if (options->children)
		return begin_writing(session, err);
	if (options->output)
		rc = output_open(&session->trace, options->output, err);
	else
		rc = output_open_default(&session->trace, traced_pid(session), time(NULL), err);
	if (rc == 0 && options->raw)
		rc = output_open(&session->raw, options->raw, err);
	return rc ? rc : begin_writing(session, err);
}

/* What neither a Go program nor threads can be traced without; the rest is known when it is known which it
 * is. */
static int check_machine(struct session *session, struct error *err)
{
	const struct feature *go, *c;

	features_probe(&session->features,
		       &(struct features_options){.root = "", .btf = session->options->btf});
	go = features_lack(&session->features, NEED_GO);
	c = features_lack(&session->features, NEED_C);
	return go && go == c ? error_set(err, ENOTSUP, "%s", features_line(go).text) : 0;
}

/* Everything that can fail without a trace: until here nothing was replaced, and nothing is lost. */
static int prepare(struct session *session, struct error *err)
{
	const struct record_options *options = session->options;
	int rc = check_machine(session, err);

	if (rc == 0)
		rc = boxes_open(&session->boxes, options->pid, NULL, err);

	if (rc == 0)
		rc = find_target(session, err);
	if (rc == 0)
		rc = check_options(session, err);
	if (rc == 0 && options->alloc)
		rc = target_want_alloc(session->target, ALLOC_SPANS, err);
	if (rc == 0 && options->nfunctions)
		rc = find_functions(session, err);
	if (rc == 0 && session->target)
		rc = target_plan(session->target, &session->plan, err);
	if (rc == 0 && options->command)
		rc = spawn_fork(session->path, options->command, &session->child, err);
	if (rc == 0 && options->command)
		broker_allow(session->boxes.broker, session->child.pid);
	if (rc == 0)
		rc = make_relay(session, err);
	if (rc == 0)
		rc = open_capture(session, err);
	if (rc == 0)
		rc = open_files(session, err);
	return rc;
}

static int bind_target(struct session *session, struct error *err)
{
	int rc = -ESRCH;

	for (int waited = 0; waited < BIND_MS; waited++) {
		bool ended = spawn_has_ended(&session->child);

		rc = target_bind(session->target, session->child.pid, err);
		if (rc == 0 || ended)
			break;
		poll(NULL, 0, 1);
	}
	return rc;
}

/* A program that is over before it could be looked at has been traced all the same. */
static int release_child(struct session *session, struct error *err)
{
	int rc;

	if (session->child.pid == 0)
		return 0;
	rc = spawn_release(&session->child, err);
	if (rc)
		return rc;
	if (!session->target) {
		process_open(&session->process, session->child.pid);
		return 0;
	}
	rc = bind_target(session, err);
	return rc && spawn_has_ended(&session->child) ? 0 : rc;
}

static int start(struct session *session, struct error *err)
{
	int rc = capture_start(session->capture, err);

	if (rc == 0)
		rc = release_child(session, err);
	/* Names of native code take their time, and the ring has none. */
	if (rc == 0 && session->target)
		rc = relay_flush(session->relay);
	/* From here on there will be a trace: now old files may go. */
	if (rc == 0 && !session->options->children)
		rc = output_publish(&session->trace, err);
	if (rc == 0 && session->options->raw && !session->options->children)
		rc = output_publish(&session->raw, err);
	if (rc == 0 && session->target && !session->options->probe_only)
		boxes_functab(&session->boxes, session->target);
	return rc;
}

static void tell_what_is_left_out(const struct session *session)
{
	char library[256];

	if (session->plan.left_out[0])
		fprintf(stderr, "gotrace: not traced in this program: %s\n", session->plan.left_out);
	if (target_other_go(session->target, library, sizeof(library)))
		fprintf(stderr,
			"gotrace: %s holds Go code, too (a plugin, or a runtime of its own): traced is the "
			"executable's runtime, and code in that file has no names\n",
			text_name(library, strlen(library), 100).bytes);
}

static void tell_begin(const struct session *session)
{
	const struct record_options *options = session->options;
	const char *until = options->duration_ns || options->command ? "" : "; end with Ctrl-C";

	if (session->target)
		tell_what_is_left_out(session);
	if (options->quiet || !isatty(STDERR_FILENO))
		return;
	if (session->target)
		fprintf(stderr, "gotrace: tracing PID %d (%s), %u probes%s\n", (int)traced_pid(session),
			session->target->go_version, capture_stats(session->capture)->probes, until);
	else
		fprintf(stderr, "gotrace: tracing the threads of PID %d (%s)%s%s\n", (int)traced_pid(session),
			text_name(session->process.comm, strlen(session->process.comm), 16).bytes,
			options->children ? " and of its descendants" : "", until);
}

const char *record_look(enum level level, bool threads)
{
	switch (level) {
	case LEVEL_LIGHT:
		return "starts inferred";
	case LEVEL_SPANS:
		return "starts alone";
	case LEVEL_FEW_FRAMES:
		return threads ? "short stacks" : "starts alone, short stacks";
	case LEVEL_NO_SYSCALLS:
		return "no system calls";
	case LEVEL_OFF:
		return "off: over the limit";
	default:
		return "";
	}
}

uint64_t record_lost(const struct capture_stats *stats)
{
	const struct log_loss *loss = &stats->loss;

	return loss->ring_full + loss->stack_full + loss->unreadable + loss->missed + stats->lost_samples;
}

static void show_status(struct session *session, uint64_t now)
{
	const struct capture_stats *stats = capture_stats(session->capture);
	struct status_figures figures = {
		.now_ns = now,
		.events = stats->records,
		.lost = record_lost(stats),
		.bytes = writer_progress(session->boxes.writer).written,
		.hit_ns = stats->probe_hit_ns,
		.look = record_look(stats->level, !session->target),
	};

	status_update(&session->status, &figures);
}

static unsigned poll_time(const struct session *session, uint64_t now)
{
	uint64_t left = POLL_MS;

	if (session->deadline_ns)
		left = (session->deadline_ns - now) / 1000000 + 1;
	return left < POLL_MS ? (unsigned)left : POLL_MS;
}

static bool is_too_big(const struct session *session)
{
	uint64_t max = session->options->max_bytes;

	return max && writer_progress(session->boxes.writer).expected >= max;
}

/* Everything is attached, and what is needed from here on is known. */
static int reduce(struct session *session, struct error *err)
{
	uint64_t needed;
	int rc = boxes_reduce(&session->boxes, session->capture, &needed, err);

	return rc ? rc : privilege_keep(needed | output_capabilities(&session->trace), err);
}

static enum log_end_reason follow(struct session *session, struct error *err)
{
	int first = capture_poll(session->capture, 0, err);

	if ((first < 0 && first != -EINTR) || reduce(session, err))
		return LOG_END_ERROR;
	for (;;) {
		uint64_t now = now_ns();
		int rc;

		if (signals_seen() || (session->deadline_ns && now >= session->deadline_ns))
			return LOG_END_STOPPED;
		if (is_too_big(session))
			return LOG_END_SIZE;
		if (boxes_have_gone(&session->boxes, err))
			return LOG_END_ERROR;
		if (!session->options->children && spawn_has_ended(&session->child))
			return LOG_END_EXITED;
		rc = capture_poll(session->capture, poll_time(session, now), err);
		if (rc == -EINTR)
			continue;
		if (rc < 0)
			return LOG_END_ERROR;
		if (rc > 0)
			return capture_end_reason(session->capture);
		show_status(session, now_ns());
	}
}

/* Keeps the first reason; what the files have to say is told with them. */
static void break_off(struct session *session, const struct error *err, const char *otherwise)
{
	if (session->broken.text[0] || writer_error(session->boxes.writer)->text[0])
		return;
	error_set(&session->broken, EIO, "%s", err->text[0] ? err->text : otherwise);
}

static void trace(struct session *session)
{
	uint64_t now = now_ns();
	enum log_end_reason reason;
	struct error err = {""}, end_err = {""};
	int stopped;

	if (session->options->duration_ns)
		session->deadline_ns = now + session->options->duration_ns;
	status_init(&session->status, !session->options->quiet, now);
	reason = follow(session, &err);
	status_clear(&session->status);
	stopped = capture_stop(session->capture, reason, &end_err);
	relay_flush(session->relay); /* what it failed with is told by the files */
	writer_sync(session->boxes.writer);
	if (reason == LOG_END_ERROR)
		break_off(session, &err, "tracing broke off");
	if (stopped)
		break_off(session, &end_err, "the end of the trace could not be read");
	writer_end(session->boxes.writer);
}

/* gotrace -- CMD ends when CMD ends; a signal ends the waiting too. */
static void wait_for_child(struct session *session)
{
	struct child *child = &session->child;

	if (child->pid == 0 || spawn_wait(child, 0))
		return;
	if (!signals_seen() && !session->options->quiet)
		fprintf(stderr,
			"gotrace: the trace is written; waiting for the program to end (Ctrl-C: leave it)\n");
	spawn_wait(child, signals_seen() ? GRACE_MS : -1);
}

static int finish(struct session *session)
{
	struct writer_last_words words = {.command = session->options->command ? session->path : NULL};

	wait_for_child(session);
	words.command_ended = session->child.reaped;
	words.command_status = session->child.status;
	if (session->broken.text[0]) {
		message_error(&session->broken);
		words.cut = session->broken.text;
	}
	return writer_report(session->boxes.writer, &words);
}

/* For benchmarks: the probes were there, and nothing was to be written. */
static int finish_probes(struct session *session)
{
	wait_for_child(session);
	output_discard(&session->trace);
	output_discard(&session->raw);
	return STATUS_WHOLE;
}

static void discard(struct session *session, const struct error *err)
{
	/* A full disk is told by the files better than by whoever could not hand them a record. */
	bool files;

	if (session->relay)
		relay_flush(session->relay);
	if (session->boxes.writer)
		writer_sync(session->boxes.writer);
	files = session->boxes.writer && writer_error(session->boxes.writer)->text[0];
	message_error(files ? writer_error(session->boxes.writer) : err);
	output_discard(&session->trace);
	output_discard(&session->raw);
	if (session->boxes.writer)
		writer_discard(session->boxes.writer);
}

static void close_session(struct session *session)
{
	spawn_close(&session->child);
	if (session->capture)
		capture_free(session->capture);
	relay_free(session->relay);
	functions_free(&session->functions);
	if (session->target)
		target_free(session->target);
	boxes_close(&session->boxes);
}

static int record(const struct record_options *options)
{
	struct session *session = calloc(1, sizeof(*session));
	struct error err = {""};
	int status = STATUS_NONE;

	if (!session)
		return STATUS_NONE;
	session->options = options;
	session->child.release_fd = session->child.report_fd = -1;
	output_init(&session->trace);
	output_init(&session->raw);
	signals_install();
	if (prepare(session, &err) || start(session, &err)) {
		discard(session, &err);
	} else {
		tell_begin(session);
		trace(session);
		status = options->probe_only ? finish_probes(session) : finish(session);
	}
	close_session(session);
	free(session);
	return status;
}

int command_record(int argc, char **argv)
{
	struct record_options options;
	struct error err;

	if (options_record(argc, argv, &options, &err))
		return options_refuse("gotrace", &err);
	if (options.help) {
		options_help_record();
		return STATUS_WHOLE;
	}
	if (options.version) {
		printf("gotrace %s\n", GOTRACE_VERSION);
		return STATUS_WHOLE;
	}
	return record(&options);
}
