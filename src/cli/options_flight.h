/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The options of gotrace flight and gotrace snapshot. */
#ifndef GOTRACE_CLI_OPTIONS_FLIGHT_H
#define GOTRACE_CLI_OPTIONS_FLIGHT_H

#include "cli/find_process.h"
#include "cli/options.h"
#include "flight/flight.h"

struct flight_options {
	struct record_options record; /* pid, quiet, and the options of options_recording.h */
	struct process_filter
		filter; /* without a pid: successive processes that have all of it are recorded */
	bool node;      /* all processes that match at once, or all Go programs */
	const char *dir;
	struct flight_plan plan;
	uint64_t every_ns; /* minimum time between two files that triggers write */
	unsigned keep;     /* number of files; 0 = all */
};

struct snapshot_options {
	pid_t pid;        /* of the recorder; 0: all */
	bool all;         /* every recorder in this network namespace */
	uint64_t at_ns;   /* the end of what is wanted, since 1970; 0 = now */
	uint64_t last_ns; /* its length; 0 = everything until then */
};

/* As the functions of options.h. */
int options_flight(int argc, char **argv, struct flight_options *options, struct error *err);
int options_snapshot(int argc, char **argv, struct snapshot_options *options, struct error *err);

#endif
