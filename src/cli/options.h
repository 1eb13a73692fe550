/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The command lines of the commands, parsed and checked in full. */
#ifndef GOTRACE_CLI_OPTIONS_H
#define GOTRACE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "native/functions.h"
#include "util/error.h"
#include "wire/wire.h"

enum record_as { AS_IT_IS, AS_C, AS_GO };

struct record_options {
	pid_t pid;               /* 0: a command is started */
	char **command;          /* ends with NULL; NULL: a process is traced */
	uint64_t duration_ns;    /* 0 = until the end */
	uint64_t max_bytes;      /* 0 = no limit */
	uint32_t ring_bytes;     /* 0 = capture's default */
	unsigned rings;          /* 0 = as many as the machine needs */
	unsigned max_overhead;   /* percent of the target's CPU time; 0 = no limit */
	double free_share;       /* of one CPU: below that max_overhead does not count */
	unsigned sample_hz;      /* CPU samples a second of CPU time; 0 = none */
	bool exact, light;       /* starts of goroutines: always probed, never probed */
	bool alloc;              /* the heap's spans and goroutines' stacks too */
	bool spans;              /* nothing else of their switches is probed */
	const char *output;      /* NULL = the default name */
	const char *raw;         /* NULL = none */
	enum wire_format format; /* WIRE_NONE = the target's own */
	bool syscalls, runtime_frames, json, quiet, help, version;
	enum record_as as;
	bool children;                                 /* its descendants, too; all as threads */
	struct function_want functions[MAX_FUNCTIONS]; /* --region, --task */
	unsigned nfunctions;
	const char *btf; /* a file with the kernel's types; NULL = the kernel's own */
	bool probe_only; /* for measuring: empty programs, no trace */
};

struct replay_options {
	const char *input, *output;
	enum wire_format format;
	bool runtime_frames, json, quiet, help;
};

struct check_options {
	const char *input;
	bool json, repair, help;
};

struct convert_options {
	const char *input, *output;
	const char *binary; /* NULL = none: names of addresses are not looked for */
	enum wire_format format;
	bool quiet, help;
};

struct dump_options {
	const char *input;
	bool json, stacks, absolute, help;
};

struct doctor_options {
	pid_t pid;       /* 0 = the machine alone */
	const char *btf; /* as in record_options */
	bool json, help;
};

struct sites_options {
	pid_t pid;
	bool help;
};

/*
 * Each returns 0, or -EINVAL. err has the line to print, or is empty when one
 * was printed already (an option that is not known). With `help` or `version`
 * nothing else has been checked.
 */
int options_record(int argc, char **argv, struct record_options *options, struct error *err);
int options_replay(int argc, char **argv, struct replay_options *options, struct error *err);
int options_check(int argc, char **argv, struct check_options *options, struct error *err);
int options_convert(int argc, char **argv, struct convert_options *options, struct error *err);
int options_dump(int argc, char **argv, struct dump_options *options, struct error *err);
int options_doctor(int argc, char **argv, struct doctor_options *options, struct error *err);
int options_sites(int argc, char **argv, struct sites_options *options, struct error *err);

/* Prints the help of a command on standard output. */
void options_help_record(void);
void options_help_replay(void);
void options_help_check(void);
void options_help_convert(void);
void options_help_dump(void);
void options_help_doctor(void);
void options_help_sites(void);

/* Tells a usage error on standard error, with a hint. Returns STATUS_USAGE. */
int options_refuse(const char *command, const struct error *err);

#endif
