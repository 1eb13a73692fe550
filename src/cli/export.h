/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Traces into the formats of other tools. */
#ifndef GOTRACE_CLI_EXPORT_H
#define GOTRACE_CLI_EXPORT_H

#include "cli/trace_file.h"
#include "export/export.h"
#include "pipeline/output.h"

struct export_input {
	const char *path;
	int fd;            /* the file, if it is open and path is but what messages call it; else 0 */
	const char *title; /* of the process; NULL: as the file says */
	pid_t pid;         /* 0: as the file's name says */
};

struct export_job {
	const struct export_input *inputs; /* several only for perfetto */
	size_t ninputs;
	const char *output;
	const char *binary; /* as in convert_options */
	enum export_format format;
	enum profile_kind profile;
	const struct export_machine *machine; /* where the traces were recorded; NULL = not known */
};

/* Writes the output. Returns the exit status, or a negative errno with err set. */
int export_run(const struct export_job *job, struct error *err);
/* The same into an output that is open (job->output is not used). After an error the output stays open. */
int export_into(const struct export_job *job, struct output *out, struct error *err);
/* Two passes over a file, into an export with these options. 0, -EBADMSG as trace_file_read(), or an error
 * with err set. */
int export_file(struct trace_file *file, const struct export_options *options, struct error *err);

#endif
