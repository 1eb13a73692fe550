/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A trace file, or a live process, as input of report, why, diff and top. It is opened or started, then the
 * process gives up all privileges (sandbox_confine()), then it is read.
 */
#ifndef GOTRACE_CLI_ANALYSE_H
#define GOTRACE_CLI_ANALYSE_H

#include <sys/types.h>

#include "analysis/analysis.h"
#include "analysis/strips.h"
#include "cli/input.h"
#include "cli/options.h"
#include "trace/convert/convert.h"
#include "util/error.h"

struct recording_child;

struct trace_input {
	const char *name; /* for messages and reports; not owned */
	const char *file; /* for suggested commands; "FILE" if the trace is not kept */
	struct input in;
	struct recording_child *child; /* that records the process; NULL = there is a file */
	int trace;                     /* with a child: its file, until it is read; then -1 */
	struct analysis_host host;
	const char *by_label, *label; /* as in analysis_options */
	bool goes_on;                 /* the same */
};

/* Opens the file. Returns 0, or a negative errno and sets *err. */
int trace_input_open(struct trace_input *input, const char *path, struct error *err);
/*
 * Records if a process is given. Else gives up what only recording needs (privilege_limit()), and opens the
 * file.
 */
int trace_input_record_or_open(struct trace_input *input, const struct record_options *record,
			       const char *path, struct error *err);
/*
 * Waits for the recording, if there is one, and maps the file. Returns 0 or a negative errno; err->text is ""
 * if the error has already been printed.
 */
int trace_input_begin(struct trace_input *input, struct error *err);
void trace_input_close(struct trace_input *input);
/*
 * Passes the generations to the sink. A fault in the file sets *cut. It is printed on standard error unless
 * *cut was set before, or is an error if no generation precedes it.
 */
int trace_input_read(const struct trace_input *input, const struct convert_sink *sink, bool *cut,
		     struct error *err);
/* Runs and ends the whole analysis. The caller frees *a, also after an error. */
int trace_input_analyse(const struct trace_input *input, struct analysis **a, bool *cut, struct error *err);
/* The same, with an observer of it. */
int trace_input_analyse_with(const struct trace_input *input, struct strips *strips, struct analysis **a,
			     bool *cut, struct error *err);

#endif
