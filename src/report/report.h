/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The end of a trace: closes the files, prints the result, decides the exit status. */
#ifndef GOTRACE_REPORT_H
#define GOTRACE_REPORT_H

#include "pipeline/output.h"
#include "report/exit_status.h"
#include "report/summary.h"

struct report {
	struct summary summary; /* pipe, trace, raw and the command are set; `cut` if it is known why */
	struct output *trace;
	struct output *raw; /* NULL = none */
	bool json, quiet;
};

/*
 * The pipeline must have been finished. Returns enum exit_status: a trace
 * without a whole generation is removed, and is none.
 */
int report_end(struct report *report);

#endif
