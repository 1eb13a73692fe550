/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The verdict on a v1 or v0 file. Readers accept or refuse such a file as a whole. To find the valid prefix
 * of a bad file, the file is cut before the record of its first fault and read again, until it is valid.
 */
#include <errno.h>
#include <string.h>

#include "trace/wire/trace_v1.h"

enum { MAX_CUTS = 64 };

static void report_v1_fill(struct wire_report *report, const struct v1_trace *trace)
{
	struct v1_summary summary;

	v1_summarize(trace, &summary);
	memcpy(report->events, summary.events, sizeof(summary.events));
	report->goroutines = summary.goroutines;
	report->procs = summary.procs;
	report->threads = summary.threads;
	report->last_ns = (uint64_t)summary.last_time;
}

/*
 * Checks the first *n bytes. If they are valid, fills in the report and returns 0. Otherwise sets *n to the
 * offset of the fault and returns a negative errno.
 */
static int try(const uint8_t *bytes, size_t *n, struct wire_report *report, struct fault *fault)
{
	struct v1_trace *trace;
	int ret = v1_read(bytes, *n, &trace, fault);

	if (!ret) {
		report_v1_fill(report, trace);
		report->generations = 1;
		report->valid_bytes = *n;
	}
	v1_free(trace);
	if (fault->offset >= *n && ret)
		return -ENODATA; /* something is missing; cutting off more does not help */
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
