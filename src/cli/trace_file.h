/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A trace file that is read as ops, several times if need be. */
#ifndef GOTRACE_CLI_TRACE_FILE_H
#define GOTRACE_CLI_TRACE_FILE_H

#include <stdint.h>
#include <sys/types.h>

#include "convert/convert.h"
#include "util/error.h"

struct target;

struct trace_file {
	const char *path;
	const uint8_t *bytes;
	size_t size;
	struct target *binary;        /* has names for addresses; or NULL */
	struct convert_result result; /* of the last pass */
};

/* Maps the file. binary: the traced program's file, for names, or NULL. 0 or a negative errno with err set.
 */
int trace_file_open(struct trace_file *file, const char *path, const char *binary, struct error *err);
/* The same for a file that is open; path is what messages call it. fd stays the caller's. */
int trace_file_open_fd(struct trace_file *file, int fd, const char *path, struct error *err);
void trace_file_close(struct trace_file *file);
/* The last part of its path. */
const char *trace_file_name(const struct trace_file *file);
/* The process that it is of, if the name says so as gotrace names files (gotrace-PID-UTCTIME.trace,
 * FILE.PID); else 0. */
pid_t trace_file_pid(const struct trace_file *file);
/*
 * One pass. 0; -EBADMSG if the file has a fault and something before it was
 * handed on (result.fault says which); or another error with err set, unless
 * it is that of the sink.
 */
int trace_file_read(struct trace_file *file, const struct convert_sink *sink, struct error *err);
/* Prints the fault of the last pass, if there is one. Returns the exit status, STATUS_CUT or STATUS_WHOLE. */
int trace_file_status(const struct trace_file *file);

#endif
