/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Exports traces to the formats of other tools. */
#ifndef GOTRACE_CLI_EXPORT_H
#define GOTRACE_CLI_EXPORT_H

#include "cli/trace_file.h"
#include "export/export.h"
#include "pipeline/output.h"

struct export_input {
	const char *path;
	int fd;            /* an open file, owned, with path as its name for messages; 0 = open path */
	const char *title; /* of the process; NULL = from the file */
	pid_t pid;         /* 0 = from the file's name */
};

struct export_job {
	const struct export_input *inputs; /* more than one only for Perfetto */
	size_t ninputs;
	const char *output;
	const char *binary; /* as in convert_options */
	enum export_format format;
	enum profile_kind profile;
	const struct export_machine *machine; /* where the traces were recorded; NULL = unknown */
};

/* Writes the output, in a process without privileges (confined.h). Returns the exit status. */
int export_run(const struct export_job *job);
/*
 * The same for an open output; job->output is ignored. The calling process gives up its privileges. Returns
 * the exit status, or a negative errno and sets *err. After an error the output stays open.
 */
int export_into(const struct export_job *job, struct output *out, struct error *err);
/*
 * Exports a file in two passes. Returns 0, -EBADMSG as trace_file_read() does, or another negative errno and
 * sets *err.
 */
int export_file(struct trace_file *file, const struct export_options *options, struct error *err);

#endif
