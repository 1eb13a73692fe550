/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The command lines of the commands, parsed and checked in full. */
#ifndef GOTRACE_CLI_OPTIONS_H
#define GOTRACE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "export/export.h"
#include "native/functions.h"
#include "report/style.h"
#include "util/error.h"
#include "wire/wire.h"

struct record_parts;

enum record_as { AS_IT_IS, AS_C, AS_GO };

struct record_options {
	pid_t pid;               /* 0: a command is started */
	char **command;          /* ends with NULL; NULL: a process is traced */
	uint64_t duration_ns;    /* 0 = until the end */
	uint64_t max_bytes;      /* 0 = no limit */
	uint32_t ring_bytes;     /* 0 = capture's default */
	unsigned rings;          /* 0 = as many as the machine needs */
	unsigned max_overhead;   /* percent of the target's CPU time; 0 = the default, or: */
#define OVERHEAD_NONE UINT32_MAX /* no limit */
	size_t buffer_bytes;     /* of records that wait to be encoded; 0 = the default */
	double free_share;       /* of one CPU: below that max_overhead does not count */
	unsigned sample_hz;      /* CPU samples a second of CPU time; 0 = none */
	bool exact, light;       /* starts of goroutines: always probed, never probed */
	bool kernel_stacks;      /* of threads: where waits are in the kernel */
	bool off_cpu;            /* of a Go program: threads without a CPU */
	bool cpus;               /* and the CPUs that they run on */
	uint64_t off_cpu_ns;     /* model_options */
	bool locks;              /* the same */
	bool alloc;              /* the heap's spans and goroutines' stacks too */
	bool starts_only;        /* nothing else of their switches is probed */
	const char *output;      /* NULL = the default name */
	const char *raw;         /* NULL = none */
	enum wire_format format; /* WIRE_NONE = the target's own */
	bool syscalls, labels, runtime_frames, json, quiet, version;
	struct summary_style style;
	enum record_as as;
	bool children;                                 /* its descendants, too; all as threads */
	struct function_want functions[MAX_FUNCTIONS]; /* --region, --task */
	unsigned nfunctions;
	bool try_functions;   /* not an option: those that the program does not have are left out */
	const char *requests; /* kinds: "http,sql", "auto"; NULL = none */
	bool request_values;  /* what may be secret, too */
	const char *btf;      /* a file with the kernel's types; NULL = the kernel's own */
	const char *layout;   /* a table for a release that is not known; NULL = none */
	bool probe_only;      /* for measuring: empty programs, no trace */
	/* Not an option: the traces are handed on there, and a summary for people is not wanted. NULL: else.
	 */
	const struct record_parts *parts;
	int trace_fd; /* not an option: an open file for the trace, which is taken over; 0 = none */
};

struct replay_options {
	const char *input, *output;
	enum wire_format format;
	bool locks, runtime_frames, json, quiet;
	uint64_t off_cpu_ns; /* as in record_options */
	struct summary_style style;
};

struct check_options {
	const char *input;
	bool json, repair;
};

enum { MAX_INPUTS = 4096 };

struct convert_options {
	const char *input, *output;     /* input: the first one */
	const char *inputs[MAX_INPUTS]; /* several only for perfetto */
	size_t ninputs;
	const char *binary; /* NULL = none: names of addresses are not looked for */
	enum wire_format format;
	enum export_format export; /* a format of other tools instead; or EXPORT_NONE */
	enum profile_kind profile;
	bool quiet;
};

struct flame_options {
	const char *input, *output;
	const char *binary; /* as above */
};

enum { MAX_CUT_GOROUTINES = 1024 };

struct cut_command_options {
	const char *input, *output;
	uint64_t from_ns, to_ns, last_ns; /* from the trace's beginning; last_ns: before its end */
	bool has_to, has_last;
	uint64_t goids[MAX_CUT_GOROUTINES];
	size_t ngoids;
	uint64_t task;                   /* 0 = none */
	uint64_t max_bytes, split_bytes; /* 0 = none */
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
	pid_t pid;                /* 0 = the machine alone */
	const char *btf, *layout; /* as in record_options */
	bool json;
};

struct sites_options {
	pid_t pid;
	const char *layout;                            /* as in record_options */
	struct function_want functions[MAX_FUNCTIONS]; /* --region: print their probes instead */
	unsigned nfunctions;
};

struct layout_options {
	const char *go; /* a toolchain's root, or a program */
};

struct ps_options {
	pid_t pid;
	uint64_t between_ns;  /* from one listing to the next; 0 = only one listing */
	uint32_t most;        /* goroutines that are read */
	const char *layout;   /* as in record_options */
	bool by_labels;       /* group by whole sets of labels, too */
	const char *by_label; /* group by this label's value first; NULL = do not */
	bool all, json;
};

/*
 * Each parses the command line of a command. Returns 0, OPTIONS_HELPED if it printed the help and checked
 * nothing else, or -EINVAL with err; err is empty if argp has printed the message (an unknown option). With
 * `version`, nothing else has been checked.
 */
enum { OPTIONS_HELPED = 1 };

int options_record(int argc, char **argv, struct record_options *options, struct error *err);
int options_replay(int argc, char **argv, struct replay_options *options, struct error *err);
int options_check(int argc, char **argv, struct check_options *options, struct error *err);
int options_convert(int argc, char **argv, struct convert_options *options, struct error *err);
int options_flame(int argc, char **argv, struct flame_options *options, struct error *err);
int options_cut(int argc, char **argv, struct cut_command_options *options, struct error *err);
int options_sql(int argc, char **argv, struct sql_options *options, struct error *err);
int options_dump(int argc, char **argv, struct dump_options *options, struct error *err);
int options_doctor(int argc, char **argv, struct doctor_options *options, struct error *err);
int options_sites(int argc, char **argv, struct sites_options *options, struct error *err);
int options_layout(int argc, char **argv, struct layout_options *options, struct error *err);
int options_ps(int argc, char **argv, struct ps_options *options, struct error *err);

/*
 * What a command returns if its options_...() returned rc, not 0: STATUS_WHOLE behind the help, otherwise
 * STATUS_USAGE, after the message and a hint on standard error.
 */
int options_end(int rc, const char *command, const struct error *err);

#endif
