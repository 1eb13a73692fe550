/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How a process is recorded: the options that every command with a live target shares, once. They are
 * children of the commands' own parsers (struct argp_child), which give each of them a struct recording_parse
 * as input.
 */
#ifndef GOTRACE_CLI_OPTIONS_RECORDING_H
#define GOTRACE_CLI_OPTIONS_RECORDING_H

#include <argp.h>

#include "cli/options.h"

struct recording_parse {
	struct record_options *options;
	struct error *err;
	int given; /* the key of the first of these options that was given; 0 = none */
};

/* For a trace: gotrace, gotrace flight. */
extern const struct argp recording_common;    /* what all commands have */
extern const struct argp recording_functions; /* --region, --task */
extern const struct argp recording_in_file;   /* what reports do not show, or record in any case */
extern const struct argp recording_limits;    /* --max-overhead, --exact, --cpu-samples */
extern const struct argp recording_flight;    /* the same with the defaults of a flight recorder */
/* All at once, below a header, for reports on a live process (report, top), and for `why`. */
extern const struct argp recording_live;
extern const struct argp recording_why;

#define RECORDING_HEADER "How the process of -p is recorded:"

/* What is recorded without any option. */
struct record_options recording_defaults(void);
/* The same for reports, which name locks. */
struct record_options recording_live_defaults(void);
/* Whether the options fit together. 0 or -EINVAL. */
int recording_check(const struct record_options *options, struct error *err);
/* Refuses these options where nothing is recorded. 0 or -EINVAL. */
int recording_refuse(const struct recording_parse *parse, struct error *err);

#endif
