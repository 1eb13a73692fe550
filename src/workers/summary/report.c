/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "workers/summary/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/message.h"

static void report_close_file(struct output *out, struct error *failure)
{
	int rc = output_close(out);

	if (rc && failure->text[0] == '\0')
		error_set(failure, -rc, "cannot write %s: %s", output_name(out), strerror(-rc));
}

/* True if the trace reached --max-size: it is valid, but does not cover the requested time. */
static bool ended_by_size(const struct summary *sum)
{
	const struct log_end *end = pipeline_end(sum->pipe);

	return end && end->reason == LOG_END_SIZE;
}

static int end_without_trace(struct report *report, const struct error *failure)
{
	const char *cut = report->summary.cut;
	struct error none;

	if (!cut)
		cut = ended_by_size(&report->summary) ? "--max-size is too little for a whole generation"
						      : "no complete generation was recorded";
	output_discard(report->trace);
	if (failure->text[0])
		message_error(failure);
	error_set(&none, ENODATA, "no trace was written: %s", cut);
	message_error(&none);
	return STATUS_NONE;
}

static int decide_status(const struct report *report, const struct error *failure, const struct error *raw)
{
	if (failure->text[0] || raw->text[0] || report->summary.cut || summary_has_losses(&report->summary) ||
	    ended_by_size(&report->summary) ||
	    model_stats(pipeline_model(report->summary.pipe))->incomplete ||
	    (report->summary.exact && summary_unwatched(&report->summary)))
		return STATUS_CUT;
	return STATUS_WHOLE;
}

static void report_print_losses(const struct summary *sum)
{
	struct log_loss loss = summary_losses(sum);

	if (summary_has_losses(sum))
		message("lost: ring full %llu, stacks %llu, unreadable %llu, missed %llu, "
			"CPU samples %llu",
			(unsigned long long)loss.ring_full, (unsigned long long)loss.stack_full,
			(unsigned long long)loss.unreadable, (unsigned long long)loss.missed,
			(unsigned long long)summary_lost_samples(sum));
	summary_print_unwatched(sum, stderr, "gotrace: ");
	summary_print_incomplete(sum, stderr, "gotrace: ");
}

static void report_print(const struct report *report)
{
	if (report->json)
		summary_print_json(&report->summary, stdout);
	if (report->quiet || report->json)
		report_print_losses(&report->summary);
	else
		summary_print(&report->summary, stderr);
}

int report_end(struct report *report)
{
	struct summary *sum = &report->summary;
	struct error failure = *pipeline_trace_error(sum->pipe), raw = *pipeline_raw_error(sum->pipe);

	if (report->raw) {
		report_close_file(report->raw, &raw);
		if (raw.text[0])
			message_error(&raw);
	}
	if (report->trace->committed == 0)
		return end_without_trace(report, &failure);
	report_close_file(report->trace, &failure);
	if (failure.text[0]) {
		message_error(&failure);
		sum->cut = failure.text;
	}
	sum->raw_is_partial = raw.text[0];
	sum->exit_status = decide_status(report, &failure, &raw);
	report_print(report);
	if (report->json && (fflush(stdout) || ferror(stdout))) {
		error_set(&failure, EIO, "cannot write the summary: %s", strerror(errno));
		message_error(&failure);
		return STATUS_CUT;
	}
	return sum->exit_status;
}
