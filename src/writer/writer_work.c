/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "writer/writer_work.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "flight/scribe.h"
#include "flight/tape.h"
#include "native/names.h"
#include "report/report.h"
#include "writer/clerk.h"
#include "writer/family.h"

enum {
	NICE = 19,
	HURRY = 2 << 20, /* from so many bytes on that were taken without a pause it does not step back */
	MOST = 1 << 30,  /* of a record */
};

struct work {
	struct channel *channel;
	struct writer_shared *shared;
	const struct flight_plan *flight; /* NULL: it is no flight recorder */
	struct writer_setup setup;
	struct output trace, raw;
	struct pipeline *pipe;
	struct tape *tape;     /* in front of it, of a flight recorder */
	struct scribe *scribe; /* the same */
	struct family *family; /* instead of it, of several processes */
	struct channel clerk;  /* the same */
	void *names;           /* of native code; NULL = none */
	void *functab;         /* what the pipeline's names are read from */
	void *bytes;           /* of the message */
	size_t capacity;
	uint64_t without_pause; /* bytes */
	bool paces, hurries;
};

/* --- the pace --- */

/* Who may not go forward again does not step back. */
static void begin_pace(struct work *work)
{
	struct rlimit limit;

	work->paces = getrlimit(RLIMIT_NICE, &limit) == 0 && limit.rlim_cur >= 20;
	work->hurries = true;
}

static void set_pace(struct work *work, bool hurries)
{
	if (work->paces && hurries != work->hurries && !setpriority(PRIO_PROCESS, 0, hurries ? 0 : NICE))
		work->hurries = hurries;
}

/* While there is time, it stays behind the target. */
static void keep_pace(struct work *work, uint64_t bytes)
{
	struct pollfd fd = {.fd = work->channel->fd, .events = POLLIN};

	work->without_pause = poll(&fd, 1, 0) > 0 ? work->without_pause + bytes : 0;
	set_pace(work, work->without_pause > HURRY);
}

/* --- the log --- */

static void tell_progress(struct work *work)
{
	struct progress progress =
		work->family ? family_progress(work->family) : pipeline_progress(work->pipe);

	work->shared->written = progress.written;
	work->shared->expected = progress.expected;
}

static int put(struct work *work, const struct log_record *record)
{
	if (work->family)
		return family_put(work->family, record);
	/* What is asked of the tape is no log's. */
	if (work->names && record->type < TAPE_TAKE)
		return names_put(work->names, record);
	return work->tape ? tape_put(work->tape, record) : pipeline_put(work->pipe, record);
}

/* The process has its program when LOG_TARGET comes. Without names stacks have addresses, which is worth
 * telling. */
static void make_names(struct work *work, const struct log_target *target)
{
	struct error err = {""};

	if (target->flags & LOG_TARGET_THREADS && !work->names &&
	    names_new((pid_t)target->pid, work->tape ? tape_put : pipeline_put,
		      work->tape ? (void *)work->tape : (void *)work->pipe, &work->names, &err))
		fprintf(stderr, "gotrace: stacks will have addresses without names: %s\n", err.text);
}

static void take_record(struct work *work, uint32_t type, size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = work->bytes};

	if (type == LOG_TARGET && size >= sizeof(struct log_target) && work->pipe)
		make_names(work, work->bytes);
	if (put(work, &record))
		work->shared->failed = 1;
	tell_progress(work);
}

/* Its bytes stay where they are for as long as there are names to be found. */
static void take_functab(struct work *work, size_t size)
{
	struct log_record record = {.type = LOG_FUNCTAB, .size = (uint32_t)size, .data = work->bytes};

	if (work->functab || !work->pipe)
		return;
	work->functab = work->bytes;
	work->bytes = NULL;
	work->capacity = 0;
	if (rawlog_check_record(&record, NULL) || pipeline_functab(work->pipe, &record)) {
		fprintf(stderr, "gotrace: stacks will have addresses without names: the function table is "
				"not readable\n");
		return;
	}
	if (pipeline_put(work->pipe, &record))
		work->shared->failed = 1;
}

/* --- beginning and end --- */

static int answer(struct work *work, int status)
{
	const struct message message = {.kind = WRITER_SYNC, .size = sizeof(struct writer_state)};
	struct writer_state state = {.status = status, .committed = work->trace.committed};
	const struct error *trace =
		work->family ? family_error(work->family) : pipeline_trace_error(work->pipe);
	int rc;

	memcpy(state.trace_error, trace->text, sizeof(state.trace_error));
	if (work->pipe)
		memcpy(state.raw_error, pipeline_raw_error(work->pipe)->text, sizeof(state.raw_error));
	rc = channel_put(work->channel, &message, &state);
	return rc ? rc : channel_flush(work->channel);
}

static int begin_one(struct work *work, int fd)
{
	const struct writer_setup *setup = &work->setup;
	struct pipeline_options wanted = {
		.trace = &work->trace,
		.raw = setup->has_raw ? &work->raw : NULL,
		.format = (enum wire_format)setup->format,
		.runtime_frames = setup->runtime_frames,
	};

	if (output_adopt(&work->trace, fd, setup->trace, setup->regular, setup->borrowed))
		return -ENOMEM;
	snprintf(work->raw.path, sizeof(work->raw.path), "%s", setup->raw);
	work->raw.regular = setup->raw_regular;
	work->raw.borrowed = setup->raw_borrowed;
	work->pipe = pipeline_new(&wanted);
	return work->pipe ? answer(work, 0) : -ENOMEM;
}

