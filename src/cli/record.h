/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a plain trace and a flight recorder share of looking at a live process. */
#ifndef GOTRACE_CLI_RECORD_H
#define GOTRACE_CLI_RECORD_H

#include "capture/capture.h"
#include "cli/options.h"
#include "pipeline/pipeline.h"

struct shed_options record_shed(const struct record_options *options);
/* Looks at this process as the options say; the rest of `wanted` (target, plan, sink, …) is filled in. */
int record_capture(const struct record_options *options, struct capture_options *wanted,
		   struct capture **capture, struct error *err);
/* What a level leaves out of goroutines, or of threads, for people; "" = nothing. */
const char *record_look(enum level level, bool threads);
/* Records lost so far. */
uint64_t record_lost(const struct capture_stats *stats);

#endif
