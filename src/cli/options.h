/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The options of the commands. All values have been checked. */
#ifndef GOTRACE_CLI_OPTIONS_H
#define GOTRACE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "export/export.h"
#include "pipeline/pipeline.h"
#include "target/functions/functions.h"
#include "workers/summary/style.h"
#include "util/error.h"
#include "trace/wire/wire.h"

struct capture_stats;
struct node_slot;
struct record_parts;

enum record_as { AS_IT_IS, AS_C, AS_GO };

/* --detail: which parts of a Go program's switches of goroutines are probed. */
enum record_detail {
	DETAIL_AUTO,   /* as many as the limit on overhead allows */
	DETAIL_EXACT,  /* always all */
	DETAIL_LIGHT,  /* never starts: they are inferred */
	DETAIL_STARTS, /* only starts */
};

/* --os: what is recorded of the times when a Go program's threads have no CPU. */
struct os_detail {
	bool off;  /* nothing */
	bool cpus; /* also which CPUs threads run on, and interrupts */
};

struct record_options {
	pid_t pid;             /* 0: `command` is started */
	char **command;        /* ends with NULL; NULL: `pid` is traced */
	uint64_t duration_ns;  /* 0 = until the end */
	uint64_t max_bytes;    /* 0 = no limit */
	uint32_t ring_bytes;   /* 0 = default */
	unsigned rings;        /* 0 = one for every 8 CPUs */
	unsigned max_overhead; /* percent of the target's CPU time; 0 = default */
#define OVERHEAD_NONE UINT32_MAX
	size_t buffer_bytes; /* for records that wait to be encoded; 0 = default */
	double free_share;   /* max_overhead has no effect below this share of one CPU; 0 = default */
	unsigned sample_hz;  /* CPU samples per second of CPU time; 0 = none */
	enum record_detail detail;
	bool kernel_stacks; /* of waiting threads */
	struct os_detail os;
	bool alloc;         /* record heap spans and goroutine stacks */
	const char *output; /* NULL = default name */
	const char *raw;    /* NULL = none */
	struct trace_options trace_options;
	bool syscalls, labels, json, quiet, version;
	struct summary_style style;
	enum record_as as;
	bool children;                                 /* also trace descendants; all as threads */
	struct function_want functions[MAX_FUNCTIONS]; /* --region, --task */
	unsigned nfunctions;
	bool try_functions;   /* not an option: omit functions that the program does not have */
	const char *requests; /* kinds: "http,sql", "auto"; NULL = none */
	bool requests_if_any; /* nobody asked for them by name: the program may have none */
	bool request_values;  /* also read values that may be secret */
	const char *btf;      /* file with the kernel's types; NULL = the kernel's own */
	const char *layout;   /* table for an unknown Go release; NULL = none */
	bool probe_only;      /* attach empty programs and write no trace, for benchmarks */
	/*
	 * Not options. parts: if not NULL, receives the traces. trace_fd: an open file for the trace, whose
	 * ownership passes; 0 = none. With either, no summary is printed.
	 */
	const struct record_parts *parts;
	int trace_fd;
	const struct node_slot *node; /* not an option: of a recorder of a node; NULL = none */
	unsigned generation_ms;       /* not an option: length of a generation; 0 = default */
	/* Not an option: called every 250 ms and at the end with what is known so far; NULL = not. */
	void (*meter)(void *ctx, const struct capture_stats *stats);
	void *meter_ctx;
};

struct replay_options {
	const char *input, *output;
	struct trace_options trace_options;
	bool json, quiet;
	struct summary_style style;
};

struct check_options {
	const char *input;
	bool json, repair;
};

enum { MAX_INPUTS = 4096 };

struct convert_options {
	const char *input, *output;     /* input is the first of inputs */
	const char *inputs[MAX_INPUTS]; /* several only with EXPORT_PERFETTO and EXPORT_PARQUET */
	size_t ninputs;
	const char *binary; /* program with the names of addresses; NULL = none */
	enum wire_format format;
	enum export_format export; /* not EXPORT_NONE: used in place of `format` */
	enum profile_kind profile;
	/* with EXPORT_PARQUET, when output is a directory: */
	bool raw;
	const char *attributes[RESOURCE_ATTRIBUTES]; /* export/lake.h; NULL = unknown */
	bool quiet;
};

