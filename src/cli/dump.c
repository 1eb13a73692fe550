/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace dump: prints the events of a trace, one per line. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/dump/dump.h"
#include "cli/input.h"
#include "cli/options.h"
#include "sandbox/sandbox.h"
#include "util/message.h"

enum { OUT_BUFFER = 1 << 16 };

/* Converts the result of dump_trace() to an exit status. Reports errors on standard error. */
static int conclude(int ret, const char *path, const struct wire_report *report)
{
	struct error err;

	if (!ret && fflush(stdout))
		ret = errno ? -errno : -EIO;
	if (ret == 0)
		return STATUS_WHOLE;
	if (ret == -EPIPE)
		return STATUS_NONE; /* the reader has closed the pipe: no message */
	fflush(stdout);
	if (ret == -EBADMSG && report->error.text[0])
		error_set(&err, EBADMSG, "%s: fault at byte %llu: %s", path,
			  (unsigned long long)report->error_offset, report->error.text);
	else
		error_set(&err, -ret, "cannot print %s: %s", path, strerror(-ret));
	message_error(&err);
	return ret == -EBADMSG && report->generations ? STATUS_CUT : STATUS_NONE;
}

static int dump_file(const struct dump_options *options, struct input *in, struct error *err)
{
	struct wire_report *report = calloc(1, sizeof(*report));
	struct dump *dump = calloc(1, sizeof(*dump));
	int status = sandbox_confine(err);

	if (status == 0)
		status = input_begin_trace(in, err);
	if (status == 0 && (!report || !dump))
		status = error_set(err, ENOMEM, "out of memory");
	if (status == 0) {
		dump->out = stdout;
		dump->json = options->json;
		dump->stacks = options->stacks;
		dump->absolute = options->absolute;
		setvbuf(stdout, NULL, _IOFBF, OUT_BUFFER);
		status = conclude(dump_trace(dump, in->bytes, in->size, report), options->input, report);
	}
	free(report);
	free(dump);
	return status;
}

int command_dump(int argc, char **argv)
{
	struct dump_options options;
	struct input in;
	struct error err;
	int status;

	status = options_dump(argc, argv, &options, &err);
	if (status)
		return options_end(status, "gotrace dump", &err);
	status = input_open(&in, options.input, false, &err);
	if (status == 0)
		status = dump_file(&options, &in, &err);
	input_close(&in);
	if (status >= 0)
		return status;
	message_error(&err);
	return STATUS_NONE;
}
