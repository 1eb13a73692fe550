/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "workers/writer/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "workers/summary/exit_status.h"
#include "sandbox/rpc.h"
#include "util/message.h"
#include "util/utf8.h"
#include "workers/writer/writer_work.h"

enum {
	ANSWER_S = 300,    /* on a busy machine, much of the log may be queued */
	STOPPED_MS = 1000, /* we wait for the writer only at the start and at the end */
};

struct writer {
	struct sandbox sandbox;
	struct writer_shared *shared;
	struct queue *queue;        /* for the log */
	struct output *trace, *raw; /* not owned */
	struct writer_state state;
	struct error error;
	struct file_server *file_server; /* for several processes */
	bool begun, failure_reported;
};

/* Memory limit in multiples of max_bytes: snapshots being written, and events in memory if converted. */
#define KEPT_COPIES 8u

static uint64_t memory_limit(const struct flight_plan *flight)
{
	uint64_t kept;

	if (!flight)
		return SANDBOX_BYTES;
	if (__builtin_mul_overflow(flight->max_bytes, KEPT_COPIES, &kept) || kept > INT64_MAX)
		return RLIM_INFINITY;
	return SANDBOX_BYTES + kept;
}

struct writer *writer_new(const struct flight_plan *flight, size_t buffer, struct error *err)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	struct writer_inherited inherited = {.flight = flight};
	const struct sandbox_plan plan = {
		.what = "the writer process",
		.work = writer_work,
		.ctx = &inherited,
		.bytes = memory_limit(flight),
		.threads = flight,
	};

	if (!writer) {
		error_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	writer->sandbox.channel.fd = -1;
	writer->sandbox.client = (struct broker_client){.listener = -1, .memory = -1, .window = -1};
	inherited.queue = writer->queue = queue_new(buffer, err);
	writer->shared = mmap(NULL, sizeof(*writer->shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	inherited.shared = writer->shared;
	if (writer->shared == MAP_FAILED) {
		writer->shared = NULL;
		error_set(err, ENOMEM, "out of memory");
	} else if (writer->queue && sandbox_start(&writer->sandbox, &plan, err) == 0) {
		writer->sandbox.answer_s = ANSWER_S;
		writer->sandbox.stopped_ms = STOPPED_MS;
		return writer;
	}
	writer_free(writer);
	return NULL;
}

int writer_attend(struct writer *writer, struct broker *broker, struct error *err)
{
	return sandbox_attend(&writer->sandbox, broker, err);
}

static int writer_fail(struct writer *writer, int rc)
{
	return rc ? sandbox_fail(&writer->sandbox, rc, &writer->error) : 0;
}

int writer_put(void *ctx, const struct log_record *record)
{
	struct writer *writer = ctx;
	int rc = queue_put(writer->queue, record);

	if (rc == 0 && writer->shared->failed && !writer->failure_reported) {
		writer->failure_reported = true;
		rc = -EIO;
	}
	return rc;
}

void writer_flush(void *ctx)
{
	struct writer *writer = ctx;

	queue_flush(writer->queue);
}

double writer_fill(void *ctx)
{
	const struct writer *writer = ctx;

	return queue_fill(writer->queue);
}

/* Rings the queue, too: requests use the channel, and the process may be waiting for the queue. */
static int send_request(struct writer *writer, const struct rpc *request)
{
	int rc = sandbox_begin_wait(&writer->sandbox);

	if (rc == 0)
		rc = rpc_send(&writer->sandbox.channel, request);
	queue_wake(writer->queue);
	return rc;
}

/* Does not wait for an answer: the table may be large, and nothing depends on when it has been read. */
int writer_functab(struct writer *writer, const struct log_record *record)
{
	const struct rpc request = {.kind = record->type == LOG_FUNCTAB ? WRITER_FUNCTAB
									: WRITER_PLUGIN_FUNCTAB,
				    .bytes = record->data,
				    .size = record->size};

	return writer_fail(writer, send_request(writer, &request));
}

/* The writer's texts are untrusted. */
static void writer_take_error(struct writer *writer, char *text, size_t size)
{
	text[size - 1] = '\0';
	text_make_printable(text);
	if (text[0] && !writer->error.text[0])
		error_set(&writer->error, EIO, "%s", text);
}

static int take_state(struct writer *writer, struct rpc *request)
{
	struct channel *channel = &writer->sandbox.channel;
	int rc = rpc_take_answer(channel, request);

	if (rc == 0) {
		descriptors_close(request->fds);
		rc = request->code < 0 || request->left != sizeof(writer->state) ? -EBADMSG : 0;
	}
	if (rc == 0)
		rc = rpc_read(channel, request, &writer->state, sizeof(writer->state));
	if (rc)
		return writer_fail(writer, rc);
	writer_take_error(writer, writer->state.trace_error, sizeof(writer->state.trace_error));
	return 0;
}

static int exchange(struct writer *writer, struct rpc *request)
{
	int rc = send_request(writer, request);

	return rc ? writer_fail(writer, rc) : take_state(writer, request);
}

static void writer_request(struct writer *writer, uint32_t kind)
{
	struct rpc request = {.kind = kind};

	if (writer->begun && !writer->sandbox.broken)
		exchange(writer, &request);
}

void writer_sync(struct writer *writer)
{
	writer_request(writer, WRITER_SYNC);
}

void writer_end(struct writer *writer)
{
	writer_request(writer, WRITER_END);
}

void writer_discard(struct writer *writer)
{
	writer_request(writer, WRITER_DISCARD);
}

/* raw: file descriptor of the raw log; -1 = none. */
static int send_setup(struct writer *writer, const struct writer_setup *setup, int fd, int raw,
		      struct error *err)
{
	struct rpc request = {.kind = WRITER_BEGIN,
			      .bytes = setup,
			      .size = sizeof(*setup),
			      .send = {fd, raw},
			      .nsend = raw < 0 ? 1 : 2};
	int rc = send_request(writer, &request);

	writer->begun = rc == 0;
	rc = rc ? writer_fail(writer, rc) : take_state(writer, &request);
	if (rc == 0 && !writer->error.text[0])
		return 0;
	*err = writer->error;
	return rc ? rc : -EIO;
}

static int writer_begin_several(struct writer *writer, struct writer_setup *setup,
				const struct writer_options *options, struct error *err)
{
	int fd, rc;

	writer->file_server = file_server_new(&options->file_server, &fd, err);
	if (!writer->file_server)
		return -EPERM;
	if (file_server_start(writer->file_server, err)) {
		close(fd);
		return -EPERM;
	}
	setup->has_raw = options->file_server.raw != NULL;
	setup->first = (uint32_t)options->first;
	rc = send_setup(writer, setup, fd, -1, err);
	close(fd);
	return rc;
}

static int writer_begin_one(struct writer *writer, struct writer_setup *setup,
			    const struct writer_options *options, struct error *err)
{
	writer->trace = options->trace;
	writer->raw = options->raw;
	setup->has_raw = options->raw != NULL;
	writer->sandbox.has_reader = !options->trace->regular || (options->raw && !options->raw->regular);
	setup->regular = options->trace->regular;
	setup->borrowed = options->trace->borrowed;
	memcpy(setup->trace, options->trace->path, sizeof(setup->trace));
	if (options->raw) {
		setup->raw_regular = options->raw->regular;
		setup->raw_borrowed = options->raw->borrowed;
		memcpy(setup->raw, options->raw->path, sizeof(setup->raw));
	}
	return send_setup(writer, setup, options->trace->fd, options->raw ? options->raw->fd : -1, err);
}

int writer_begin(struct writer *writer, const struct writer_options *options, struct error *err)
{
	struct writer_setup *setup = calloc(1, sizeof(*setup));
	int rc;

	if (!setup)
		return error_set(err, ENOMEM, "out of memory");
	setup->trace_options = options->trace_options;
	setup->max_bytes = options->max_bytes;
	setup->json = options->json;
	setup->quiet = options->quiet;
	setup->exact = options->exact;
	setup->style = options->style;
	snprintf(setup->layout, sizeof(setup->layout), "%s", options->layout);
	rc = options->first ? writer_begin_several(writer, setup, options, err)
			    : writer_begin_one(writer, setup, options, err);
	free(setup);
	return rc;
}

int writer_begin_recorder(struct writer *writer, const struct writer_options *options, int worker,
			  struct error *err)
{
	struct writer_setup *setup = calloc(1, sizeof(*setup));
	int rc;

	if (!setup)
		return error_set(err, ENOMEM, "out of memory");
	setup->trace_options = options->trace_options;
	rc = send_setup(writer, setup, worker, -1, err);
	free(setup);
	return rc;
}

struct status_page *writer_status_page(struct writer *writer)
{
	return &writer->shared->page;
}

const struct error *writer_error(const struct writer *writer)
{
	return &writer->error;
}

struct progress writer_progress(const struct writer *writer)
{
	return (struct progress){.written = writer->shared->written, .expected = writer->shared->expected};
}

uint64_t writer_begun(const struct writer *writer)
{
	return writer->shared->begun;
}

void writer_set_niceness(const struct writer *writer, int niceness)
{
	sandbox_set_niceness(&writer->sandbox, niceness);
}

bool writer_is_stopped(const struct writer *writer)
{
	return sandbox_is_stopped(&writer->sandbox);
}

bool writer_has_exited(struct writer *writer)
{
	if (sandbox_has_exited(&writer->sandbox) && !writer->error.text[0])
		writer->error = writer->sandbox.why;
	return writer->sandbox.broken;
}

/* --- end --- */

/* After the writer has died, keeps the generations that it reported as written. */
static int salvage_one(struct writer *writer)
{
	uint64_t whole = writer->shared->written;
	off_t end = writer->trace->regular ? lseek(writer->trace->fd, 0, SEEK_END) : 0;

	message_error(&writer->sandbox.why);
	if (writer->trace->regular &&
	    (end < 0 || (uint64_t)end < whole || ftruncate(writer->trace->fd, (off_t)whole)))
		whole = 0;
	if (whole == 0) {
		message("no trace was written");
		output_discard(writer->trace);
		return STATUS_NONE;
	}
	message("%s contains the %llu bytes written before that", output_name(writer->trace),
		(unsigned long long)whole);
	output_close(writer->trace);
	return STATUS_CUT;
}

static int salvage(struct writer *writer)
{
	if (!writer->file_server)
		return salvage_one(writer);
	message_error(&writer->sandbox.why);
	message("traces may end in an incomplete generation; gotrace check --repair removes it");
	return STATUS_CUT;
}

static int take_status(struct writer *writer)
{
	int status = writer->state.status;

	if (status < STATUS_WHOLE || status > STATUS_CUT)
		status = STATUS_CUT;
	if (writer->file_server)
		return status;
	if (status != STATUS_NONE && output_was_removed(writer->trace)) {
		message("%s was removed while gotrace wrote it: what was recorded is lost",
			output_name(writer->trace));
		status = STATUS_NONE;
	}
	if (status == STATUS_NONE)
		output_discard(writer->trace);
	else
		output_close(writer->trace);
	return status;
}

int writer_report(struct writer *writer, const struct exit_info *exit)
{
	struct writer_exit last = {.command_ended = exit->command_ended,
				   .command_status = exit->command_status};
	struct rpc request = {.kind = WRITER_REPORT, .bytes = &last, .size = sizeof(last)};
	int status;

	last.has_command = exit->command != NULL;
	last.is_cut = exit->cut != NULL;
	snprintf(last.command, sizeof(last.command), "%s", exit->command ? exit->command : "");
	snprintf(last.cut, sizeof(last.cut), "%s", exit->cut ? exit->cut : "");
	if (writer->trace)
		snprintf(last.trace, sizeof(last.trace), "%s", writer->trace->path);
	fflush(NULL);
	if (writer->sandbox.broken || exchange(writer, &request))
		status = salvage(writer);
	else
		status = take_status(writer);
	if (writer->raw)
		output_close(writer->raw);
	return status;
}

void writer_free(struct writer *writer)
{
	if (!writer)
		return;
	/* It may wait for the queue, and then does not notice that the channel is closed. */
	channel_close(&writer->sandbox.channel);
	if (writer->queue)
		queue_wake(writer->queue);
	sandbox_end(&writer->sandbox);
	file_server_free(writer->file_server);
	if (writer->shared)
		munmap(writer->shared, sizeof(*writer->shared));
	queue_free(writer->queue);
	free(writer);
}
