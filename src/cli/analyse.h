/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A trace file, or a live process, as input of report, why, diff and top. */
#ifndef GOTRACE_CLI_ANALYSE_H
#define GOTRACE_CLI_ANALYSE_H

#include <sys/types.h>

#include "analysis/analysis.h"
#include "cli/options.h"
#include "convert/convert.h"
#include "util/error.h"

struct trace_input {
	const char *name; /* for messages and reports; not owned */
	const char *file; /* for suggested commands; "FILE" if the trace is not kept */
	uint8_t *bytes;   /* mapped */
	uint64_t size;
	struct analysis_host host;
	const char *by_label, *label; /* as in analysis_options */
};

/* Maps the file. Returns 0, or a negative errno and sets *err. */
int trace_input_open(struct trace_input *input, const char *path, struct error *err);
/* Maps an open file of `size` bytes; fd may be closed afterwards. The names in *input must be set. */
int trace_input_map(struct trace_input *input, int fd, uint64_t size, struct error *err);
/*
 * Records a process with these options into an unnamed file, and maps it. Needs the privileges for tracing.
 * Returns 0 or a negative errno; err->text is "" if the error has already been printed.
 */
int trace_input_record(struct trace_input *input, const struct record_options *record, struct error *err);
void trace_input_close(struct trace_input *input);
/*
 * Passes the generations to the sink. A fault in the file sets *cut. It is printed on standard error unless
 * *cut was set before, or is an error if no generation precedes it.
 */
int trace_input_read(const struct trace_input *input, const struct convert_sink *sink, bool *cut,
		     struct error *err);
/* Runs and ends the whole analysis. The caller frees *a, also after an error. */
int trace_input_analyse(const struct trace_input *input, struct analysis **a, bool *cut, struct error *err);

#endif
