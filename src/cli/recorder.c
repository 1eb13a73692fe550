/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/recorder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/signals.h"
#include "flight/recorder_pipeline.h"
#include "pipeline/output.h"
#include "util/clock.h"
#include "util/message.h"
#include "util/text.h"

/* How often figures of the process and its cgroup are read: some 100 us each time. */
#define HOST_LOOK_NS 1000000000ull

/* Makes the directory absolute, as gotrace snapshot may run in another one. */
static int find_dir(struct recorder *recorder, struct error *err)
{
	const char *dir = recorder->options->dir;
	char here[PATH_MAX] = "";

	if (dir[0] != '/' && !getcwd(here, sizeof(here)))
		return error_set(err, errno, "cannot find the current directory: %s", strerror(errno));
	if (strcmp(dir, ".") == 0)
		dir = "";
	if (snprintf(recorder->dir, sizeof(recorder->dir), "%s%s%s", here, here[0] && dir[0] ? "/" : "",
		     dir) >= (int)sizeof(recorder->dir))
		return error_set(err, ENAMETOOLONG, "%s: the name is too long", dir);
	return 0;
}

int recorder_open(struct recorder *recorder, const struct flight_options *options, struct error *err)
{
	int rc;

	*recorder = (struct recorder){.options = options, .server = {.fd = -1}};
	for (int i = 0; i < MAX_SNAPSHOT_CLIENTS; i++)
		recorder->server.clients[i].fd = -1;
	rc = find_dir(recorder, err);
	if (rc == 0)
		rc = snapshot_store_open(&recorder->store, recorder->dir, options->keep,
					 options->plan.max_bytes, err);
	return rc;
}

void recorder_listen(struct recorder *recorder)
{
	struct error err;

	if (snapshot_socket_open(&recorder->server, &err))
		message_error(&err); /* a signal still requests a snapshot */
}

void recorder_close(struct recorder *recorder)
{
	snapshot_socket_close(&recorder->server);
	snapshot_store_close(&recorder->store);
}

/* --- results --- */

static void report_written(struct recorder *recorder, const struct snapshot_entry *entry)
{
	recorder->files++;
	if (recorder->last_error)
		message("files can be written again; %s could not be written",
			text_count(recorder->failures).bytes);
	recorder->last_error = 0;
	if (entry->made_dir)
		message("%s had been removed and was created again", text_path(recorder->dir).bytes);
	if (!recorder->options->record.quiet)
		message("wrote %s (%s)", text_path(entry->path).bytes, text_bytes(entry->bytes).bytes);
}

/* A disk may stay full for long, so the same failure is reported only once. */
static void report_failure(struct recorder *recorder, const struct snapshot_result *result)
{
	recorder->failures++;
	if (result->code == recorder->last_error)
		return;
	recorder->last_error = result->code;
	message("%s%s; recording continues", result->error.text, output_advice(result->code));
}

static void recorder_report_left_out(const struct recorder *recorder, const struct recording *recording)
{
	if (!recorder->options->record.quiet)
		message("no snapshot of the end of PID %d: none of the %u files (--keep) may go for it",
			(int)recording->origin.pid, recorder->options->keep);
}

static void take_result(struct recorder *recorder, const struct recording *recording, bool wait)
{
	struct snapshot_result result;

	if (!recorder->writing || !snapshot_files_result(recording->files, wait, &result))
		return;
	recorder->writing = false;
	/* -ENODATA: a client has asked for a time that is not kept, and gets the answer. */
	if (result.code && result.code != -ENODATA)
		report_failure(recorder, &result);
	else if (!result.code && !result.entry.path[0])
		recorder_report_left_out(recorder, recording);
	else if (!result.code)
		report_written(recorder, &result.entry);
	snapshot_socket_answer(&recorder->server, result.code ? NULL : result.entry.path, &result.error);
}

/* --- requests --- */

static void report_match(struct recorder *recorder, const struct match_notice *notice)
{
	unsigned *unreported = &recorder->budgets[notice->trigger].unreported;

	if (!recorder->options->record.quiet) {
		if (*unreported)
			message("%s; %u earlier match%s within --every", notice->text, *unreported,
				*unreported == 1 ? "" : "es");
		else
			message("%s", notice->text);
	}
	*unreported = 0;
}

