/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "workers/writer/writer_work.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "flight/snapshot_worker.h"
#include "flight/recorder_pipeline.h"
#include "target/names/names.h"
#include "workers/summary/report.h"
#include "sandbox/filter.h"
#include "sandbox/rpc.h"
#include "util/message.h"
#include "workers/writer/file_server.h"
#include "workers/writer/process_tree.h"

enum {
	MOST = 1 << 30, /* maximum size of a request in bytes */
	AT_ONCE = 256,  /* records between two checks for requests */
	/* Maximum sleep: a request that is larger than the socket's buffer rings only when all of it was
	   taken. */
	SLEEP_MS = 200,
	SETUP_SLEEP_MS = 20, /* the same before the first record, when the function table comes */
};

struct work {
	struct channel *channel;
	struct queue *queue;
	struct writer_shared *shared;
	const struct flight_plan *flight; /* NULL: this is not a flight recorder */
	struct writer_setup setup;
	struct output trace, raw;
	struct pipeline *pipe;
	struct recorder_pipeline *recorder; /* owns the pipeline; for a flight recorder */
	struct snapshot_worker *worker;     /* for a flight recorder */
	struct process_tree *tree;          /* instead of the pipeline, for several processes */
	struct channel file_server;         /* for several processes */
	void *names;                        /* of native code; NULL = none */
	void *functab;                      /* owns the bytes of the function table */
	bool has_records;                   /* the first record has come */
};

/* --- the log --- */

static void share_progress(struct work *work)
{
	struct progress progress =
		work->tree ? process_tree_progress(work->tree) : pipeline_progress(work->pipe);

	work->shared->written = progress.written;
	work->shared->expected = progress.expected;
}

static int writer_work_put(struct work *work, const struct log_record *record)
{
	if (work->tree)
		return process_tree_put(work->tree, record);
	/* Requests to the recorder are not log records. */
	if (work->names && record->type < SNAPSHOT_TAKE)
		return names_put(work->names, record);
	return work->recorder ? recorder_pipeline_put(work->recorder, record)
			      : pipeline_put(work->pipe, record);
}

/*
 * Called for LOG_TARGET: the process has executed its program by then. Without names, stacks show addresses,
 * and a message reports it.
 */
static void make_names(struct work *work, const struct log_target *target)
{
	struct error err = {""};

	if (target->flags & LOG_TARGET_THREADS && !work->names &&
	    names_new((pid_t)target->pid, work->recorder ? recorder_pipeline_put : pipeline_put,
		      work->recorder ? (void *)work->recorder : (void *)work->pipe, &work->names, &err))
		message("stacks will show addresses instead of names: %s", err.text);
}

/* Returns true if the record must be dropped because the trace has reached its maximum size. */
static bool is_beyond(const struct work *work, const struct log_record *record)
{
	uint64_t most = work->setup.max_bytes;

	return most && work->shared->expected >= most && record->type != LOG_END && record->type != LOG_LOSS;
}

/* Counts the forked processes whose traces have been opened. */
static void count_forks(struct work *work, const struct log_record *record)
{
	const struct raw_record *records = record->data;

	for (size_t i = 0; record->type == LOG_RECORDS && i < record->size / sizeof(*records); i++)
		work->shared->begun += log_is_followed_fork(&records[i]);
}

static void writer_work_take_record(struct work *work, const struct log_record *record)
{
	if (is_beyond(work, record))
		return;
	if (record->type == LOG_TARGET && record->size >= sizeof(struct log_target) && work->pipe)
		make_names(work, record->data);
	if (writer_work_put(work, record))
		work->shared->failed = 1;
	if (work->tree)
		count_forks(work, record);
	share_progress(work);
}

/* Processes up to AT_ONCE records. Returns false if the queue is empty. */
static bool take_some(struct work *work)
{
	struct log_record record;
	bool more = true;

	for (unsigned i = 0; i < AT_ONCE && more; i++) {
		more = queue_take(work->queue, &record);
		if (more)
			writer_work_take_record(work, &record);
		work->has_records |= more;
	}
	return more;
}

static void take_all(struct work *work)
{
	while (take_some(work))
		;
}

