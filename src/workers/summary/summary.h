/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The summary of a trace, as text or as JSON. */
#ifndef GOTRACE_WORKERS_SUMMARY_SUMMARY_H
#define GOTRACE_WORKERS_SUMMARY_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pipeline/pipeline.h"
#include "workers/summary/style.h"

/* The page of go tool trace shows at most about 14 MB of trace at once (golang.org/issue/51349). */
enum { SUMMARY_LARGE_BYTES = 14 << 20 };

struct summary {
	struct pipeline *pipe;
	const char *trace; /* the file; "-" = standard output */
	const char *raw;   /* the raw log's file, NULL = none */
	bool raw_is_partial;
	bool exact; /* with --detail=exact, time not watched counts as a loss */
	struct summary_style style;
	const char *layout; /* source of the layout if the release is unknown; NULL = it is known */
	const char *cut;    /* one line about what is missing at the end, NULL = nothing */
	/* The last name and executable of the process; NULL = as in LOG_TARGET. */
	const char *name, *executable;
	const char *command; /* started by gotrace; NULL = none */
	bool command_ended;
	int command_status; /* of waitpid */
	int exit_status;    /* enum exit_status */
};

/* True if events were lost before they reached the log. */
bool summary_has_losses(const struct summary *sum);
void summary_print(const struct summary *sum, FILE *out);
/* Prints one JSON object and a newline. */
void summary_print_json(const struct summary *sum, FILE *out);

/* Shared by both: */
struct log_loss summary_losses(const struct summary *sum);
/* Return the ns of the trace in which nothing was recorded, and print a line about them if there are any. */
uint64_t summary_unwatched(const struct summary *sum);
/* Whether the limit on overhead left out system calls or frames for a time that was watched. */
bool summary_leaves_out(const struct summary *sum);
void summary_print_unwatched(const struct summary *sum, FILE *out, const char *lead);
/* Says what part of the program was not observed, if any. */
void summary_print_incomplete(const struct summary *sum, FILE *out, const char *lead);
uint64_t summary_lost_samples(const struct summary *sum);
unsigned summary_width(const struct summary *sum);  /* columns */
bool summary_is_threads(const struct summary *sum); /* false: goroutines */
struct text summary_reason(const struct summary *sum, uint32_t reason, unsigned width);
/* Lists the longest waits: "select 1.2 s, sleep 3 ms". */
void summary_list_reasons(const struct summary *sum, const struct goroutine_stats *row, unsigned most,
			  struct text *cell);
uint64_t summary_gc_workers(const struct summary *sum);
uint64_t summary_code(const struct summary *sum); /* ns */
void summary_print_whole(const struct summary *sum, FILE *out);
struct json;

/* For a Go program: whether running goroutines had a CPU. figures.known is false if the log does not say. */
struct cpu_figures summary_cpu(const struct summary *sum);
bool summary_short_of_cpu(const struct summary *sum); /* long enough to be reported */
void summary_print_cpu(const struct summary *sum, FILE *out);
void summary_put_cpu(const struct summary *sum, struct json *json);
/* "exited with status 1", "killed by SIGKILL", "still running" */
struct text summary_command_end(const struct summary *sum);
const char *summary_end_name(const struct summary *sum); /* "stopped", "exited", …; "cut" without LOG_END */

#endif
