/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "writer/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "report/exit_status.h"
#include "util/message.h"
#include "writer/writer_work.h"

struct writer {
	struct sandbox sandbox;
	struct writer_shared *shared;
	struct output *trace, *raw; /* not owned */
	struct writer_state state;
	struct error error;
	struct clerk *clerk; /* of several processes' files */
	bool begun, failure_told;
};

struct writer *writer_new(const struct flight_plan *flight, struct error *err)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	struct writer_inherited inherited = {.flight = flight};
	const int room = 4 << 20;

	if (!writer) {
		error_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	writer->sandbox.channel.fd = writer->sandbox.listener = writer->sandbox.memory = -1;
	writer->shared = mmap(NULL, sizeof(*writer->shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	inherited.shared = writer->shared;
	if (writer->shared == MAP_FAILED) {
		writer->shared = NULL;
		error_set(err, ENOMEM, "out of memory");
	} else if (sandbox_start(&writer->sandbox, "the process that writes the trace", writer_work,
				 &inherited, err) == 0) {
		sandbox_be_patient(&writer->sandbox);
		/* A burst of records must not wait for the other side to run. */
		setsockopt(writer->sandbox.channel.fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
		return writer;
	}
	writer_free(writer);
	return NULL;
}

int writer_attend(struct writer *writer, struct broker *broker, struct error *err)
{
	return sandbox_attend(&writer->sandbox, broker, err);
}

static int fail(struct writer *writer, int rc)
{
	return rc ? sandbox_fail(&writer->sandbox, rc, &writer->error) : 0;
}

/* What is followed by more before it is needed. */
static bool can_wait(uint32_t type)
{
	return type == LOG_STACK || type == LOG_GS || type == LOG_REASON || type == LOG_MAPPING ||
	       type == LOG_AREAS;
}

int writer_put(void *ctx, const struct log_record *record)
{
	struct writer *writer = ctx;
	const struct message message = {
		.kind = WRITER_RECORD, .code = (int32_t)record->type, .size = record->size};
	int rc = channel_put(&writer->sandbox.channel, &message, record->data);

	if (rc == 0 && !can_wait(record->type))
		rc = channel_flush(&writer->sandbox.channel);
	if (rc == 0 && writer->shared->failed && !writer->failure_told) {
		writer->failure_told = true;
		rc = -EIO;
	}
	return rc;
}

int writer_functab(struct writer *writer, const struct log_record *record)
{
	const struct message message = {.kind = WRITER_FUNCTAB, .size = record->size};
	int rc = channel_put(&writer->sandbox.channel, &message, record->data);

	if (rc == 0)
		rc = channel_flush(&writer->sandbox.channel);
	return fail(writer, rc);
}

/* Texts come from over there. */
static void take_error(struct writer *writer, char *text, size_t size)
{
	text[size - 1] = '\0';
	if (text[0] && !writer->error.text[0])
		error_set(&writer->error, EIO, "%s", text);
}

static int take_state(struct writer *writer)
{
	struct channel *channel = &writer->sandbox.channel;
	struct message reply;
	int rc = channel_take(channel, &reply, NULL);

	if (rc == 0 && reply.size != sizeof(writer->state))
		rc = -EBADMSG;
	if (rc == 0)
		rc = channel_read(channel, &writer->state, sizeof(writer->state));
	if (rc)
		return fail(writer, rc);
	take_error(writer, writer->state.trace_error, sizeof(writer->state.trace_error));
	take_error(writer, writer->state.raw_error, sizeof(writer->state.raw_error));
	return 0;
}

static int exchange(struct writer *writer, const struct message *message, const void *bytes)
{
	struct channel *channel = &writer->sandbox.channel;
	int rc = channel_put(channel, message, bytes);

	if (rc == 0)
		rc = channel_flush(channel);
	return rc ? fail(writer, rc) : take_state(writer);
}

static void tell(struct writer *writer, uint32_t kind)
{
	const struct message message = {.kind = kind};

	if (writer->begun && !writer->sandbox.broken)
		exchange(writer, &message, NULL);
}

void writer_sync(struct writer *writer)
{
	tell(writer, WRITER_SYNC);
}

void writer_end(struct writer *writer)
{
	tell(writer, WRITER_END);
}

void writer_discard(struct writer *writer)
{
	tell(writer, WRITER_DISCARD);
}

static int send_setup(struct writer *writer, const struct writer_setup *setup, int fd, struct error *err)
{
	const struct message message = {.kind = WRITER_BEGIN, .size = sizeof(*setup)};
	int rc = channel_put_fd(&writer->sandbox.channel, &message, setup, fd);

	writer->begun = rc == 0;
	rc = rc ? fail(writer, rc) : take_state(writer);
	if (rc == 0 && !writer->error.text[0])
		return 0;
	*err = writer->error;
	return rc ? rc : -EIO;
}

static int begin_several(struct writer *writer, struct writer_setup *setup,
			 const struct writer_options *options, struct error *err)
{
	int fd, rc;

	writer->clerk = clerk_new(&options->clerk, &fd, err);
	if (!writer->clerk)
		return -EPERM;
	setup->has_raw = options->clerk.raw != NULL;
	setup->first = (uint32_t)options->first;
	rc = send_setup(writer, setup, fd, err);
	close(fd);
	return rc;
}

static int begin_one(struct writer *writer, struct writer_setup *setup, const struct writer_options *options,
		     struct error *err)
{
	const struct message message = {.kind = WRITER_RAW};
	int rc = 0;

	writer->trace = options->trace;
	writer->raw = options->raw;
	setup->has_raw = options->raw != NULL;
	setup->regular = options->trace->regular;
	setup->borrowed = options->trace->borrowed;
	memcpy(setup->trace, options->trace->path, sizeof(setup->trace));
	if (options->raw) {
		setup->raw_regular = options->raw->regular;
		setup->raw_borrowed = options->raw->borrowed;
		memcpy(setup->raw, options->raw->path, sizeof(setup->raw));
		rc = channel_put_fd(&writer->sandbox.channel, &message, NULL, options->raw->fd);
	}
	if (rc)
		return sandbox_fail(&writer->sandbox, rc, err);
	return send_setup(writer, setup, options->trace->fd, err);
}

int writer_begin(struct writer *writer, const struct writer_options *options, struct error *err)
{
	struct writer_setup *setup = calloc(1, sizeof(*setup));
	int rc;

	if (!setup)
		return error_set(err, ENOMEM, "out of memory");
	setup->format = (uint32_t)options->format;
	setup->runtime_frames = options->runtime_frames;
	setup->json = options->json;
	setup->quiet = options->quiet;
	rc = options->first ? begin_several(writer, setup, options, err)
			    : begin_one(writer, setup, options, err);
	free(setup);
	return rc;
}

int writer_begin_tape(struct writer *writer, enum wire_format format, bool runtime_frames, int scribe,
		      struct error *err)
{
	struct writer_setup *setup = calloc(1, sizeof(*setup));
	int rc;

	if (!setup)
		return error_set(err, ENOMEM, "out of memory");
	setup->format = (uint32_t)format;
	setup->runtime_frames = runtime_frames;
	rc = send_setup(writer, setup, scribe, err);
	free(setup);
	return rc;
}

struct board *writer_board(struct writer *writer)
{
	return &writer->shared->board;
}

const struct error *writer_error(const struct writer *writer)
{
	return &writer->error;
}

struct progress writer_progress(const struct writer *writer)
{
	return (struct progress){.written = writer->shared->written, .expected = writer->shared->expected};
}

bool writer_has_gone(struct writer *writer)
{
	if (sandbox_has_gone(&writer->sandbox) && !writer->error.text[0])
		writer->error = writer->sandbox.why;
	return writer->sandbox.broken;
}

/* --- the end --- */

/* What a process that has died leaves: its generations up to the last one that it has told of. */
static int salvage_one(struct writer *writer)
{
	uint64_t whole = writer->shared->written;
	off_t end = writer->trace->regular ? lseek(writer->trace->fd, 0, SEEK_END) : 0;

	message_error(&writer->sandbox.why);
	if (writer->trace->regular &&
	    (end < 0 || (uint64_t)end < whole || ftruncate(writer->trace->fd, (off_t)whole)))
		whole = 0;
	if (whole == 0) {
		fprintf(stderr, "gotrace: no trace was written\n");
		output_discard(writer->trace);
		return STATUS_NONE;
	}
	fprintf(stderr, "gotrace: %s holds what was written until then, %llu bytes\n",
		output_name(writer->trace), (unsigned long long)whole);
	output_close(writer->trace);
	return STATUS_CUT;
}

static int salvage(struct writer *writer)
{
	if (!writer->clerk)
		return salvage_one(writer);
	message_error(&writer->sandbox.why);
	fprintf(stderr, "gotrace: the ends of the traces may be torn: gotrace check --repair cuts them\n");
	return STATUS_CUT;
}

static int take_status(struct writer *writer)
{
	int status = writer->state.status;

	if (status < STATUS_WHOLE || status > STATUS_CUT)
		status = STATUS_CUT;
	if (writer->clerk)
		return status;
	if (status == STATUS_NONE)
		output_discard(writer->trace);
	else
		output_close(writer->trace);
	return status;
}

int writer_report(struct writer *writer, const struct writer_last_words *words)
{
	const struct message message = {.kind = WRITER_REPORT, .size = sizeof(struct writer_last)};
	struct writer_last last = {.command_ended = words->command_ended,
				   .command_status = words->command_status};
	int status;

	last.has_command = words->command != NULL;
	last.is_cut = words->cut != NULL;
	snprintf(last.command, sizeof(last.command), "%s", words->command ? words->command : "");
	snprintf(last.cut, sizeof(last.cut), "%s", words->cut ? words->cut : "");
	fflush(NULL);
	if (writer->sandbox.broken || exchange(writer, &message, &last))
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
	sandbox_end(&writer->sandbox);
	clerk_free(writer->clerk);
	if (writer->shared)
		munmap(writer->shared, sizeof(*writer->shared));
	free(writer);
}
