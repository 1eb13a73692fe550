/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/session.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/clock_skew.h"
#include "cli/layout_file.h"
#include "cli/signals.h"
#include "sandbox/privilege.h"
#include "sandbox/remote.h"
#include "target/namespaces.h"
#include "util/clock.h"
#include "util/message.h"
#include "util/proc_stat.h"
#include "util/text.h"
#include "util/utf8.h"

void session_init(struct session *session, const struct record_options *options, pid_t pid)
{
	*session = (struct session){.options = options, .pid = pid, .pidfd = -1};
}

/* Says it once, also where many processes are traced. */
static void check_clocks(void)
{
	static bool checked;
	struct clock_skew skew;

	if (checked)
		return;
	checked = true;
	skew = clock_skew_measure(clock_of_cpu, 30000000);
	if (skew.ns >= LEAST_SKEW_NS)
		message("the clocks of CPU %u and CPU %u differ by %.1f us or more: events of these CPUs may "
			"be in the wrong order",
			skew.first, skew.cpu, (double)skew.ns / 1000);
}

int session_check_machine(struct session *session, struct error *err)
{
	const struct feature *go, *c;

	features_probe(&session->features,
		       &(struct features_options){.root = "", .btf = session->options->btf});
	go = features_find_missing(&session->features, NEED_GO);
	c = features_find_missing(&session->features, NEED_C);
	if (go && go == c)
		return error_set(err, ENOTSUP, "%s", features_line(go).text);
	check_clocks();
	return 0;
}

/*
 * With uprobe_multi links, tracing needs CAP_SYS_ADMIN only for CPU samples where a distribution restricts
 * them to it, and for stacks in the kernel (fs/proc/base.c, proc_pid_stack()).
 */
uint64_t session_to_attach(const struct record_options *options)
{
	struct features features;

	features_probe(&features, &(struct features_options){.root = "", .btf = options->btf});
	return (features.multi && !features.perf_restricted && !options->kernel_stacks ? PRIVILEGE_ATTACH
										       : PRIVILEGE_TRACE) |
	       PRIVILEGE_FILES | PRIVILEGE_CONFINE;
}

int session_hold(struct session *session, struct error *err)
{
	int rc = namespace_check_proc(err);

	if (rc)
		return rc;
	session->pidfd = process_open_pidfd(session->pid, err);
	return session->pidfd < 0 ? session->pidfd : 0;
}

/* --- called by the thread that controls the recording, and by the one that waits for the inspector --- */

enum {
	SIZE_LOOK_MS = 20,
	POLL_MS = 250, /* between calls of step(): for the status line and requests; the rings are drained in
			  between */
};

static void drop_privileges(void *ctx)
{
	struct error none;

	(void)ctx;
	privilege_keep(0, &none);
}

static bool is_over(void *ctx)
{
	const struct session *session = ctx;
	uint64_t deadline = atomic_load(&session->deadline_ns);

	return signals_seen() || (deadline && now_ns() >= deadline);
}

static bool is_too_big(const struct session *session)
{
	uint64_t max = session->options->max_bytes;

	return max && writer_progress(session->workers.writer).expected >= max;
}

static int must_end(void *ctx)
{
	const struct session *session = ctx;

	if (is_over(ctx))
		return LOG_END_STOPPED;
	return is_too_big(session) ? LOG_END_SIZE : 0;
}

/* The size of a file is looked at often: a busy program writes 30 MB/s. */
static uint64_t due(void *ctx)
{
	const struct session *session = ctx;
	uint64_t deadline = atomic_load(&session->deadline_ns), look = now_ns() + SIZE_LOOK_MS * 1000000ull;

	if (!session->options->max_bytes)
		return deadline;
	return deadline && deadline < look ? deadline : look;
}

static bool is_held_up(void *ctx)
{
	struct session *session = ctx;

	return workers_are_stopped(&session->workers);
}

/* --- before the first record --- */

int session_open_workers(struct session *session, const struct flight_plan *flight, struct error *err)
{
	const struct workers_end end = {.must_end = is_over, .ctx = session};

	return workers_open(&session->workers, session->pid, flight, session->options->buffer_bytes, &end,
			    err);
}

static int check_process(const struct session *session, struct error *err)
{
	int rc = namespace_check_proc(err);

	if (rc)
		return rc;
	return session->path ? process_check_file(session->path, err)
			     : process_check("/proc", session->pid, err);
}

