/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace report: what a trace says about the program, findings first. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/analysis.h"
#include "cli/analyse.h"
#include "cli/options_analysis.h"
#include "sandbox/sandbox.h"
#include "util/message.h"

static int write_html(struct analysis *a, FILE *html, const char *path, struct error *err)
{
	const struct report_style style = {.all = true};

	report_html(a, html, &style);
	if (fflush(html) || ferror(html))
		return error_set(err, errno ? errno : EIO, "cannot write %s: %s", path, strerror(errno));
	return 0;
}

static void print(struct analysis *a, const struct report_options *options)
{
	struct report_style style = {
		.color = isatty(STDOUT_FILENO) && !options->json,
		.all = options->all,
		.max_items = options->max_items,
		.max_bytes = options->max_bytes,
	};

	if (options->json)
		report_json(a, stdout, &style);
	else
		report_text(a, stdout, &style);
}

static int report(const struct report_options *options, struct trace_input *input, struct error *err)
{
	FILE *html = NULL;
	struct analysis *a = NULL;
	bool cut = false;
	int ret;

	if (options->html) {
		html = fopen(options->html, "we");
		if (!html)
			return error_set(err, errno, "cannot write %s: %s", options->html, strerror(errno));
	}
	input->by_label = options->by_label;
	input->label = options->label;
	ret = sandbox_confine(err);
	if (!ret)
		ret = trace_input_analyse(input, &a, &cut, err);
	if (!ret && html)
		ret = write_html(a, html, options->html, err);
	if (!ret && (!html || options->json))
		print(a, options);
	if (!ret && fflush(stdout) && errno != EPIPE)
		ret = error_set(err, errno, "cannot print the report: %s", strerror(errno));
	analysis_free(a);
	if (html)
		fclose(html);
	return ret ? ret : cut ? STATUS_CUT : STATUS_WHOLE;
}

int command_report(int argc, char **argv)
{
	struct report_options options;
	struct trace_input input = {0};
	struct error err = {""};
	int status;

	status = options_report(argc, argv, &options, &err);
	if (status)
		return options_end(status, "gotrace report", &err);
	if (options.record.pid)
		status = trace_input_record(&input, &options.record, &err);
	else
		status = trace_input_open(&input, options.input, &err);
	if (!status)
		status = report(&options, &input, &err);
	trace_input_close(&input);
	if (status >= 0)
		return status;
	if (err.text[0])
		message_error(&err);
	return STATUS_NONE;
}
