/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * --children: a process and its descendants. What capture saw of all of them is
 * split by process, and each has a trace of its own, with a pipeline and files.
 */
#ifndef GOTRACE_WRITER_FAMILY_H
#define GOTRACE_WRITER_FAMILY_H

#include "pipeline/pipeline.h"
#include "writer/clerk.h"

struct family_options {
	struct channel *clerk; /* not owned; opens the files */
	bool raw;              /* raw logs are kept */
	enum wire_format format;
	bool json; /* the members' summaries as JSON are wanted */
};

struct family;

struct family *family_new(const struct family_options *options); /* NULL: out of memory */
/* Opens the files of the first process, so that what is wrong with them is told before anything is traced. */
int family_open_first(struct family *family, pid_t pid, struct error *err);
/* A log_sink: takes the log of all. */
int family_put(void *family, const struct log_record *record);
/* May be asked for from another thread. */
struct progress family_progress(struct family *family);
/* The first failure of a file; "" = none. */
const struct error *family_error(const struct family *family);
/* Finishes all traces. */
void family_finish(struct family *family);

struct family_report {
	const char *command; /* that gotrace started, NULL = none */
	bool command_ended;
	int command_status; /* of waitpid */
	const char *cut;    /* why tracing broke off, NULL = it did not */
	bool quiet;
};

/* Tells what was written. Returns enum exit_status. */
int family_report(struct family *family, const struct family_report *report);
/* Removes the first process's files if nothing has been written. */
void family_discard(struct family *family);
void family_free(struct family *family);

#endif
