/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace convert: converts a trace file of one Go release to the format of another. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/confined.h"
#include "cli/export.h"
#include "cli/lake.h"
#include "cli/options.h"
#include "cli/signals.h"
#include "trace/convert/convert.h"
#include "pipeline/output.h"
#include "sandbox/sandbox.h"
#include "target/target.h"
#include "util/message.h"
#include "util/text.h"
#include "trace/wire/wire.h"

struct conversion {
	const struct convert_options *options;
	struct trace_file file;
	struct wire *wire;
	struct output trace;
	struct convert_result result;
};

/* The first format that can represent each range of ops. */
struct first_format {
	uint8_t first, last; /* enum op_kind */
	uint8_t since;       /* enum wire_format */
	const char *what;
};

static const struct first_format first_formats[] = {
	{OP_GO_LABEL, OP_GO_LABEL, WIRE_GO18, "labels of goroutines"},
	{OP_GC_ASSIST_ACTIVE, OP_GC_ASSIST_END, WIRE_GO19, "events of mark assists"},
	{OP_STW_BEGIN, OP_STW_BEGIN, WIRE_GO110, "stop-the-worlds"},
	{OP_TASK_BEGIN, OP_LOG, WIRE_GO111, "events of tasks, regions and logs"},
	{OP_CPU_SAMPLE, OP_CPU_SAMPLE, WIRE_GO119, "CPU samples"},
	{OP_SYSCALL_END, OP_SYSCALL_END, WIRE_GO122, "ends of system calls that kept their P"},
	{OP_MSPAN, OP_GO_STACK_FREE, WIRE_GO123, "events of the heap's spans and goroutines' stacks"},
};

static int convert_write_trace(void *ctx, const void *bytes, size_t n)
{
	return output_write(ctx, bytes, n);
}

static int open_wire(struct conversion *conv, struct error *err)
{
	struct wire_options options = {
		.format = conv->options->format,
		.out = {.write = convert_write_trace, .ctx = &conv->trace},
	};

	conv->wire = wire_new(&options, err);
	return conv->wire ? 0 : -EIO;
}

struct sink {
	struct conversion *conv;
	struct error *err;
};

static int convert_take_generation(void *ctx, const struct generation *gen)
{
	struct sink *sink = ctx;
	int rc;

	if (signals_seen())
		return error_set(sink->err, EINTR, "interrupted");
	rc = wire_generation(sink->conv->wire, gen, sink->err);
	if (rc == 0) {
		rc = output_commit(&sink->conv->trace);
		if (rc)
			error_set(sink->err, -rc, "cannot write %s: %s", output_name(&sink->conv->trace),
				  strerror(-rc));
	}
	return rc;
}

static void convert_report_left_out(const struct conversion *conv)
{
	const struct convert_result *result = &conv->result;

	for (size_t i = 0; i < sizeof(first_formats) / sizeof(first_formats[0]); i++) {
		uint64_t n = 0;

		for (unsigned kind = first_formats[i].first; kind <= first_formats[i].last; kind++)
			n += result->kinds[kind];
		if (n && conv->options->format < first_formats[i].since)
			message("left out, %s cannot represent them: %s %s",
				wire_format_name(conv->options->format), text_count(n).bytes,
				first_formats[i].what);
	}
	if (result->no_ops)
		message("left out: %s events of single heap objects, and of memory without an "
			"address",
			text_count(result->no_ops).bytes);
	if (result->nameless && conv->options->binary)
		message("%s stacks are not in %s's Go code and keep their addresses",
			text_count(result->nameless).bytes, text_path(conv->options->binary).bytes);
	else if (result->nameless)
		message("%s stacks show addresses instead of names: give the program with --binary",
			text_count(result->nameless).bytes);
	if (result->skipped)
		message("left out: %s events without a goroutine or P", text_count(result->skipped).bytes);
}