static int give_layout(struct session *session, struct error *err)
{
	const char *path = session->options->layout;
	int fd = path ? layout_file_open(path, err) : -1, rc;

	if (fd < 0)
		return path ? fd : 0;
	rc = layout_file_give(&session->workers.inspector, fd, path, err);
	close(fd);
	return rc;
}

static int open_go(struct session *session, struct error *err)
{
	struct sandbox *inspector = &session->workers.inspector;
	int rc = give_layout(session, err);

	if (rc)
		return rc;
	return session->path ? remote_target_open_file(inspector, session->path, &session->target, err)
			     : remote_target_open(inspector, session->pid, &session->target, err);
}

/* With --children all processes are traced as threads, because some may not be Go programs. */
static void note_go(struct session *session)
{
	struct error none;

	if (session->options->as == AS_C || session->options->quiet || open_go(session, &none))
		return;
	message("this is a Go program: with --children its threads are traced, not its "
		"goroutines");
	target_free(session->target);
	session->target = NULL;
}

/* A C program with a library in Go is traced as threads, unless goroutines are asked for. */
static bool is_library_only(struct session *session)
{
	if (session->target->file != GO_LIBRARY || session->options->as == AS_GO)
		return false;
	if (!session->options->quiet)
		message("one of its libraries was built by %s: --as go traces the goroutines of that "
			"library instead of the threads",
			session->target->go_version);
	target_free(session->target);
	session->target = NULL;
	return true;
}

/* Its trace would show nothing, and not say why. */
static void note_stopped(const struct session *session)
{
	struct proc_stat stat;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)session->pid);
	if (!session->path && proc_stat_read(path, &stat) && (stat.state == 'T' || stat.state == 't'))
		message("PID %d is stopped, by a signal or a debugger: nothing happens in it until it goes "
			"on",
			(int)session->pid);
}

/* A Go program that cannot be traced as one is refused; it is traced as threads only on request. */
int session_open_target(struct session *session, struct error *err)
{
	const struct record_options *options = session->options;
	int rc = check_process(session, err);

	if (rc)
		return rc;
	note_stopped(session);
	if (options->as != AS_C && !options->children) {
		rc = open_go(session, err);
		if (rc == 0 && is_library_only(session))
			rc = -ENOEXEC;
		if (rc != -ENOEXEC || options->as == AS_GO)
			return rc;
	}
	if (options->children)
		note_go(session);
	if (session->path)
		process_open_file(&session->process, session->path);
	else
		process_open(&session->process, session->pid);
	return 0;
}

int session_check_options(const struct session *session, const char *go_only, struct error *err)
{
	const struct record_options *options = session->options;
	const char *wrong = options->alloc                                   ? "--alloc"
			    : options->detail                                ? "--detail"
			    : options->trace_options.runtime_frames          ? "--runtime-frames"
			    : options->probe_only                            ? "--probe-only"
			    : options->layout                                ? "--layout"
			    : options->requests && !options->requests_if_any ? "--requests"
			    : options->os.cpus && !options->parts            ? "--os=all"
									     : go_only;

	if (session->target && options->kernel_stacks)
		return error_set(err, EINVAL, "--kernel-stacks is for threads: also give --as c");
	if (session->target || !wrong)
		return 0;
	return error_set(err, EINVAL, "%s is for Go programs: %s is traced as threads", wrong,
			 session->process.label);
}

/*
 * Prints a line for each kind of requests that the program has but that is not traced. If none is traced, it
 * fails when --requests was given, and says so otherwise.
 */
static int report_requests(const struct session *session, struct error *err)
{
	char text[sizeof(session->functions.report)], *save = NULL;
	bool any = false;

	memcpy(text, session->functions.report, sizeof(text));
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		any = any || strstr(line, ": traced");
		text_make_printable(line);
		if (*line == '!')
			message("--requests: %s", line + 1);
	}
	if (!any && session->options->requests_if_any)
		message("the program has no requests that gotrace knows: only its own tasks are recorded");
	if (any || session->options->requests_if_any)
		return 0;
	return error_set(
		err, ENOENT,
		"--requests: the program has nothing that matches '%s': gotrace doctor -p PID lists what "
		"it has",
		session->options->requests);
}

