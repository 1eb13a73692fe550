/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The verdict on a v1 or v0 file. These have no parts that are whole by
 * themselves: a reader takes the file or refuses it. So what is to be kept of
 * a bad one is looked for: the file is cut at its first fault, between two
 * records, and read again, until what is left is good.
 */
#include <errno.h>
#include <string.h>

#include "wire/trace_v1.h"

enum { MAX_CUTS = 64 };

static void fill(struct wire_report *report, const struct v1_trace *trace)
{
	struct v1_summary summary;

	v1_summarize(trace, &summary);
	memcpy(report->events, summary.events, sizeof(summary.events));
	report->goroutines = summary.goroutines;
	report->procs = summary.procs;
	report->threads = summary.threads;
	report->last_ns = (uint64_t)summary.last_time;
}

/* Good up to n: says so in the report and returns 0. Else where the fault is, in *n. */
static int try(const uint8_t *bytes, size_t *n, struct wire_report *report, struct fault *fault)
{
	struct v1_trace *trace;
	int ret = v1_read(bytes, *n, &trace, fault);

	if (!ret) {
		fill(report, trace);
		report->generations = 1;
		report->valid_bytes = *n;
	}
	v1_free(trace);
	if (fault->offset >= *n && ret)
		return -ENODATA; /* something is missing: less will not do */
	*n = (size_t)fault->offset;
	return ret;
}

int wire_check_v1(const uint8_t *bytes, size_t n, struct wire_report *report)
{
	struct fault fault = {0};
	size_t at = n;
	int ret, again;

	*report = (struct wire_report){.total_bytes = n, .version = v1_format(bytes, n)};
	ret = again = try(bytes, &at, report, &fault);
	for (int i = 0; again == -EBADMSG && i < MAX_CUTS; i++) {
		struct fault next = {0};

		again = try(bytes, &at, report, &next);
	}
	report->error = fault.error;
	report->error_offset = fault.offset;
	return ret ? -EBADMSG : 0;
}

const char *wire_report_event(const struct wire_report *report, unsigned type)
{
	return report->version < WIRE_GO122 ? event_v1_name(type, report->version) : wire_event_name(type);
}
