/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * --children: a process and its descendants. Their common log is split by process. Each process has its own
 * pipeline, files and trace.
 */
#ifndef GOTRACE_WORKERS_WRITER_PROCESS_TREE_H
#define GOTRACE_WORKERS_WRITER_PROCESS_TREE_H

#include "pipeline/pipeline.h"
#include "workers/writer/file_server.h"

struct process_tree_options {
	struct channel *file_server; /* not owned; opens the files */
	bool raw;                    /* write raw logs */
	struct trace_options trace_options;
	bool json; /* make JSON summaries of the processes */
};

struct process_tree;

struct process_tree *process_tree_new(const struct process_tree_options *options); /* NULL if out of memory */
/*
 * Opens the files of the first process, so that errors are reported before tracing begins. Returns 0, or a
 * negative errno and sets *err.
 */
int process_tree_open_first(struct process_tree *tree, pid_t pid, struct error *err);
/* A log_sink: takes the log of all processes. */
int process_tree_put(void *tree, const struct log_record *record);
/* Any thread may call this. */
struct progress process_tree_progress(struct process_tree *tree);
/* Returns the first error of a file; "" = none. */
const struct error *process_tree_error(const struct process_tree *tree);
/* Finishes all traces. */
void process_tree_finish(struct process_tree *tree);

struct process_tree_report {
	const char *command; /* started by gotrace, NULL = none */
	bool command_ended;
	int command_status; /* from waitpid */
	const char *cut;    /* why tracing was aborted, NULL = it was not */
	bool quiet;
};

/* Prints the summary. Returns enum exit_status. */
int process_tree_report(struct process_tree *tree, const struct process_tree_report *report);
/* Removes the first process's files if its trace has not begun. */
void process_tree_discard(struct process_tree *tree);

#endif
