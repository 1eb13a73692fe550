/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The options of report, why, diff and top. */
#ifndef GOTRACE_CLI_OPTIONS_ANALYSIS_H
#define GOTRACE_CLI_OPTIONS_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/options.h"
#include "util/error.h"

struct report_options {
	const char *input;
	struct record_options record; /* pid: the process to trace in place of input; 0 = none */
	const char *html;             /* file to write; NULL = none */
	const char *by_label;         /* a key; NULL = none */
	const char *label;            /* "key=value"; NULL = none */
	size_t max_bytes;             /* of JSON; 0 = default */
	unsigned max_items;           /* per list in JSON; 0 = as many as fit */
	unsigned fail_on;             /* 1 + the least level that gives STATUS_FOUND; 0 = none does */
	bool json, all, quiet;
};

struct why_options {
	const char *input;
	struct record_options record; /* as above */
	const char *task, *region;    /* a name; NULL = none */
	const char *label;            /* "key=value"; NULL = none */
	uint64_t goroutine;           /* 0 = none */
	uint64_t at_ns;               /* since the start of the trace; UINT64_MAX = not given */
	unsigned slowest;             /* 1 = the slowest */
	bool json, quiet;
};

struct top_options {
	struct record_options record;
	uint64_t interval_ns; /* of a round */
};

struct diff_options {
	const char *before, *after;
	const char *label; /* "key=value"; NULL = none */
	bool json, all;
};

/* As the functions of options.h. */
int options_report(int argc, char **argv, struct report_options *options, struct error *err);
int options_why(int argc, char **argv, struct why_options *options, struct error *err);
int options_diff(int argc, char **argv, struct diff_options *options, struct error *err);
int options_top(int argc, char **argv, struct top_options *options, struct error *err);

#endif
