/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Ends a trace: closes the files, prints the result, decides the exit status. */
#ifndef GOTRACE_WORKERS_SUMMARY_REPORT_H
#define GOTRACE_WORKERS_SUMMARY_REPORT_H

#include "pipeline/output.h"
#include "workers/summary/exit_status.h"
#include "workers/summary/summary.h"

struct report {
	/* The caller sets pipe, trace, raw, the command, and `cut` if the reason is known. */
	struct summary summary;
	struct output *trace;
	struct output *raw; /* NULL = none */
	bool json, quiet;
};

/*
 * The pipeline must be finished. A trace without a complete generation is removed. Returns enum exit_status.
 */
int report_end(struct report *report);

#endif
