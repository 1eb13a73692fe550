/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A trace file that is read as ops, possibly several times. It is opened, then the process gives up all
 * privileges (sandbox_confine()), then it is read.
 */
#ifndef GOTRACE_CLI_TRACE_FILE_H
#define GOTRACE_CLI_TRACE_FILE_H

#include <stdint.h>
#include <sys/types.h>

#include "cli/input.h"
#include "trace/convert/convert.h"
#include "util/error.h"

struct target;

struct trace_file {
	const char *path;
	struct input in;
	const char *binary_path;
	int binary_fd;                /* -1 = none */
	struct target *binary;        /* names for addresses; or NULL */
	struct convert_result result; /* of the last pass */
};

/*
 * Opens the file. binary: the traced program's file, for names, or NULL. Returns 0, or a negative errno and
 * sets *err.
 */
int trace_file_open(struct trace_file *file, const char *path, const char *binary, struct error *err);
/* The same for an open regular file, which is owned from now on; path is its name for messages. */
int trace_file_adopt(struct trace_file *file, int fd, const char *path, struct error *err);
/* Begins to read it. Returns 0, or a negative errno and sets *err. */
int trace_file_begin(struct trace_file *file, struct error *err);
void trace_file_close(struct trace_file *file);
/* Returns the last component of its path. */
const char *trace_file_name(const struct trace_file *file);
/* Returns the traced PID if the name of the file contains it (gotrace-PID-UTCTIME.trace, FILE.PID), or 0. */
pid_t trace_file_pid(const char *path);
/* An id that a trace has each time it is exported. The file must have been begun. */
void trace_file_id(const struct trace_file *file, uint64_t id[2]);
/*
 * Makes one pass. Returns 0; -EBADMSG if the file has a fault after generations that were passed on (see
 * result.fault); or another negative errno, with err set unless the sink returned it.
 */
int trace_file_read(struct trace_file *file, const struct convert_sink *sink, struct error *err);
/* Prints the fault of the last pass, if there is one. Returns the exit status, STATUS_CUT or STATUS_WHOLE. */
int trace_file_status(const struct trace_file *file);

#endif