/* Matches while a snapshot is due share it: one message per trigger. */
static void take_notice(struct recorder *recorder, const struct match_notice *notice, uint64_t now)
{
	const struct flight_options *options = recorder->options;
	struct trigger_budget *budget = &recorder->budgets[notice->trigger];
	uint64_t due = notice->time + options->plan.after_ns;
	uint16_t bit = (uint16_t)(1u << notice->trigger);

	if (recorder->due_ns && recorder->causes & bit)
		return;
	if (now < budget->next_ns && !recorder->due_ns) {
		budget->unreported++;
		return;
	}
	report_match(recorder, notice);
	if (!recorder->due_ns) {
		recorder->due_ns = due > now ? due : now;
		recorder->causes = 0;
		recorder->first_cause = notice->trigger + 1;
	}
	recorder->causes |= bit;
	budget->next_ns = recorder->due_ns + options->every_ns;
}

static void take_notices(struct recorder *recorder, struct recording *recording, uint64_t now)
{
	struct match_notice notice;

	while (status_page_take(writer_status_page(recording->writer), recorder->options->plan.ntriggers,
				&recording->notices_taken, now, &notice))
		take_notice(recorder, &notice, now);
}

/* --- figures of the process and its cgroup --- */

static struct host_figures read_figures(const struct recording *recording, uint64_t now)
{
	const struct capture_stats *stats = capture_stats(recording->capture);
	struct cpu_limit limit;

	cpu_meter_read(&recording->meter, &limit);
	return (struct host_figures){.time_ns = limit.known ? now : 0,
				     .cpu_ns = limit.cpu_ns,
				     .group_cpu_ns = limit.group_cpu_ns,
				     .throttled_ns = limit.throttled_ns,
				     .group_id = limit.group_id,
				     .quota_id = limit.quota_id,
				     .rss_bytes = limit.rss_bytes,
				     .unwatched_ns = stats->unwatched_ns,
				     .unwatched = stats->unwatched};
}

/* A trigger on what the process does not have waits until it has it. */
static void report_waiting(const struct flight_plan *plan, const struct cpu_limit *limit)
{
	for (unsigned i = 0; i < plan->ntriggers; i++) {
		const struct trigger *trigger = &plan->triggers[i];

		if (trigger->kind == TRIGGER_CGROUP_CPU && !limit->group_cpu_ns)
			message("%s does not fire yet: the process has no cgroup of its own", trigger->text);
		if (trigger->kind == TRIGGER_THROTTLED && limit->quota_cpus <= 0)
			message("%s does not fire yet: the process's cgroup has no CPU quota", trigger->text);
	}
}

void recorder_begin_host(const struct recorder *recorder, struct recording *recording)
{
	const struct flight_plan *plan = &recorder->options->plan;
	struct cpu_limit limit;

	recording->host.plan = plan;
	if (!host_eval_needed(plan))
		return;
	cpu_meter_open(&recording->meter, recording->origin.pid);
	cpu_meter_read(&recording->meter, &limit);
	if (!recorder->options->record.quiet)
		report_waiting(plan, &limit);
	recording->next_look_ns = now_ns();
}

void recorder_end_host(struct recording *recording)
{
	if (recording->next_look_ns)
		cpu_meter_close(&recording->meter);
	recording->next_look_ns = 0;
}

/* The match is in the trace, too. Returns 0, or a negative errno if recording is over. */
static int look_at_host(struct recorder *recorder, struct recording *recording, uint64_t now)
{
	struct match_notice notices[MAX_TRIGGERS];
	struct host_figures figures;
	int rc = 0;

	if (!recording->next_look_ns || now < recording->next_look_ns)
		return 0;
	recording->next_look_ns = now + HOST_LOOK_NS;
	figures = read_figures(recording, now);
	for (unsigned i = 0, n = host_eval_step(&recording->host, &figures, notices); i < n && !rc; i++) {
		rc = capture_note(recording->capture, notices[i].text);
		take_notice(recorder, &notices[i], now);
	}
	return rc;
}

/* window: as it was requested, ns since 1970. */
static void expect(struct recorder *recorder, const struct recording *recording,
		   const struct snapshot_origin *origin, const struct time_window *window)
{
	recorder->writing = true;
	snapshot_socket_begin(&recorder->server, window);
	snapshot_files_put(recording->files, recording->format, origin);
}

static uint64_t to_log_clock(uint64_t wall_ns)
{
	uint64_t ago = clock_ns(CLOCK_REALTIME) - now_ns(); /* when the log's clock was 0 */

	return wall_ns > ago ? wall_ns - ago : 1; /* 0 has a meaning of its own */
}

static struct snapshot_origin snapshot_origin_for(const struct recording *recording,
						  const struct time_window *window)
{
	struct snapshot_origin origin = recording->origin;

	if (window->until_ns) {
		origin.window.from_ns = to_log_clock(window->from_ns);
		origin.window.until_ns = to_log_clock(window->until_ns);
	}
	return origin;
}

