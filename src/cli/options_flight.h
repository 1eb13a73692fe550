/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The command lines of gotrace flight and gotrace snapshot. */
#ifndef GOTRACE_CLI_OPTIONS_FLIGHT_H
#define GOTRACE_CLI_OPTIONS_FLIGHT_H

#include "cli/options.h"
#include "flight/flight.h"

struct flight_options {
	struct record_options record; /* what options_recording.h parses, pid and quiet */
	/* Instead of a PID: processes of this name or cgroup are looked for, one after the other; else NULL.
	 */
	const char *comm, *cgroup;
	const char *dir;
	struct flight_plan plan;
	uint64_t every_ns; /* at least between two files by triggers */
	unsigned keep;     /* files; 0 = all */
};

struct snapshot_options {
	pid_t pid; /* of the recorder */
};

/* As those of options.h. */
int options_flight(int argc, char **argv, struct flight_options *options, struct error *err);
int options_snapshot(int argc, char **argv, struct snapshot_options *options, struct error *err);

#endif