static int convert_publish(struct conversion *conv, struct error *err)
{
	int rc = output_publish(&conv->trace, err);

	if (rc == 0) {
		rc = output_close(&conv->trace);
		if (rc)
			error_set(err, -rc, "cannot write %s: %s", output_name(&conv->trace), strerror(-rc));
	}
	return rc;
}

/* After a fault, the generations before it make up the trace, if there are any. */
static int convert_end(struct conversion *conv, struct error *err)
{
	const struct convert_result *result = &conv->result;
	struct error fault;

	if (result->fault.text[0]) {
		error_set(&fault, EBADMSG, "%s: byte %llu: %s%s", conv->options->input,
			  (unsigned long long)result->error_offset, result->fault.text,
			  result->generations ? " (everything before it was written)" : "");
		if (!result->generations) {
			*err = fault;
			return -EBADMSG;
		}
		message_error(&fault);
		if (output_cut(&conv->trace))
			return error_set(err, EIO, "cannot cut %s", output_name(&conv->trace));
	}
	if (convert_publish(conv, err))
		return -EIO;
	if (!conv->options->quiet)
		convert_report_left_out(conv);
	return result->fault.text[0] ? STATUS_CUT : STATUS_WHOLE;
}

static int convert_run(struct conversion *conv, struct error *err)
{
	struct sink sink = {.conv = conv, .err = err};
	const struct convert_sink out = {.generation = convert_take_generation, .ctx = &sink};
	int rc = open_wire(conv, err);

	if (rc == 0)
		rc = convert_trace(conv->file.in.bytes, conv->file.in.size,
				   conv->file.binary ? conv->file.binary->functab : NULL, &out, &conv->result,
				   err);
	if (rc && conv->trace.error)
		return error_set(err, conv->trace.error, "cannot write %s: %s", output_name(&conv->trace),
				 strerror(conv->trace.error));
	if (rc && !conv->result.fault.text[0])
		return rc;
	if (!rc && output_commit(&conv->trace))
		return error_set(err, EIO, "cannot write %s: %s", output_name(&conv->trace),
				 strerror(conv->trace.error));
	return convert_end(conv, err);
}

static int open_and_run(struct conversion *conv, struct channel *files, struct error *err)
{
	int rc = trace_file_open(&conv->file, conv->options->input, conv->options->binary, err);

	if (!rc)
		rc = confined_open(files, 1, &conv->trace, err);
	if (!rc)
		rc = sandbox_confine(err);
	if (!rc)
		rc = trace_file_begin(&conv->file, err);
	return rc ? rc : convert_run(conv, err);
}

static int convert_work(void *ctx, struct channel *files, struct error *err)
{
	struct conversion conv = {.options = ctx};
	int status;

	signals_install();
	output_init(&conv.trace);
	status = open_and_run(&conv, files, err);
	if (status < 0)
		output_discard(&conv.trace);
	wire_free(conv.wire);
	trace_file_close(&conv.file);
	return status;
}

static int convert(struct convert_options *options)
{
	const struct confined_job job = {.output = options->output, .work = convert_work, .ctx = options};

	return confined_run(&job);
}

static int export(const struct convert_options *options)
{
	struct export_input *inputs = calloc(options->ninputs, sizeof(*inputs));
	const struct export_job job = {
		.inputs = inputs,
		.ninputs = options->ninputs,
		.output = options->output,
		.binary = options->binary,
		.format = options->export,
		.profile = options->profile,
	};
	int status;

	if (!inputs) {
		message("out of memory");
		return STATUS_NONE;
	}
	for (size_t i = 0; i < options->ninputs; i++)
		inputs[i].path = options->inputs[i];
	status = export_run(&job);
	free(inputs);
	return status;
}

int command_convert(int argc, char **argv)
{
	struct convert_options options;
	struct error err;
	int status = options_convert(argc, argv, &options, &err);

	if (status)
		return options_end(status, "gotrace convert", &err);
	if (options.export == EXPORT_PARQUET)
		return lake_run(&options);
	return options.export ? export(&options) : convert(&options);
}
