/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What came of each process's trace (--children), and what is told of them at the end. */
#ifndef GOTRACE_WRITER_FAMILY_REPORT_H
#define GOTRACE_WRITER_FAMILY_REPORT_H

#include <stdio.h>

#include "writer/family.h"

struct family_row {
	uint32_t pid;
	char comm[16];
	char *path; /* NULL: it has no trace */
	uint64_t threads, events, running_ns, bytes, hits;
	bool lossy, cut;
};

struct family_rows {
	struct family_row *rows;
	size_t n, capacity;
	uint64_t left_out;     /* processes without a trace: there were too many, or it failed */
	uint64_t hit_ns;       /* as in LOG_END */
	struct log_loss loss;  /* the most that one of them has */
	uint64_t lost_samples; /* the same */
	uint64_t first_ns, last_ns;
	char *json; /* the members' objects, one a line */
	size_t json_size;
	FILE *json_out;
	enum wire_format format;
	struct error failure; /* the first of a file */
	bool by_size;         /* --max-size ended it */
	bool oom;
};

struct ended {
	struct pipeline *pipe;      /* finished */
	struct output *trace, *raw; /* closed here; raw may be NULL */
	const char *comm, *exe;
	bool json;
};

void family_rows_add(struct family_rows *rows, struct ended *ended);
/* Returns enum exit_status. */
int family_rows_report(struct family_rows *rows, const struct family_report *report, bool json);
void family_rows_free(struct family_rows *rows);

#endif
