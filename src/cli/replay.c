/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace replay: converts a raw log to a trace, without privileges or a process. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/confined.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/signals.h"
#include "pipeline/pipeline.h"
#include "workers/summary/report.h"
#include "workers/summary/status.h"
#include "sandbox/sandbox.h"
#include "util/message.h"
#include "util/text.h"

/*
 * The function table may be anywhere in the log, but the first generation needs it. Returns 0 also if there
 * is none: a truncated log is used as far as it goes. *names stays at the table, whose bytes it owns.
 */
static int find_names(struct pipeline *pipe, int fd, struct rawlog_reader **names, struct error *err)
{
	struct log_record record;

	*names = rawlog_reader_new(fd, err);
	if (!*names)
		return -EBADMSG;
	while (!pipeline_has_functab(pipe) && rawlog_reader_next(*names, &record, NULL) == 1) {
		if (record.type == LOG_FUNCTAB && pipeline_functab(pipe, &record))
			break;
	}
	if (lseek(fd, 0, SEEK_SET) < 0)
		return error_set(err, errno, "cannot read the log twice: %s", strerror(errno));
	return 0;
}

/* Feeds all records. *cut: set to the reason if the log ends early. */
static int feed_log(struct pipeline *pipe, int fd, struct error *cut, struct error *err)
{
	struct rawlog_reader *reader = rawlog_reader_new(fd, err);
	struct log_record record;
	int rc;

	if (!reader)
		return -EBADMSG;
	while ((rc = rawlog_reader_next(reader, &record, cut)) == 1) {
		if (signals_seen()) {
			error_set(cut, EINTR, "interrupted");
			break;
		}
		if (pipeline_put(pipe, &record))
			break;
	}
	if (rc == 0 && !rawlog_reader_complete(reader))
		error_set(cut, EBADMSG, "the raw log ends early: gotrace was killed or its disk was full");
	rawlog_reader_free(reader);
	pipeline_finish(pipe);
	return 0;
}

static int replay_into(const struct replay_options *options, int fd, struct pipeline *pipe,
		       struct output *trace, struct rawlog_reader **names, struct error *err)
{
	struct error cut = {""};
	struct report report = {
		.summary = {.pipe = pipe, .style = options->style},
		.trace = trace,
		.json = options->json,
		.quiet = options->quiet,
	};

	if (find_names(pipe, fd, names, err))
		return -1;
	if (feed_log(pipe, fd, &cut, err) || (trace->committed > 0 && output_publish(trace, err)))
		return -1;
	report.summary.style.width = (uint16_t)status_line_width();
	report.summary.trace = trace->path;
	if (trace->committed > 0 && !pipeline_has_names(pipe))
		message("stacks show addresses instead of names: %s has no usable function table",
			text_path(options->input).bytes);
	if (cut.text[0])
		report.summary.cut = cut.text;
	if (cut.text[0] && trace->committed > 0)
		message("%s: %s", text_path(options->input).bytes, cut.text);
	return report_end(&report);
}

static int replay(const struct replay_options *options, int fd, struct output *trace, struct error *err)
{
	struct pipeline_options wanted = {
		.trace = trace,
		.trace_options = options->trace_options,
	};
	struct pipeline *pipe = pipeline_new(&wanted);
	struct rawlog_reader *names = NULL;
	int status;

	if (!pipe)
		return error_set(err, ENOMEM, "out of memory");
	status = replay_into(options, fd, pipe, trace, &names, err);
	pipeline_free(pipe);
	rawlog_reader_free(names);
	return status;
}

/* The log is untrusted input. */
static int replay_work(void *ctx, struct channel *files, struct error *err)
{
	const struct replay_options *options = ctx;
	struct output trace;
	struct input log;
	int status;

	signals_install();
	output_init(&trace);
	status = input_open(&log, options->input, false, err);
	if (status == 0)
		status = confined_open(files, 1, &trace, err);
	if (status == 0)
		status = sandbox_confine(err);
	if (status == 0)
		status = input_begin(&log, err);
	if (status == 0)
		status = replay(options, log.fd, &trace, err);
	if (status < 0)
		output_discard(&trace);
	input_close(&log);
	return status;
}

int command_replay(int argc, char **argv)
{
	struct replay_options options;
	struct confined_job job = {.work = replay_work, .ctx = &options};
	struct error err;
	int status = options_replay(argc, argv, &options, &err);

	if (status)
		return options_end(status, "gotrace replay", &err);
	job.output = options.output;
	return confined_run(&job);
}