struct flame_options {
	const char *input, *output;
	const char *binary; /* as above */
};

enum viewer { VIEWER_ANY, VIEWER_GO, VIEWER_PERFETTO };

struct view_options {
	const char *input;
	uint64_t finding; /* its number in the report, from 1; 0 = the whole trace */
	enum viewer viewer;
};

enum { MAX_CUT_GOROUTINES = 1024 };

struct moment {
	uint64_t ns;
	bool is_wall; /* ns since 1970; else since the start of the trace */
};

struct cut_command_options {
	const char *input, *output;
	struct moment from, to;
	uint64_t last_ns; /* before the end of the trace */
	bool has_to, has_last;
	uint64_t goids[MAX_CUT_GOROUTINES];
	size_t ngoids;
	uint64_t task;                   /* 0 = none */
	uint64_t max_bytes, split_bytes; /* 0 = none */
	uint64_t max_files, max_total;   /* of --split; 0 = as --help says */
	bool anonymize, quiet;
};

enum sql_output { SQL_TABLE, SQL_CSV, SQL_JSON };

struct sql_options {
	const char *input, *query;
	const char *binary; /* as above */
	enum sql_output output;
};

struct dump_options {
	const char *input;
	bool json, stacks, absolute;
};

struct doctor_options {
	pid_t pid;                /* 0: check only the machine */
	const char *btf, *layout; /* as in record_options */
	bool json;
};

struct sites_options {
	pid_t pid;
	const char *layout;                            /* as in record_options */
	struct function_want functions[MAX_FUNCTIONS]; /* --function: print the probes of these */
	unsigned nfunctions;
	const char *list; /* --list: print the functions that begin so; NULL = no */
};

struct layout_options {
	const char *go; /* root of a toolchain, or a program */
};

struct ps_options {
	pid_t pid;
	uint64_t between_ns;  /* between the two listings; 0: make only one */
	uint32_t most;        /* number of goroutines to read */
	const char *layout;   /* as in record_options */
	bool by_labels;       /* also group by the whole set of labels */
	const char *by_label; /* group by this label's value first; NULL = none */
	bool all, json;
};

/*
 * Each parses the command line of a command. Returns 0; OPTIONS_HELPED after --help, which it has printed; or
 * -EINVAL and sets *err, whose text is empty if argp has printed the message (an unknown option). With --help
 * or `version`, the options have not been checked against each other.
 */
enum { OPTIONS_HELPED = 1 };

int options_record(int argc, char **argv, struct record_options *options, struct error *err);
int options_replay(int argc, char **argv, struct replay_options *options, struct error *err);
int options_check(int argc, char **argv, struct check_options *options, struct error *err);
int options_convert(int argc, char **argv, struct convert_options *options, struct error *err);
int options_flame(int argc, char **argv, struct flame_options *options, struct error *err);
int options_view(int argc, char **argv, struct view_options *options, struct error *err);
int options_cut(int argc, char **argv, struct cut_command_options *options, struct error *err);
int options_sql(int argc, char **argv, struct sql_options *options, struct error *err);
int options_dump(int argc, char **argv, struct dump_options *options, struct error *err);
int options_doctor(int argc, char **argv, struct doctor_options *options, struct error *err);
int options_sites(int argc, char **argv, struct sites_options *options, struct error *err);
int options_layout(int argc, char **argv, struct layout_options *options, struct error *err);
int options_ps(int argc, char **argv, struct ps_options *options, struct error *err);

/*
 * Ends a command whose options_...() returned rc, which is not 0. Returns STATUS_WHOLE after --help;
 * otherwise prints err and a hint on standard error, and returns STATUS_USAGE.
 */
int options_end(int rc, const char *command, const struct error *err);

#endif
