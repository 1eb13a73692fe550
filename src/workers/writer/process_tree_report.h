/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The results of each process's trace (--children), and the final summary. */
#ifndef GOTRACE_WORKERS_WRITER_PROCESS_TREE_REPORT_H
#define GOTRACE_WORKERS_WRITER_PROCESS_TREE_REPORT_H

#include <stdio.h>

#include "workers/writer/process_tree.h"

struct process_row {
	uint32_t pid;
	char comm[16];
	char *path; /* NULL = no trace */
	uint64_t threads, events, repaired, running_ns, bytes, hits;
	bool lossy, cut;
};

struct process_rows {
	struct process_row *rows;
	size_t n, capacity;
	uint64_t left_out;     /* processes without a trace: too many, or an error */
	uint64_t hit_ns;       /* as in LOG_END */
	struct log_loss loss;  /* the largest loss of any process */
	uint64_t lost_samples; /* the same */
	uint64_t first_ns, last_ns;
	uint64_t unwatched_ns; /* the most of any process */
	char *json;            /* the processes' objects, one per line */
	size_t json_size;
	FILE *json_out;
	enum wire_format format;
	struct error failure; /* first error of a file */
	bool by_size;         /* --max-size ended the trace */
	bool oom;
};

struct ended_process {
	struct pipeline *pipe;      /* finished */
	struct output *trace, *raw; /* closed by process_rows_add(); raw may be NULL */
	const char *comm, *exe;
	bool json;
};

void process_rows_add(struct process_rows *rows, struct ended_process *ended);
/* Returns enum exit_status. */
int process_rows_report(struct process_rows *rows, const struct process_tree_report *report, bool json);

#endif
