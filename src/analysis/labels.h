/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* pprof labels of goroutines, from the logs that gotrace writes. */
#ifndef GOTRACE_ANALYSIS_LABELS_H
#define GOTRACE_ANALYSIS_LABELS_H

#include "analysis/state.h"

struct labels_read;
void labels_log(struct analysis *a, const struct op *op); /* handles a log event, which may be about labels */
/* Ends the labels of g. cut: the trace ends, and the last interval of g is already counted. */
void labels_end(struct analysis *a, struct goroutine *g, bool cut);
/* Another set of labels in a gap was not seen: the open periods count as cut. */
void labels_cut(struct goroutine *g);
void labels_drop(struct goroutine *g);
bool labels_match(const char *wanted, const struct labels_read *set); /* wanted: "key=value" */

#endif