static int recorder_begin(struct recorder *recorder, const struct recording *recording,
			  const struct time_window *window, struct error *err)
{
	const struct log_record take = {.type = SNAPSHOT_TAKE};
	struct snapshot_origin origin = snapshot_origin_for(recording, window);
	int rc = capture_boundary(recording->capture, err);

	origin.trigger = window->until_ns ? 0 : recorder->cause;
	if (rc == 0)
		rc = writer_put(recording->writer, &take);
	if (rc < 0)
		return rc;
	writer_flush(recording->writer);
	if (!window->until_ns)
		recorder->wanted = false;
	expect(recorder, recording, &origin, window);
	return 0;
}

/* Somebody asks for it: that counts more than what a trigger wants. */
static void take_requests(struct recorder *recorder)
{
	if (signals_snapshots() <= 0 && !snapshot_socket_poll(&recorder->server, now_ns()))
		return;
	recorder->wanted = true;
	recorder->cause = 0;
}

/*
 * The snapshot of a trigger is wanted if it is due at this time (ns). One that is wanted already keeps its
 * cause.
 */
static void take_due(struct recorder *recorder, uint64_t now)
{
	if (!recorder->due_ns || now < recorder->due_ns)
		return;
	if (!recorder->wanted)
		recorder->cause = recorder->first_cause;
	recorder->wanted = true;
	recorder->due_ns = 0;
}

int recorder_serve(struct recorder *recorder, struct recording *recording, struct error *err)
{
	struct time_window window = {0};
	uint64_t now = now_ns();
	int rc;

	take_result(recorder, recording, false);
	take_notices(recorder, recording, now);
	rc = look_at_host(recorder, recording, now);
	if (rc < 0)
		return error_set(err, -rc, "cannot write to the log: %s", strerror(-rc));
	take_requests(recorder);
	take_due(recorder, now);
	if (recorder->writing ||
	    (!recorder->wanted && !snapshot_socket_due(&recorder->server, clock_ns(CLOCK_REALTIME), &window)))
		return 0;
	return recorder_begin(recorder, recording, &window, err);
}

static void take_last(struct recorder *recorder, const struct recording *recording,
		      const struct time_window *window)
{
	const struct log_record take = {.type = SNAPSHOT_TAKE_NOW};
	struct snapshot_origin origin = snapshot_origin_for(recording, window);

	origin.of_end = !window->until_ns && !recorder->wanted;
	if (!window->until_ns && recorder->wanted)
		origin.trigger = recorder->cause;
	origin.brief = now_ns() - recording->began_ns < recorder->options->plan.window_ns;
	expect(recorder, recording, &origin, window);
	writer_put(recording->writer, &take);
	writer_flush(recording->writer);
	take_result(recorder, recording, true);
}

/* The recording was lost with the writer process. */
static void refuse_last(struct recorder *recorder, const struct recording *recording)
{
	struct time_window window;

	if (!recorder->wanted && !snapshot_socket_due(&recorder->server, UINT64_MAX, &window))
		return;
	recorder->failures++;
	snapshot_socket_begin(&recorder->server, NULL);
	snapshot_socket_answer(&recorder->server, NULL, writer_error(recording->writer));
}

void recorder_settle(struct recorder *recorder, struct recording *recording, bool in_any_case)
{
	struct time_window window = {0};

	if (writer_has_exited(recording->writer))
		snapshot_files_give_up(recording->files);
	take_result(recorder, recording, true);
	take_notices(recorder, recording, now_ns());
	take_requests(recorder);
	take_due(recorder, UINT64_MAX);
	if (writer_has_exited(recording->writer))
		refuse_last(recorder, recording);
	else if (recorder->wanted || in_any_case)
		take_last(recorder, recording, &window);
	while (!writer_has_exited(recording->writer) &&
	       snapshot_socket_due(&recorder->server, UINT64_MAX, &window))
		take_last(recorder, recording, &window);
	recorder->wanted = false;
}

void recorder_idle(struct recorder *recorder)
{
	const struct error idle = {"no process is being recorded"};
	struct time_window window;

	if (signals_snapshots() > 0)
		message("no snapshot: %s", idle.text);
	if (!snapshot_socket_poll(&recorder->server, now_ns()) &&
	    !snapshot_socket_due(&recorder->server, UINT64_MAX, &window))
		return;
	snapshot_socket_begin(&recorder->server, NULL);
	snapshot_socket_answer(&recorder->server, NULL, &idle);
}
