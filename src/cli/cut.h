/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A piece of a trace, for other commands. */
#ifndef GOTRACE_CLI_CUT_H
#define GOTRACE_CLI_CUT_H

#include "cli/options.h"
#include "cli/trace_file.h"
#include "pipeline/output.h"
#include "trace/wire/wire.h"

/*
 * Writes one piece of a begun file to an open output, which is owned and closed. newest: the newest format
 * that the reader of the piece knows; WIRE_NONE = the reader knows all. The piece has the trace's format if
 * the reader knows that. Returns the exit status, or a negative errno and sets *err.
 */
int cut_into(const struct cut_command_options *options, const struct trace_file *file,
	     enum wire_format newest, const struct output *piece, struct error *err);

#endif