/* The pipeline keeps a copy. */
static void writer_work_take_plugin(struct work *work, const struct rpc_request *request)
{
	const struct log_record record = {
		.type = LOG_PLUGIN_FUNCTAB, .size = (uint32_t)request->size, .data = request->bytes};

	if (work->pipe && rawlog_check_record(&record, NULL) == 0 && pipeline_put(work->pipe, &record))
		work->shared->failed = 1;
}

/* Takes ownership of the bytes: the pipeline looks up names in them until it ends. */
static void writer_work_take_functab(struct work *work, struct rpc_request *request)
{
	struct log_record record = {
		.type = LOG_FUNCTAB, .size = (uint32_t)request->size, .data = request->bytes};

	if (work->functab || !work->pipe)
		return;
	work->functab = request->bytes;
	request->bytes = NULL;
	if (rawlog_check_record(&record, NULL) || pipeline_functab(work->pipe, &record)) {
		message("stacks will show addresses instead of names: the function table is "
			"not readable");
		return;
	}
	if (pipeline_put(work->pipe, &record))
		work->shared->failed = 1;
}

/* --- start and end --- */

static int writer_work_answer(struct work *work, int status)
{
	struct writer_state state = {.status = status, .committed = work->trace.committed};
	const struct error *trace =
		work->tree ? process_tree_error(work->tree) : pipeline_trace_error(work->pipe);

	memcpy(state.trace_error, trace->text, sizeof(state.trace_error));
	return rpc_answer(work->channel, 0, NULL, &state, sizeof(state));
}

static int writer_work_begin_one(struct work *work, int fd)
{
	const struct writer_setup *setup = &work->setup;
	struct pipeline_options wanted = {
		.trace = &work->trace,
		.raw = setup->has_raw ? &work->raw : NULL,
		.trace_options = setup->trace_options,
	};

	if (output_adopt(&work->trace, fd, setup->trace, setup->regular, setup->borrowed))
		return -ENOMEM;
	snprintf(work->raw.path, sizeof(work->raw.path), "%s", setup->raw);
	work->raw.regular = setup->raw_regular;
	work->raw.borrowed = setup->raw_borrowed;
	work->pipe = pipeline_new(&wanted);
	return work->pipe ? writer_work_answer(work, 0) : -ENOMEM;
}

static int writer_work_begin_recorder(struct work *work, int fd)
{
	struct recorder_pipeline_options wanted = {
		.flight = work->flight,
		.trace_options = work->setup.trace_options,
		.page = &work->shared->page,
	};

	work->worker = snapshot_worker_new(fd);
	wanted.worker = work->worker;
	work->recorder = work->worker ? recorder_pipeline_new(&wanted) : NULL;
	if (!work->recorder)
		return -ENOMEM;
	work->pipe = recorder_pipeline_inner(work->recorder);
	return writer_work_answer(work, 0);
}

/* Files that cannot be opened are reported before tracing begins. */
static int writer_work_begin_several(struct work *work, int fd)
{
	struct writer_state state = {.status = 0};
	struct process_tree_options wanted = {
		.file_server = &work->file_server,
		.raw = work->setup.has_raw,
		.trace_options = work->setup.trace_options,
		.json = work->setup.json,
	};
	struct error err = {""};

	if (channel_open(&work->file_server, fd))
		return -ENOMEM;
	work->tree = process_tree_new(&wanted);
	if (!work->tree)
		return -ENOMEM;
	if (process_tree_open_first(work->tree, (pid_t)work->setup.first, &err))
		memcpy(state.trace_error, err.text, sizeof(state.trace_error));
	return rpc_answer(work->channel, 0, NULL, &state, sizeof(state));
}

static int writer_work_begin(struct work *work, struct rpc_request *request)
{
	int fd = request->fds[0];

	if (request->size != sizeof(work->setup) || fd < 0 || work->pipe || work->tree)
		return -EBADMSG;
	memcpy(&work->setup, request->bytes, sizeof(work->setup));
	work->raw.fd = request->fds[1];
	request->fds[0] = request->fds[1] = -1;
	if (work->flight)
		return writer_work_begin_recorder(work, fd);
	return work->setup.first ? writer_work_begin_several(work, fd) : writer_work_begin_one(work, fd);
}

