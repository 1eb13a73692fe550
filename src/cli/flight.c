/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace flight: records one process after another, each until it ends, or all of a node. */
#include "cli/cli.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/find_process.h"
#include "cli/flight_node.h"
#include "cli/flight_process.h"
#include "cli/recorder.h"
#include "cli/session.h"
#include "cli/signals.h"
#include "sandbox/privilege.h"
#include "util/limits.h"
#include "util/message.h"

enum {
	SEARCH_MS = 200, /* between searches for a process */
	RETRY_S = 10,    /* before a process that could not be recorded is retried */
};

/* A process that could not be recorded, and when. It is reported once, and retried later. */
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
	bool reported = was_refused(refused, process, false);

	if (!reported) {
		message_error(err);
		memmove(refused + 1, refused, (MAX_FOUND - 1) * sizeof(*refused));
		refused[0].process = *process;
	}
	for (int i = 0; i < MAX_FOUND; i++) {
		if (refused[i].process.pid == process->pid)
			refused[i].when = time(NULL);
	}
}

/* Records the newest process that can be recorded. Returns false if there is none. */
static bool record_found(struct recorder *recorder, struct refused *refused, int *status)
{
	struct found_process found[MAX_FOUND];
	struct error err = {""};
	int n = find_processes(&recorder->options->filter, found, &err);
	int ended;

	for (int i = 0; i < n && !signals_seen(); i++) {
		if (was_refused(refused, &found[i], true))
			continue;
		if (flight_record(recorder, &found[i], NULL, NULL, &ended, &err) == 0) {
			*status = ended;
			return true;
		}
		note_refused(refused, &found[i], &err);
	}
	return false;
}

static int record_successors(struct recorder *recorder)
{
	struct refused *refused = calloc(MAX_FOUND, sizeof(*refused));
	const struct flight_options *options = recorder->options;
	int status = STATUS_WHOLE;
	bool reported = false;

	if (!refused) {
		message("out of memory");
		return STATUS_NONE;
	}
	while (!signals_seen()) {
		if (record_found(recorder, refused, &status)) {
			reported = false;
			continue;
		}
		if (!reported && !options->record.quiet)
			message("waiting for a process of %s", process_filter_text(&options->filter).bytes);
		reported = true;
		recorder_idle(recorder);
		poll(NULL, 0, SEARCH_MS);
	}
	free(refused);
	return status == STATUS_NONE ? STATUS_CUT : status;
}

/* Before the first process is found, too. */
static int keep_to_attach(struct recorder *recorder, struct error *err)
{
	if (recorder->options->record.pid)
		return 0;
	recorder->to_attach = session_to_attach(&recorder->options->record);
	return privilege_keep(recorder->to_attach, err);
}

static int run_recorder(struct flight_options *options)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	struct error err = {""};
	int status = STATUS_NONE;

	if (!recorder)
		return STATUS_NONE;
	if (limits_raise_files(&err) || recorder_open(recorder, options, &err) ||
	    keep_to_attach(recorder, &err)) {
		message_error(&err);
	} else if (options->node) {
		status = flight_node(recorder, options);
	} else if (options->record.pid) {
		const struct found_process process = {.pid = options->record.pid};

		recorder_listen(recorder);
		if (flight_record(recorder, &process, NULL, NULL, &status, &err))
			message_error(&err);
	} else {
		recorder_listen(recorder);
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
	status = options_flight(argc, argv, options, &err);
	if (status) {
		status = options_end(status, "gotrace flight", &err);
	} else {
		signals_install();
		signals_count_snapshots();
		status = run_recorder(options);
	}
	free(options);
	return status;
}
