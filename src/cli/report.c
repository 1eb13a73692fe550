/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace report: what a trace says about the program, findings first. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/analysis.h"
#include "cli/analyse.h"
#include "cli/confined.h"
#include "cli/options_analysis.h"
#include "pipeline/output.h"
#include "sandbox/sandbox.h"
#include "util/message.h"

static ssize_t write_page(void *ctx, const char *bytes, size_t n)
{
	return output_write(ctx, bytes, n) ? 0 : (ssize_t)n;
}

/* The page is written whole or not at all. */
static int write_html(struct analysis *a, const struct strips *strips, struct output *html, struct error *err)
{
	const struct report_style style = {.all = true};
	const cookie_io_functions_t functions = {.write = write_page};
	FILE *page = fopencookie(html, "w", functions);
	int rc;

	if (!page)
		return error_set(err, ENOMEM, "out of memory");
	report_html(a, strips, page, &style);
	fclose(page);
	rc = html->error ? -html->error : output_commit(html);
	if (!rc && output_publish(html, err))
		return -EIO;
	if (!rc)
		rc = output_close(html);
	return rc ? error_set(err, -rc, "cannot write %s: %s", output_name(html), strerror(-rc)) : 0;
}

static void cli_report_print(struct analysis *a, const struct report_options *options)
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

static int cli_report_begin(const struct report_options *options, struct trace_input *input,
			    struct error *err)
{
	int rc = trace_input_record_or_open(input, &options->record, options->input, err);

	input->by_label = options->by_label;
	input->label = options->label;
	return rc;
}

/* Reads the trace again for the page: what happened at the places of the findings. */
static int write_page_with_strips(const struct trace_input *input, const struct analysis *a,
				  struct output *html, struct error *err)
{
	struct strips *strips = strips_new(a);
	struct analysis *again = NULL;
	bool cut = true; /* a fault has been printed */
	int rc = strips ? trace_input_analyse_with(input, strips, &again, &cut, err)
			: error_set(err, ENOMEM, "out of memory");

	if (!rc)
		rc = write_html(again, strips, html, err);
	analysis_free(again);
	strips_free(strips);
	return rc;
}

/* A finding that another one explains comes with that one, which counts. */
static bool has_finding(const struct analysis *a, unsigned fail_on)
{
	struct analysis_finding finding;

	for (unsigned i = 0; fail_on && analysis_finding(a, i, &finding); i++) {
		if (!finding.explained_by && analysis_level(finding.level) + 1 >= (int)fail_on)
			return true;
	}
	return false;
}

/* html: the page's file, or NULL. Returns the exit status, or a negative errno. */
static int cli_report_report(const struct report_options *options, struct trace_input *input,
			     struct output *html, struct error *err)
{
	struct analysis *a = NULL;
	bool cut = false;
	int ret = sandbox_confine(err);

	if (!ret)
		ret = trace_input_begin(input, err);
	if (!ret)
		ret = trace_input_analyse(input, &a, &cut, err);
	if (!ret && html)
		ret = write_page_with_strips(input, a, html, err);
	if (!ret && (!html || options->json))
		cli_report_print(a, options);
	if (!ret && fflush(stdout) && errno != EPIPE)
		ret = error_set(err, errno, "cannot print the report: %s", strerror(errno));
	if (!ret)
		ret = cut ? STATUS_CUT : has_finding(a, options->fail_on) ? STATUS_FOUND : STATUS_WHOLE;
	analysis_free(a);
	return ret;
}

static int write_page_of(void *ctx, struct channel *files, struct error *err)
{
	const struct report_options *options = ctx;
	struct trace_input input = {0};
	struct output html;
	int status;

	output_init(&html);
	status = confined_open(files, 1, &html, err);
	if (!status)
		status = cli_report_begin(options, &input, err);
	if (!status)
		status = cli_report_report(options, &input, &html, err);
	if (status < 0)
		output_discard(&html);
	trace_input_close(&input);
	return status;
}

static int print_only(const struct report_options *options)
{
	struct trace_input input = {0};
	struct error err = {""};
	int status = cli_report_begin(options, &input, &err);

	if (!status)
		status = cli_report_report(options, &input, NULL, &err);
	trace_input_close(&input);
	if (status < 0 && err.text[0])
		message_error(&err);
	return status < 0 ? STATUS_NONE : status;
}

int command_report(int argc, char **argv)
{
	struct report_options options;
	struct confined_job job = {.work = write_page_of, .ctx = &options};
	struct error err = {""};
	int status = options_report(argc, argv, &options, &err);

	if (status)
		return options_end(status, "gotrace report", &err);
	if (!options.html)
		return print_only(&options);
	job.output = options.html;
	return confined_run(&job);
}