static int report_one(struct work *work, const struct writer_exit *last)
{
	struct report report = {
		.trace = &work->trace,
		.raw = work->setup.has_raw ? &work->raw : NULL,
		.json = work->setup.json,
		.quiet = work->setup.quiet,
		.summary = {.pipe = work->pipe,
			    .trace = work->trace.path,
			    .raw = work->setup.has_raw ? work->raw.path : NULL},
	};

	snprintf(work->trace.path, sizeof(work->trace.path), "%s", last->trace);
	report.summary.exact = work->setup.exact;
	report.summary.style = work->setup.style;
	report.summary.layout = work->setup.layout[0] ? work->setup.layout : NULL;
	report.summary.command = last->has_command ? last->command : NULL;
	report.summary.command_ended = last->command_ended;
	report.summary.command_status = last->command_status;
	report.summary.cut = last->is_cut ? last->cut : NULL;
	return report_end(&report);
}

static int report_several(struct work *work, const struct writer_exit *last)
{
	const struct process_tree_report report = {
		.command = last->has_command ? last->command : NULL,
		.command_ended = last->command_ended,
		.command_status = last->command_status,
		.cut = last->is_cut ? last->cut : NULL,
		.quiet = work->setup.quiet,
	};

	return process_tree_report(work->tree, &report);
}

/* Removes the first process's files if its trace has not begun. */
static void writer_work_discard(struct work *work)
{
	if (work->tree)
		process_tree_discard(work->tree);
}

static int writer_work_end(struct work *work)
{
	if (work->tree)
		process_tree_finish(work->tree);
	else if (work->recorder)
		recorder_pipeline_finish(work->recorder);
	else
		pipeline_finish(work->pipe);
	share_progress(work);
	return writer_work_answer(work, 0);
}

static int writer_work_report(struct work *work, const struct rpc_request *request)
{
	struct writer_exit last;

	if (request->size != sizeof(last))
		return -EBADMSG;
	memcpy(&last, request->bytes, sizeof(last));
	return writer_work_answer(work, work->tree ? report_several(work, &last) : report_one(work, &last));
}

/* --- requests --- */

static int writer_work_act(struct work *work, struct rpc_request *request)
{
	if (!work->pipe && !work->tree && request->kind != WRITER_BEGIN)
		return -EBADMSG;
	if (request->kind >= WRITER_SYNC) {
		/* The recording has ended: nothing is lost if the rest takes longer. */
		setpriority(PRIO_PROCESS, 0, FILTER_NORMAL);
		take_all(work);
	}
	switch (request->kind) {
	case WRITER_BEGIN:
		return writer_work_begin(work, request);
	case WRITER_FUNCTAB:
		writer_work_take_functab(work, request);
		return 0;
	case WRITER_PLUGIN_FUNCTAB:
		writer_work_take_plugin(work, request);
		return 0;
	case WRITER_SYNC:
		return writer_work_answer(work, 0);
	case WRITER_DISCARD:
		writer_work_discard(work);
		return writer_work_answer(work, 0);
	case WRITER_END:
		return writer_work_end(work);
	case WRITER_REPORT:
		return writer_work_report(work, request);
	default:
		return -EBADMSG;
	}
}

static int writer_work_take_request(struct work *work)
{
	struct rpc_request request;
	int rc = rpc_take(work->channel, &request, MOST);

	if (rc == 0)
		rc = writer_work_act(work, &request);
	rpc_request_free(&request);
	return rc;
}

static bool has_request(const struct work *work)
{
	struct pollfd fd = {.fd = work->channel->fd, .events = POLLIN};

	return poll(&fd, 1, 0) > 0;
}

void writer_work(struct channel *channel, void *ctx)
{
	const struct writer_inherited *inherited = ctx;
	struct work *work = calloc(1, sizeof(*work));
	int rc = 0;

	if (!work)
		return;
	work->channel = channel;
	work->shared = inherited->shared;
	work->queue = inherited->queue;
	work->flight = inherited->flight;
	output_init(&work->trace);
	output_init(&work->raw);
	while (rc == 0) {
		bool begun = work->pipe || work->tree, more = begun && take_some(work);

		if (!more)
			queue_arm(work->queue);
		if (has_request(work))
			rc = writer_work_take_request(work);
		else if (!more)
			queue_wait(work->queue, work->has_records ? SLEEP_MS : SETUP_SLEEP_MS);
	}
}
