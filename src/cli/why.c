/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace why: one slow task, region or goroutine, explained. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/why.h"
#include "cli/analyse.h"
#include "cli/options_analysis.h"
#include "target/functions/function_names.h"
#include "target/functions/functions.h"
#include "target/functions/value_list.h"
#include "sandbox/sandbox.h"
#include "util/message.h"

static int why_take_generation(void *ctx, const struct generation *gen)
{
	return analysis_generation(ctx, gen);
}

/* Makes one pass. The caller frees *a. */
static int read_for(struct why *why, const struct trace_input *input, struct analysis **a, bool *cut,
		    struct error *err)
{
	const struct analysis_options options = {
		.name = input->name, .file = input->file, .host = input->host};
	struct convert_sink sink = {.generation = why_take_generation, .source_times = true};
	int ret;

	*a = sink.ctx = analysis_new(&options);
	if (!*a)
		return error_set(err, ENOMEM, "out of memory");
	why_watch(why, *a);
	ret = trace_input_read(input, &sink, cut, err);
	if (!ret)
		ret = analysis_end(*a);
	if (ret && !err->text[0])
		error_set(err, -ret, "out of memory");
	return ret;
}

static int cli_why_explain(struct why *why, const struct trace_input *input,
			   const struct why_options *options, bool *cut, struct error *err)
{
	const struct report_style style = {.width = 0};
	struct analysis *a = NULL;
	int ret = read_for(why, input, &a, cut, err);

	if (!ret)
		ret = why_choose(why, a, err);
	analysis_free(a);
	a = NULL;
	if (!ret)
		ret = read_for(why, input, &a, cut, err);
	if (!ret)
		ret = why_explain(why, a, err);
	if (!ret && options->json)
		why_json(why, a, stdout);
	else if (!ret)
		why_text(why, a, stdout, &style);
	analysis_free(a);
	return ret;
}

/* Returns the name of a function's calls, without FILE and values. NULL if no function is meant. */
static const char *name_of_calls(const struct record_options *record, char name[FUNCTION_NAME_MAX])
{
	struct value_list list;
	const char *shown;

	if (!record->nfunctions)
		return NULL;
	shown = functions_shown(&record->functions[0]);
	if (value_list_parse(shown, &list, NULL))
		return NULL;
	snprintf(name, FUNCTION_NAME_MAX, "%.*s", (int)list.name_len, shown);
	return name;
}

static int why_answer(const struct why_options *options, struct trace_input *input, struct error *err)
{
	char calls[FUNCTION_NAME_MAX];
	const struct why_question question = {
		.kind = options->task     ? WHY_TASK
			: options->region ? WHY_REGION
			: options->label  ? WHY_LABEL
					  : WHY_GOROUTINE,
		.name = options->task     ? options->task
			: options->region ? options->region
					  : options->label,
		.also = name_of_calls(&options->record, calls),
		.goroutine = options->goroutine,
		.at_ns = options->at_ns,
		.slowest = options->slowest,
	};
	struct why *why;
	bool cut = false;
	int ret = sandbox_confine(err);

	if (!ret)
		ret = trace_input_begin(input, err);
	if (ret)
		return ret;
	why = why_new(&question);
	ret = why ? cli_why_explain(why, input, options, &cut, err) : error_set(err, ENOMEM, "out of memory");
	why_free(why);
	if (!ret && fflush(stdout) && errno != EPIPE)
		ret = error_set(err, errno, "cannot print the answer: %s", strerror(errno));
	return ret ? ret : cut ? STATUS_CUT : STATUS_WHOLE;
}

int command_why(int argc, char **argv)
{
	struct why_options options;
	struct trace_input input = {0};
	struct error err = {""};
	int status;

	status = options_why(argc, argv, &options, &err);
	if (status)
		return options_end(status, "gotrace why", &err);
	status = trace_input_record_or_open(&input, &options.record, options.input, &err);
	if (!status)
		status = why_answer(&options, &input, &err);
	trace_input_close(&input);
	if (status >= 0)
		return status;
	if (err.text[0])
		message_error(&err);
	return STATUS_NONE;
}
