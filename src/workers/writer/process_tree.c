/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "workers/writer/process_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/names/shared_names.h"
#include "rawlog/demux.h"
#include "util/map64.h"
#include "util/message.h"
#include "util/utf8.h"
#include "util/window.h"
#include "workers/writer/process_tree_report.h"

enum { MAX_TRACES = 16384 }; /* per run: many forks must not fill a directory */

/* A process that is being traced. */
struct traced_process {
	struct process_tree *tree;
	struct pipeline *pipe;
	struct shared_names *names;
	struct output trace, raw;
	pid_t pid;
	char comm[16], exe[256]; /* of its current program */
	struct progress counted; /* its part of the tree's progress */
};

struct process_tree {
	struct process_tree_options options;
	struct demux *demux;
	struct output trace, raw; /* of the first process, until its trace begins */
	pid_t first;
	struct map64 used; /* pids that had a trace -> number of traces */
	uint32_t ntraces;
	bool full;                  /* MAX_TRACES was reached and reported */
	struct names_limits limits; /* shared by all processes */
	struct process_rows rows;   /* of processes that have ended */
	struct error error;
	_Atomic uint64_t written, expected;
};

/* --- files --- */

static int process_tree_open_files(struct process_tree *tree, pid_t pid, struct output *trace,
				   struct output *raw, struct error *err)
{
	struct channel *file_server = tree->options.file_server;
	const uint32_t *before = map64_get(&tree->used, (uint64_t)pid);
	uint32_t times = before ? *before + 1 : 1;
	int rc;

	output_init(raw);
	rc = file_server_open(file_server, FILE_ROLE_TRACE, pid, times, trace, err);
	if (rc == 0 && tree->options.raw)
		rc = file_server_open(file_server, FILE_ROLE_RAW, pid, times, raw, err);
	if (rc == 0 && map64_set(&tree->used, (uint64_t)pid, times))
		rc = error_set(err, ENOMEM, "out of memory");
	if (rc) {
		output_discard(trace);
		output_discard(raw);
		output_init(trace);
		output_init(raw);
	}
	return rc;
}

int process_tree_open_first(struct process_tree *tree, pid_t pid, struct error *err)
{
	tree->first = pid;
	return process_tree_open_files(tree, pid, &tree->trace, &tree->raw, err);
}

/* The first process's files are already open. */
static int take_files(struct traced_process *process, struct error *err)
{
	struct process_tree *tree = process->tree;
	int rc = 0;

	if (tree->first == process->pid) {
		tree->first = 0;
		process->trace = tree->trace;
		process->raw = tree->raw;
		output_init(&tree->trace);
		output_init(&tree->raw);
	} else {
		rc = process_tree_open_files(tree, process->pid, &process->trace, &process->raw, err);
	}
	if (rc == 0)
		rc = output_publish(&process->trace, err);
	if (rc == 0 && tree->options.raw)
		rc = output_publish(&process->raw, err);
	return rc;
}

/* --- a process's log --- */

static void count_progress(struct traced_process *process)
{
	struct progress now = pipeline_progress(process->pipe);
	struct process_tree *tree = process->tree;

	tree->written += now.written - process->counted.written;
	tree->expected += now.expected - process->counted.expected;
	process->counted = now;
}

/* Updates the process's name, which changes when it executes a program. */
static void traced_process_note_name(struct traced_process *process, const struct raw_text *text)
{
	size_t len = text->len < sizeof(process->comm) ? text->len : sizeof(process->comm) - 1;

	if (text->record.site != SITE_COMM || text->record.tid != (uint32_t)process->pid)
		return;
	len = text_whole(text->text, len);
	memcpy(process->comm, text->text, len);
	process->comm[len] = '\0';
}

/* Updates the path of the program. Keeps the known path if the process has ended. */
static void note_exe(struct traced_process *process)
{
	char link[64], path[sizeof(process->exe)];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)process->pid);
	n = window_readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return;
	memcpy(process->exe, path, (size_t)n);
	process->exe[n] = '\0';
}

static void note_records(struct traced_process *process, const struct log_record *record)
{
	const struct raw_record *records = record->data;

	for (size_t i = 0; i < record->size / sizeof(*records); i++) {
		if (records[i].site == SITE_EXEC)
			note_exe(process);
	}
}

/* Receives the log after names have been added. */
static int put_named(void *ctx, const struct log_record *record)
{
	struct traced_process *process = ctx;
	int rc = pipeline_put(process->pipe, record);

	count_progress(process);
	return rc;
}

static int put_process(void *stream, const struct log_record *record)
{
	struct traced_process *process = stream;

	if (record->type == LOG_TEXT)
		traced_process_note_name(process, record->data);
	if (record->type == LOG_RECORDS)
		note_records(process, record);
	return shared_names_put(process->names, record);
}