static int begin_tape(struct work *work, int fd)
{
	struct tape_options wanted = {
		.flight = work->flight,
		.format = (enum wire_format)work->setup.format,
		.runtime_frames = work->setup.runtime_frames,
		.board = &work->shared->board,
	};

	work->scribe = scribe_new(fd);
	wanted.scribe = work->scribe;
	work->tape = work->scribe ? tape_new(&wanted) : NULL;
	if (!work->tape)
		return -ENOMEM;
	work->pipe = tape_pipeline(work->tape);
	return answer(work, 0);
}

/* That the first files cannot be opened is told before anything is traced. */
static int begin_several(struct work *work, int fd)
{
	const struct message message = {.kind = WRITER_SYNC, .size = sizeof(struct writer_state)};
	struct writer_state state = {.status = 0};
	struct family_options wanted = {
		.clerk = &work->clerk,
		.raw = work->setup.has_raw,
		.format = (enum wire_format)work->setup.format,
		.json = work->setup.json,
	};
	struct error err = {""};
	int rc;

	if (channel_open(&work->clerk, fd))
		return -ENOMEM;
	work->family = family_new(&wanted);
	if (!work->family)
		return -ENOMEM;
	if (family_open_first(work->family, (pid_t)work->setup.first, &err))
		memcpy(state.trace_error, err.text, sizeof(state.trace_error));
	rc = channel_put(work->channel, &message, &state);
	return rc ? rc : channel_flush(work->channel);
}

static int begin(struct work *work, size_t size, int fd)
{
	if (size != sizeof(work->setup) || fd < 0 || work->pipe || work->family)
		return -EBADMSG;
	memcpy(&work->setup, work->bytes, sizeof(work->setup));
	if (work->flight)
		return begin_tape(work, fd);
	return work->setup.first ? begin_several(work, fd) : begin_one(work, fd);
}

static int report_one(struct work *work, const struct writer_last *last)
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

	report.summary.command = last->has_command ? last->command : NULL;
	report.summary.command_ended = last->command_ended;
	report.summary.command_status = last->command_status;
	report.summary.cut = last->is_cut ? last->cut : NULL;
	return report_end(&report);
}

static int report_several(struct work *work, const struct writer_last *last)
{
	const struct family_report report = {
		.command = last->has_command ? last->command : NULL,
		.command_ended = last->command_ended,
		.command_status = last->command_status,
		.cut = last->is_cut ? last->cut : NULL,
		.quiet = work->setup.quiet,
	};

	return family_report(work->family, &report);
}

/* Nothing has been written: the first process's files go. */
static void discard(struct work *work)
{
	if (work->family)
		family_discard(work->family);
}

static int end(struct work *work, size_t size)
{
	set_pace(work, true);
	if (work->family)
		family_finish(work->family);
	else if (work->tape)
		tape_finish(work->tape);
	else
		pipeline_finish(work->pipe);
	tell_progress(work);
	return size ? -EBADMSG : answer(work, 0);
}

static int report(struct work *work, size_t size)
{
	struct writer_last last;

	if (size != sizeof(last))
		return -EBADMSG;
	memcpy(&last, work->bytes, sizeof(last));
	return answer(work, work->family ? report_several(work, &last) : report_one(work, &last));
}

/* --- messages --- */

static int take_bytes(struct work *work, uint64_t size)
{
	void *bigger;

	if (size > MOST)
		return -EBADMSG;
	if (size > work->capacity) {
		bigger = realloc(work->bytes, size);
		if (!bigger)
			return -ENOMEM;
		work->bytes = bigger;
		work->capacity = size;
	}
	return channel_read(work->channel, work->bytes, size);
}

static int act(struct work *work, const struct message *message, int fd)
{
	if (!work->pipe && !work->family && message->kind != WRITER_BEGIN && message->kind != WRITER_RAW)
		return -EBADMSG;
	switch (message->kind) {
	case WRITER_BEGIN:
		return begin(work, message->size, fd);
	case WRITER_RAW:
		work->raw.fd = fd;
		return 0;
	case WRITER_RECORD:
		take_record(work, (uint32_t)message->code, message->size);
		return 0;
	case WRITER_FUNCTAB:
		take_functab(work, message->size);
		return 0;
	case WRITER_SYNC:
		return answer(work, 0);
	case WRITER_DISCARD:
		discard(work);
		return answer(work, 0);
	case WRITER_END:
		return end(work, message->size);
	case WRITER_REPORT:
		return report(work, message->size);
	default:
		return -EBADMSG;
	}
}

void writer_work(struct channel *channel, void *ctx)
{
	const struct writer_inherited *inherited = ctx;
	struct work *work = calloc(1, sizeof(*work));
	struct message message;
	int fds[CHANNEL_FDS], rc;

	if (!work)
		return;
	work->channel = channel;
	work->shared = inherited->shared;
	work->flight = inherited->flight;
	output_init(&work->trace);
	output_init(&work->raw);
	begin_pace(work);
	do {
		rc = channel_take(channel, &message, fds);
		if (rc == 0)
			rc = take_bytes(work, message.size);
		if (rc == 0)
			rc = act(work, &message, fds[0]);
		if (rc == 0)
			keep_pace(work, message.size);
	} while (rc == 0);
}
