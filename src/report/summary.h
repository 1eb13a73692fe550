/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What is told when a trace has been written: to people, or to programs. */
#ifndef GOTRACE_REPORT_SUMMARY_H
#define GOTRACE_REPORT_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pipeline/pipeline.h"

struct summary {
	struct pipeline *pipe;
	const char *trace; /* the file; "-" = standard output */
	const char *raw;   /* the raw log's file, NULL = none */
	const char *cut;   /* one line about what is missing at the end, NULL = nothing */
	/* What the process was called last, and what it ran; NULL: as LOG_TARGET says. */
	const char *name, *executable;
	const char *command; /* that gotrace started, NULL = none */
	bool command_ended;
	int command_status; /* of waitpid */
	int exit_status;    /* enum exit_status */
};

/* Events were lost on the way into the log. */
bool summary_has_losses(const struct summary *sum);
void summary_print(const struct summary *sum, FILE *out);
/* One object and a newline. */
void summary_print_json(const struct summary *sum, FILE *out);

/* Shared by both: */
struct log_loss summary_losses(const struct summary *sum);
uint64_t summary_lost_samples(const struct summary *sum);
/* "exited with status 1", "killed by SIGKILL", "still runs" */
struct text summary_command_end(const struct summary *sum);
const char *summary_end_name(const struct summary *sum); /* "stopped", "exited", …; "cut" without LOG_END */

#endif
