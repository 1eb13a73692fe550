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
	const char *name; /* as messages and reports name it; not owned */
	const char *file; /* as commands name it: "FILE" if it is not kept */
	uint8_t *bytes;   /* mapped */
	uint64_t size;
	struct analysis_host host;
	const char *by_label, *label; /* as in analysis_options */
};

/* Maps the file. 0, or a negative errno with the line set. */
int trace_input_open(struct trace_input *input, const char *path, struct error *err);
/* The same of an open file of this size, which may be closed then. The input has its names. */
int trace_input_map(struct trace_input *input, int fd, uint64_t size, struct error *err);
/*
 * Records a process, with these options, into a file without a name, and maps that. Needs the rights that
 * tracing takes. 0, or a negative errno; the line is empty if one was printed already.
 */
int trace_input_record(struct trace_input *input, const struct record_options *record, struct error *err);
void trace_input_close(struct trace_input *input);
/* Hands the generations on. A fault of the file goes to standard error, and *cut says so. */
int trace_input_read(const struct trace_input *input, const struct convert_sink *sink, bool *cut,
		     struct error *err);
/* The whole analysis, ended; the caller frees it. */
int trace_input_analyse(const struct trace_input *input, struct analysis **a, bool *cut, struct error *err);

#endif
