/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/signals.h"
#include "flight/tape.h"
#include "util/message.h"
#include "util/text.h"

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* Whoever asks for a snapshot may stand elsewhere. */
static int find_dir(struct recorder *recorder, struct error *err)
{
	const char *dir = recorder->options->dir;
	char here[PATH_MAX] = "";

	if (dir[0] != '/' && !getcwd(here, sizeof(here)))
		return error_set(err, errno, "cannot tell the current directory: %s", strerror(errno));
	if (strcmp(dir, ".") == 0)
		dir = "";
	if (snprintf(recorder->dir, sizeof(recorder->dir), "%s%s%s", here, here[0] && dir[0] ? "/" : "",
		     dir) >= (int)sizeof(recorder->dir))
		return error_set(err, ENAMETOOLONG, "%s: the name is too long", dir);
	return 0;
}

int recorder_open(struct recorder *recorder, const struct flight_options *options, struct error *err)
{
	struct error deaf;
	int rc;

	*recorder = (struct recorder){.options = options, .control = {.fd = -1}};
	for (int i = 0; i < MAX_ASKERS; i++)
		recorder->control.askers[i].fd = -1;
	rc = find_dir(recorder, err);
	if (rc == 0)
		rc = store_open(&recorder->store, recorder->dir, options->keep, options->plan.max_bytes, err);
	if (rc)
		return rc;
	if (control_open(&recorder->control, &deaf))
		message_error(&deaf); /* a signal will do */
	return 0;
}

void recorder_close(struct recorder *recorder)
{
	control_close(&recorder->control);
	store_close(&recorder->store);
}

/* --- what was written --- */

static void tell_written(struct recorder *recorder, const struct store_entry *entry)
{
	recorder->files++;
	if (recorder->last_error)
		fprintf(stderr, "gotrace: files can be written again; %s could not so far\n",
			text_count(recorder->failures).bytes);
	recorder->last_error = 0;
	if (entry->made_dir)
		fprintf(stderr, "gotrace: %s was gone, and was made anew\n", recorder->dir);
	if (!recorder->options->look.quiet)
		fprintf(stderr, "gotrace: wrote %s (%s)\n", entry->path, text_bytes(entry->bytes).bytes);
}

/* A disk stays full for long: the same failure is told once. */
static void tell_failure(struct recorder *recorder, const struct snapshot_result *result)
{
	recorder->failures++;
	if (result->code == recorder->last_error)
		return;
	recorder->last_error = result->code;
	fprintf(stderr, "gotrace: %s; recording goes on\n", result->error.text);
}

static void take_result(struct recorder *recorder, const struct recording *recording, bool wait)
{
	struct snapshot_result result;

	if (!recorder->writing || !snapshot_writer_result(recording->files, wait, &result))
		return;
	recorder->writing = false;
	if (result.code)
		tell_failure(recorder, &result);
	else
		tell_written(recorder, &result.entry);
	control_answer(&recorder->control, result.code ? NULL : result.entry.path, &result.error);
}

/* --- what is wanted --- */

static void tell_firing(struct recorder *recorder, const struct news *news)
{
	if (!recorder->options->look.quiet) {
		fprintf(stderr, "gotrace: %s", news->text);
		if (recorder->untold)
			fprintf(stderr, "; and %u before, within --every", recorder->untold);
		fputc('\n', stderr);
	}
	recorder->untold = 0;
}

static void take_news(struct recorder *recorder, struct recording *recording, uint64_t now)
{
	const struct flight_options *options = recorder->options;
	struct news news;

	while (board_take(writer_board(recording->writer), &recording->news_taken, now, &news)) {
		uint64_t due = news.time + options->plan.after_ns;

		recorder->firings++;
		/* Several at once, and what fires while one is waited for, are in the same file. */
		if (now < recorder->next_trigger_ns && !recorder->due_ns) {
			recorder->untold++;
			continue;
		}
		tell_firing(recorder, &news);
		if (recorder->due_ns)
			continue;
		recorder->due_ns = due > now ? due : now;
		recorder->next_trigger_ns = recorder->due_ns + options->every_ns;
	}
}

static void expect(struct recorder *recorder, const struct recording *recording)
{
	recorder->writing = true;
	control_begin(&recorder->control);
	snapshot_writer_put(recording->files, recording->format, recording->pid);
}

static int begin(struct recorder *recorder, const struct recording *recording, struct error *err)
{
	const struct log_record take = {.type = TAPE_TAKE};
	int rc = capture_boundary(recording->capture, err);

	if (rc == 0)
		rc = relay_put(recording->relay, &take);
	if (rc < 0)
		return rc;
	recorder->wanted = false;
	expect(recorder, recording);
	return 0;
}

int recorder_serve(struct recorder *recorder, struct recording *recording, struct error *err)
{
	uint64_t now = now_ns();

	take_result(recorder, recording, false);
	take_news(recorder, recording, now);
	if (signals_snapshots() > 0 || control_poll(&recorder->control))
		recorder->wanted = true;
	if (recorder->due_ns && now >= recorder->due_ns) {
		recorder->wanted = true;
		recorder->due_ns = 0;
	}
	return recorder->wanted && !recorder->writing ? begin(recorder, recording, err) : 0;
}

/* Past the relay, which has nothing to do. */
static void take_last(struct recorder *recorder, const struct recording *recording)
{
	const struct log_record take = {.type = TAPE_TAKE_NOW};

	expect(recorder, recording);
	writer_put(recording->writer, &take);
	take_result(recorder, recording, true);
}

/* What was kept has gone with the process that had it. */
static void refuse_last(struct recorder *recorder, const struct recording *recording)
{
	if (!recorder->wanted)
		return;
	recorder->failures++;
	control_begin(&recorder->control);
	control_answer(&recorder->control, NULL, writer_error(recording->writer));
}

void recorder_settle(struct recorder *recorder, struct recording *recording, bool in_any_case)
{
	take_result(recorder, recording, true);
	take_news(recorder, recording, now_ns());
	if (signals_snapshots() > 0 || control_poll(&recorder->control))
		recorder->wanted = true;
	if (writer_has_gone(recording->writer))
		refuse_last(recorder, recording);
	else if (recorder->wanted || recorder->due_ns || in_any_case)
		take_last(recorder, recording);
	recorder->wanted = false;
	recorder->due_ns = 0;
}

void recorder_idle(struct recorder *recorder)
{
	const struct error idle = {"there is no process to record now"};

	if (signals_snapshots() > 0)
		fprintf(stderr, "gotrace: no snapshot: %s\n", idle.text);
	if (!control_poll(&recorder->control))
		return;
	control_begin(&recorder->control);
	control_answer(&recorder->control, NULL, &idle);
}