static int plan_these(struct session *session, const char *path, const struct function_want *functions,
		      unsigned n, struct error *err)
{
	const struct record_options *options = session->options;
	bool requests = options->requests && (session->target || !options->requests_if_any);
	struct function_want all[MAX_FUNCTIONS];
	int rc = 0;

	memcpy(all, functions, n * sizeof(*all));
	if (requests)
		rc = request_wants_add(&session->wants, options->requests, options->request_values, all, &n,
				       err);
	if (rc == 0 && n)
		rc = remote_functions_plan(&session->workers.inspector, session->target ? 0 : session->pid,
					   path, all, n, &session->functions, err);
	if (rc == 0 && requests)
		rc = report_requests(session, err);
	return rc;
}

/* The name may be that of a task or region of the program. Names of Go functions contain a package. */
static bool may_be_function(const struct session *session, const struct function_want *want)
{
	return !session->target || (strchr(want->text, '.') && !strchr(want->text, ' '));
}

/* Plans without the function, and says why, if the program does not have it or it cannot be probed. */
static int try_functions(struct session *session, const char *path, const struct function_want *functions,
			 unsigned n, struct error *err)
{
	const struct feature *missing = features_find_missing(&session->features, NEED_FUNCTIONS);
	struct error why = {""};
	int rc;

	if (!n || !may_be_function(session, &functions[0]))
		return plan_these(session, path, functions, 0, err);
	rc = missing ? error_set(&why, ENOTSUP, "%s", features_line(missing).text)
		     : plan_these(session, path, functions, n, &why);
	if (rc != -ENOENT && rc != -EEXIST && rc != -ENOTSUP && rc != -EINVAL) {
		*err = why;
		return rc;
	}
	message("calls of %s are not recorded: %s",
		text_name(functions[0].text, strlen(functions[0].text), 80).bytes, why.text);
	return plan_these(session, path, functions, 0, err);
}

static int plan_functions(struct session *session, const char *path, const struct function_want *functions,
			  unsigned n, struct error *err)
{
	return session->options->try_functions ? try_functions(session, path, functions, n, err)
					       : plan_these(session, path, functions, n, err);
}

int session_make_plan(struct session *session, const struct function_want *functions, unsigned n,
		      struct error *err)
{
	const char *path = session->target || !session->path ? "" : session->path;
	int rc = 0;

	if (session->target && session->options->alloc)
		rc = target_want_alloc(session->target, ALLOC_SPANS, err);
	if (rc == 0)
		rc = plan_functions(session, path, functions, n, err);
	if (rc == 0 && session->target)
		rc = target_plan(session->target, &session->plan, err);
	if (rc == 0 && session->target && !session->options->labels)
		target_plan_drop(&session->plan, SITE_LABELS);
	return rc;
}

/*
 * In percent of the target's own CPU time. Saturated servers were measured to cost less (docs/costs.md);
 * programs that do little but switch goroutines cost more.
 */
#define DEFAULT_OVERHEAD 200

/*
 * Tracing may always cost these shares of one CPU: without a limit of the user's, and with one. Otherwise a
 * program that mostly sleeps would be over any limit, because a few hits cost more than its own CPU time.
 */
#define DEFAULT_FREE_SHARE 0.01
#define LIMITED_FREE_SHARE 0.001

static struct governor_options governor_options(const struct record_options *options)
{
	unsigned percent = options->max_overhead ? options->max_overhead : DEFAULT_OVERHEAD;
	double free_share = options->max_overhead ? LIMITED_FREE_SHARE : DEFAULT_FREE_SHARE;
	struct governor_options limits = {.first = LEVEL_EXACT,
					  .last = LEVEL_OFF,
					  .max_percent = percent == OVERHEAD_NONE ? 0 : percent,
					  .free_share =
						  options->free_share ? options->free_share : free_share};

	if (options->detail == DETAIL_LIGHT)
		limits.first = LEVEL_LIGHT;
	if (options->detail == DETAIL_STARTS)
		limits.first = LEVEL_STARTS_ONLY;
	if (options->detail == DETAIL_EXACT || options->probe_only)
		limits = (struct governor_options){.first = LEVEL_EXACT, .last = LEVEL_EXACT};
	return limits;
}

static int put_plugin(void *ctx, const struct log_record *record)
{
	struct session *session = ctx;

	return writer_functab(session->workers.writer, record);
}

static void session_report_plugin(void *ctx, const char *text)
{
	struct error line;

	(void)ctx;
	error_set(&line, ENOTSUP, "%s", text);
	text_make_printable(line.text);
	message("code of a plugin is not traced: %s", line.text);
}

/* After so many stacks the log repeats them: half of what the kernel can remember. The model then keeps fewer
 * than twice as many. */
