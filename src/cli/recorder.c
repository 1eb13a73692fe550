/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/recorder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/signals.h"
#include "flight/recorder_pipeline.h"
#include "util/clock.h"
#include "util/message.h"
#include "util/text.h"

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
	struct error socket_error;
	int rc;

	*recorder = (struct recorder){.options = options, .server = {.fd = -1}};
	for (int i = 0; i < MAX_SNAPSHOT_CLIENTS; i++)
		recorder->server.clients[i].fd = -1;
	rc = find_dir(recorder, err);
	if (rc == 0)
		rc = snapshot_store_open(&recorder->store, recorder->dir, options->keep,
					 options->plan.max_bytes, err);
	if (rc)
		return rc;
	if (snapshot_socket_open(&recorder->server, &socket_error))
		message_error(&socket_error); /* a signal still requests a snapshot */
	return 0;
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
	message("%s; recording continues", result->error.text);
}

static void report_left_out(const struct recorder *recorder, const struct recording *recording)
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
	if (result.code)
		report_failure(recorder, &result);
	else if (!result.entry.path[0])
		report_left_out(recorder, recording);
	else
		report_written(recorder, &result.entry);
	snapshot_socket_answer(&recorder->server, result.code ? NULL : result.entry.path, &result.error);
}

/* --- requests --- */

static void report_match(struct recorder *recorder, const struct match_notice *notice)
{
	if (!recorder->options->record.quiet) {
		if (recorder->unreported)
			message("%s; %u earlier match%s within --every", notice->text, recorder->unreported,
				recorder->unreported == 1 ? "" : "es");
		else
			message("%s", notice->text);
	}
	recorder->unreported = 0;
}

static void take_notices(struct recorder *recorder, struct recording *recording, uint64_t now)
{
	const struct flight_options *options = recorder->options;
	struct match_notice notice;

	while (status_page_take(writer_status_page(recording->writer), &recording->notices_taken, now,
				&notice)) {
		uint64_t due = notice.time + options->plan.after_ns;

		recorder->firings++;
		/* Matches at the same time, or while a snapshot is due, share it: one message per trigger. */
		if (now < recorder->next_trigger_ns && !recorder->due_ns) {
			recorder->unreported++;
			continue;
		}
		if (!recorder->due_ns)
			recorder->reported = 0;
		if (!(recorder->reported & 1u << notice.trigger))
			report_match(recorder, &notice);
		recorder->reported |= 1u << notice.trigger;
		if (recorder->due_ns)
			continue;
		recorder->due_ns = due > now ? due : now;
		recorder->next_trigger_ns = recorder->due_ns + options->every_ns;
	}
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

static int begin(struct recorder *recorder, const struct recording *recording,
		 const struct time_window *window, struct error *err)
{
	const struct log_record take = {.type = SNAPSHOT_TAKE};
	const struct snapshot_origin origin = snapshot_origin_for(recording, window);
	int rc = capture_boundary(recording->capture, err);

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

int recorder_serve(struct recorder *recorder, struct recording *recording, struct error *err)
{
	struct time_window window = {0};
	uint64_t now = now_ns();

	take_result(recorder, recording, false);
	take_notices(recorder, recording, now);
	if (signals_snapshots() > 0 || snapshot_socket_poll(&recorder->server, now_ns()))
		recorder->wanted = true;
	if (recorder->due_ns && now >= recorder->due_ns) {
		recorder->wanted = true;
		recorder->due_ns = 0;
	}
	if (recorder->writing ||
	    (!recorder->wanted && !snapshot_socket_due(&recorder->server, clock_ns(CLOCK_REALTIME), &window)))
		return 0;
	return begin(recorder, recording, &window, err);
}

static void take_last(struct recorder *recorder, const struct recording *recording,
		      const struct time_window *window)
{
	const struct log_record take = {.type = SNAPSHOT_TAKE_NOW};
	struct snapshot_origin origin = snapshot_origin_for(recording, window);

	origin.of_end = !window->until_ns && !recorder->wanted && !recorder->due_ns;
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
	if (signals_snapshots() > 0 || snapshot_socket_poll(&recorder->server, now_ns()))
		recorder->wanted = true;
	if (writer_has_exited(recording->writer))
		refuse_last(recorder, recording);
	else if (recorder->wanted || recorder->due_ns || in_any_case)
		take_last(recorder, recording, &window);
	while (!writer_has_exited(recording->writer) &&
	       snapshot_socket_due(&recorder->server, UINT64_MAX, &window))
		take_last(recorder, recording, &window);
	recorder->wanted = false;
	recorder->due_ns = 0;
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