/* --- start and end of processes --- */

static void traced_process_free(struct traced_process *process)
{
	struct process_tree *tree = process->tree;

	if (!tree->error.text[0] && process->pipe)
		tree->error = *pipeline_trace_error(process->pipe);
	shared_names_free(process->names);
	pipeline_free(process->pipe);
	free(process);
}

static int traced_process_open(struct traced_process *process, const struct traced_process *parent,
			       struct error *err)
{
	struct pipeline_options wanted = {
		.trace = &process->trace,
		.trace_options = process->tree->options.trace_options,
	};
	int rc = take_files(process, err);

	if (rc)
		return rc;
	if (process->tree->options.raw)
		wanted.raw = &process->raw;
	process->pipe = pipeline_new(&wanted);
	process->names = shared_names_new(process->pid, put_named, process, parent ? parent->names : NULL,
					  &process->tree->limits);
	return process->pipe && process->names ? 0 : error_set(err, ENOMEM, "out of memory");
}

static void traced_process_describe(struct traced_process *process, struct log_target *target,
				    const struct traced_process *parent)
{
	if (parent)
		memcpy(process->exe, parent->exe, sizeof(process->exe));
	if (target->exe[0])
		memcpy(process->exe, target->exe, sizeof(process->exe));
	else
		note_exe(process);
	if (!target->comm[0] && parent)
		memcpy(target->comm, parent->comm, sizeof(target->comm));
	memcpy(process->comm, target->comm, sizeof(process->comm));
	memcpy(target->exe, process->exe, sizeof(target->exe));
}

static bool may_begin(struct process_tree *tree)
{
	if (tree->ntraces < MAX_TRACES) {
		tree->ntraces++;
		return true;
	}
	if (!tree->full)
		message("limit of %d traces per run reached: later processes are not traced", MAX_TRACES);
	tree->full = true;
	return false;
}

/* A process whose files cannot be opened counts as left out. The first error is kept. */
static void *begin_process(void *ctx, struct log_target *target, void *parent)
{
	struct process_tree *tree = ctx;
	struct traced_process *process = may_begin(tree) ? calloc(1, sizeof(*process)) : NULL;
	struct error err = {""};

	if (!process)
		return NULL;
	process->tree = tree;
	process->pid = (pid_t)target->pid;
	output_init(&process->trace);
	output_init(&process->raw);
	traced_process_describe(process, target, parent);
	if (traced_process_open(process, parent, &err) == 0)
		return process;
	output_discard(&process->trace);
	output_discard(&process->raw);
	if (!tree->error.text[0])
		tree->error = err;
	traced_process_free(process);
	return NULL;
}

static void end_process(void *stream)
{
	struct traced_process *process = stream;
	struct process_tree *tree = process->tree;
	struct ended_process ended = {.pipe = process->pipe,
				      .trace = &process->trace,
				      .raw = tree->options.raw ? &process->raw : NULL,
				      .comm = process->comm,
				      .exe = process->exe,
				      .json = tree->options.json};

	pipeline_finish(process->pipe);
	count_progress(process);
	process_rows_add(&tree->rows, &ended);
	traced_process_free(process);
}

/* --- the whole tree --- */

struct process_tree *process_tree_new(const struct process_tree_options *options)
{
	struct process_tree *tree = calloc(1, sizeof(*tree));
	struct demux_options wanted = {
		.begin = begin_process, .put = put_process, .end = end_process, .ctx = tree};

	if (!tree)
		return NULL;
	tree->options = *options;
	names_limits_init(&tree->limits);
	output_init(&tree->trace);
	output_init(&tree->raw);
	tree->demux = demux_new(&wanted);
	if (!tree->demux) {
		free(tree);
		return NULL;
	}
	return tree;
}

int process_tree_put(void *ctx, const struct log_record *record)
{
	struct process_tree *tree = ctx;

	return demux_put(tree->demux, record);
}

struct progress process_tree_progress(struct process_tree *tree)
{
	return (struct progress){.written = tree->written, .expected = tree->expected};
}

const struct error *process_tree_error(const struct process_tree *tree)
{
	return &tree->error;
}

void process_tree_finish(struct process_tree *tree)
{
	tree->rows.left_out = demux_left_out(tree->demux);
	demux_free(tree->demux);
	tree->demux = NULL;
}

int process_tree_report(struct process_tree *tree, const struct process_tree_report *report)
{
	return process_rows_report(&tree->rows, report, tree->options.json);
}

void process_tree_discard(struct process_tree *tree)
{
	output_discard(&tree->trace);
	output_discard(&tree->raw);
}
