/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/analyse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/recording_child.h"
#include "cli/trace_file.h"
#include "sandbox/privilege.h"
#include "util/message.h"
#include "trace/wire/read_v1.h"
#include "trace/wire/wire.h"

int trace_input_open(struct trace_input *input, const char *path, struct error *err)
{
	*input = (struct trace_input){.name = path, .file = path};
	input->host.pid = (uint32_t)trace_file_pid(path);
	return input_open(&input->in, path, false, err);
}

static int take_recording(struct trace_input *input, struct error *err)
{
	int trace = input->trace;

	input->trace = -1;
	if (recording_child_wait(input->child, &input->host, err)) {
		close(trace);
		return -ECHILD;
	}
	return input_adopt(&input->in, trace, input->name, err);
}

int trace_input_begin(struct trace_input *input, struct error *err)
{
	int rc = input->child ? take_recording(input, err) : 0;

	return rc ? rc : input_begin_trace(&input->in, err);
}

void trace_input_close(struct trace_input *input)
{
	if (input->child && input->trace >= 0)
		close(input->trace);
	if (input->name)
		input_close(&input->in);
	recording_child_free(input->child);
	*input = (struct trace_input){.name = NULL};
}

/*
 * Starts a process that records a process with these options into an unnamed file, and that has this
 * process's privileges. Returns 0 or a negative errno.
 */
static int trace_input_record(struct trace_input *input, const struct record_options *record,
			      struct error *err)
{
	static char name[32];

	err->text[0] = '\0';
	snprintf(name, sizeof(name), "-p %d", (int)record->pid);
	*input = (struct trace_input){.name = name, .file = ANALYSIS_NO_FILE, .in = {.fd = -1, .copy = -1}};
	input->host.pid = (uint32_t)record->pid;
	input->trace = recording_child_start(&input->child, record, err);
	return input->trace < 0 ? input->trace : 0;
}

int trace_input_record_or_open(struct trace_input *input, const struct record_options *record,
			       const char *path, struct error *err)
{
	if (record->pid)
		return trace_input_record(input, record, err);
	return privilege_limit(PRIVILEGE_NONE, err) ? -EPERM : trace_input_open(input, path, err);
}

int trace_input_read(const struct trace_input *input, const struct convert_sink *sink, bool *cut,
		     struct error *err)
{
	struct convert_result result;
	struct error fault;
	bool was_cut = *cut;
	int ret = convert_trace(input->in.bytes, input->in.size, NULL, sink, &result, err);

	if (!result.fault.text[0])
		return ret;
	*cut = true;
	error_set(&fault, EBADMSG, "%s: byte %llu: %s%s", input->name,
		  (unsigned long long)result.error_offset, result.fault.text,
		  result.generations ? " (everything before it was read)" : "");
	if (!result.generations) {
		*err = fault;
		return -EBADMSG;
	}
	if (!was_cut)
		message_error(&fault);
	return 0;
}

struct one_pass {
	struct analysis_options options;
	struct strips *strips; /* NULL = none */
	struct analysis *a;
};

static int analyse_take_generation(void *ctx, const struct generation *gen)
{
	struct one_pass *pass = ctx;

	return analysis_generation(pass->a, gen);
}

static int begin_again(void *ctx)
{
	struct one_pass *pass = ctx;

	analysis_free(pass->a);
	pass->a = analysis_new(&pass->options);
	if (pass->a && pass->strips)
		strips_watch(pass->strips, pass->a);
	return pass->a ? 0 : -ENOMEM;
}

int trace_input_analyse(const struct trace_input *input, struct analysis **a, bool *cut, struct error *err)
{
	return trace_input_analyse_with(input, NULL, a, cut, err);
}

int trace_input_analyse_with(const struct trace_input *input, struct strips *strips, struct analysis **a,
			     bool *cut, struct error *err)
{
	enum wire_format v1 = v1_format(input->in.bytes, input->in.size);
	struct one_pass pass = {.strips = strips,
				.options = {
					.name = input->name,
					.file = input->file,
					.short_calls = v1 != WIRE_NONE,
					.no_samples = v1 != WIRE_NONE && v1 < WIRE_GO119,
					.goes_on = input->goes_on,
					.host = input->host,
					.by_label = input->by_label,
					.label = input->label,
				}};
	const struct convert_sink sink = {.generation = analyse_take_generation,
					  .restart = begin_again,
					  .ctx = &pass,
					  .source_times = true};
	int ret = begin_again(&pass);

	if (!ret)
		ret = trace_input_read(input, &sink, cut, err);
	*a = pass.a;
	if (!ret)
		ret = analysis_end(*a);
	if (ret && !err->text[0])
		error_set(err, -ret, "out of memory");
	return ret;
}
