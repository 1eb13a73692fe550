/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A trace file, or a live process, as input of report, why and diff. */
#ifndef GOTRACE_CLI_ANALYSE_H
#define GOTRACE_CLI_ANALYSE_H

#include <sys/types.h>

#include "analysis/analysis.h"
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
/*
 * Traces the process for so long (0: until Ctrl-C) into a file without a name,
 * and maps that. Needs the rights that tracing takes. As above.
 */
int trace_input_record(struct trace_input *input, pid_t pid, uint64_t duration_ns, bool quiet,
		       struct error *err);
void trace_input_close(struct trace_input *input);
/* Hands the generations on. A fault of the file goes to standard error, and *cut says so. */
int trace_input_read(const struct trace_input *input, const struct convert_sink *sink, bool *cut,
		     struct error *err);
/* The whole analysis, ended; the caller frees it. */
int trace_input_analyse(const struct trace_input *input, struct analysis **a, bool *cut, struct error *err);

#endif
