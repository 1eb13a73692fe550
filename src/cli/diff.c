/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace diff: what changed between two traces. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/diff.h"
#include "cli/analyse.h"
#include "cli/options_analysis.h"
#include "sandbox/sandbox.h"
#include "util/message.h"

static void diff_print(const struct diff *diff, const struct diff_options *options)
{
	const struct report_style style = {.color = isatty(STDOUT_FILENO), .all = options->all};

	if (options->json)
		diff_json(diff, stdout);
	else
		diff_text(diff, stdout, &style);
}

static int diff_compare(struct analysis *before, struct analysis *after, const struct diff_options *options,
			struct error *err)
{
	struct diff *diff = diff_new(before, after);

	if (!diff)
		return error_set(err, ENOMEM, "out of memory");
	diff_print(diff, options);
	diff_free(diff);
	if (fflush(stdout) && errno != EPIPE)
		return error_set(err, errno, "cannot print the comparison: %s", strerror(errno));
	return 0;
}

static int diff_run(const struct diff_options *options, struct trace_input inputs[2], struct error *err)
{
	struct analysis *both[2] = {NULL, NULL};
	bool cut[2] = {false, false};
	int ret = sandbox_confine(err);

	inputs[0].label = inputs[1].label = options->label;
	for (unsigned i = 0; i < 2 && !ret; i++)
		ret = trace_input_begin(&inputs[i], err);
	for (unsigned i = 0; i < 2 && !ret; i++)
		ret = trace_input_analyse(&inputs[i], &both[i], &cut[i], err);
	if (!ret)
		ret = diff_compare(both[0], both[1], options, err);
	analysis_free(both[0]);
	analysis_free(both[1]);
	return ret ? ret : cut[0] || cut[1] ? STATUS_CUT : STATUS_WHOLE;
}

int command_diff(int argc, char **argv)
{
	struct diff_options options;
	struct trace_input inputs[2] = {0};
	struct error err = {""};
	int status;

	status = options_diff(argc, argv, &options, &err);
	if (status)
		return options_end(status, "gotrace diff", &err);
	status = trace_input_open(&inputs[0], options.before, &err);
	if (!status)
		status = trace_input_open(&inputs[1], options.after, &err);
	if (!status)
		status = diff_run(&options, inputs, &err);
	trace_input_close(&inputs[0]);
	trace_input_close(&inputs[1]);
	if (status >= 0)
		return status;
	message_error(&err);
	return STATUS_NONE;
}