#define RENEW_STACKS 32768

int session_open_capture(struct session *session, const struct log_outlet *outlet, bool renews,
			 struct error *err)
{
	const struct record_options *options = session->options;
	const struct module_reader reader = workers_reader(&session->workers);
	const struct capture_options wanted = {
		.features = &session->features,
		.target = session->target,
		.plan = &session->plan,
		.process = session->target ? NULL : &session->process,
		.functions = &session->functions,
		.pid = session->pid,
		.pidfd = session->pidfd,
		.reader = &reader,
		.generation_ms = options->generation_ms,
		.renew_stacks = renews ? RENEW_STACKS : 0,
		.spawned = session->path != NULL,
		.children = options->children,
		.probe_only = options->probe_only,
		.ring_bytes = options->ring_bytes,
		.rings = options->rings,
		.syscalls = options->syscalls,
		.kernel_stacks = options->kernel_stacks,
		.off_cpu = !options->os.off && session->target,
		.cpus = options->os.cpus && session->target,
		.sample_hz = options->sample_hz,
		.node = options->node,
		.governor = governor_options(options),
		.plugins = {.put_functab = put_plugin, .report = session_report_plugin, .ctx = session},
		.outlet = *outlet,
		.guard = {.begin = drop_privileges,
			  .must_end = must_end,
			  .due = due,
			  .is_held_up = is_held_up,
			  .ctx = session},
	};

	return capture_open(&wanted, &session->capture, err);
}

/* --- while it runs --- */

/* Drops privileges that are no longer needed once everything is attached. */
static int reduce(struct session *session, struct error *err)
{
	uint64_t needed;
	int rc = workers_reduce(&session->workers, session->capture, &needed, err);

	if (rc)
		return rc;
	return privilege_keep(needed | PRIVILEGE_WORKERS | session->more_capabilities, err);
}

enum log_end_reason session_follow(struct session *session, int (*step)(void *ctx, struct error *err),
				   void *ctx, struct error *err)
{
	int rc = capture_poll(session->capture, 0, err);

	if ((rc < 0 && rc != -EINTR) || reduce(session, err))
		return LOG_END_ERROR;
	for (;;) {
		if (workers_have_exited(&session->workers, err))
			return LOG_END_ERROR;
		rc = step(ctx, err);
		if (rc > 0)
			return (enum log_end_reason)rc;
		if (rc == 0)
			rc = capture_poll(session->capture, POLL_MS, err);
		if (rc > 0)
			return capture_end_reason(session->capture);
		if (rc < 0 && rc != -EINTR)
			return LOG_END_ERROR;
	}
}

/* Describes what the current level leaves out of goroutines or threads; "" = nothing. */
static const char *left_out(const struct capture_stats *stats, bool threads)
{
	if (stats->unwatched && stats->level != LEVEL_OFF)
		return "not watched";
	switch (stats->level) {
	case LEVEL_LIGHT:
		return "starts inferred";
	case LEVEL_STARTS_ONLY:
		return "starts only";
	case LEVEL_FEW_FRAMES:
		return threads ? "short stacks" : "starts only, short stacks";
	case LEVEL_NO_SYSCALLS:
		return "no system calls";
	case LEVEL_OFF:
		return "off: over the limit";
	default:
		return "";
	}
}

void session_report_end(pid_t pid, enum log_end_reason reason)
{
	if (reason == LOG_END_EXITED)
		message("PID %d has ended", (int)pid);
	if (reason == LOG_END_EXECED)
		message("PID %d has executed another program", (int)pid);
}

uint64_t session_lost(const struct session *session)
{
	const struct capture_stats *stats = capture_stats(session->capture);
	const struct log_loss *loss = &stats->loss;

	return log_loss_records(loss) + loss->stack_full + stats->lost_samples;
}

void session_show_status(struct session *session, uint64_t bytes)
{
	const struct capture_stats *stats = capture_stats(session->capture);
	const struct status_figures figures = {
		.now_ns = now_ns(),
		.events = stats->records,
		.lost = session_lost(session),
		.bytes = bytes,
		.cost_ns = stats->cost_ns,
		.detail = left_out(stats, !session->target),
	};

	status_line_update(&session->status, &figures);
}

void session_close(struct session *session)
{
	if (session->capture)
		capture_free(session->capture);
	functions_free(&session->functions);
	if (session->target)
		target_free(session->target);
	workers_close(&session->workers);
	if (session->pidfd >= 0)
		close(session->pidfd);
}
