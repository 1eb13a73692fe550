/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The options that say how a process is recorded, shared by all commands with a live target. They are child
 * parsers (struct argp_child) of the commands' own, and their input is a struct recording_parse.
 */
#ifndef GOTRACE_CLI_OPTIONS_RECORDING_H
#define GOTRACE_CLI_OPTIONS_RECORDING_H

#include <argp.h>

#include "cli/options.h"

struct recording_parse {
	struct record_options *options;
	struct error *err;
	int given;  /* key of the first of these options that was given; 0 = none */
	bool timed; /* a duration was given */
};

/* For gotrace and gotrace flight. */
extern const struct argp recording_common;    /* for all commands */
extern const struct argp recording_functions; /* --region, --task */
extern const struct argp recording_in_file;   /* options without an effect on reports */
extern const struct argp recording_limits;    /* --max-overhead */
extern const struct argp recording_flight;    /* the same, with the default of a flight recorder */
/* All of them below a header: for report and top, and for why. */
extern const struct argp recording_live;
extern const struct argp recording_why;

#define RECORDING_HEADER "How the process of -p is recorded:"

/* Returns the defaults. */
struct record_options recording_defaults(void);
/* Returns the defaults of reports, which record locks. */
struct record_options recording_live_defaults(void);
/* Checks options against each other. Returns 0 or -EINVAL. */
int recording_check(const struct record_options *options, struct error *err);
/* Refuses these options if nothing is recorded. Returns 0 or -EINVAL. */
int recording_refuse(const struct recording_parse *parse, struct error *err);

#endif
