/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A flight recorder: what outlives the process that is recorded, and the snapshots that are asked of it. */
#ifndef GOTRACE_CLI_RECORDER_H
#define GOTRACE_CLI_RECORDER_H

#include <limits.h>

#include "capture/capture.h"
#include "cli/options_flight.h"
#include "flight/snapshot_socket.h"
#include "flight/snapshot_files.h"
#include "flight/snapshot_store.h"
#include "writer/writer.h"

struct recorder {
	const struct flight_options *options;
	char dir[PATH_MAX]; /* from the root on */
	struct snapshot_store store;
	struct snapshot_socket server;
	bool wanted;              /* a snapshot, as soon as the one before is written */
	bool writing;             /* one is being taken or written */
	uint64_t due_ns;          /* when a trigger's is to be taken; 0 = none is due */
	uint64_t next_trigger_ns; /* before that triggers make no file */
	uint32_t reported;        /* triggers that have their line for the file to come, one bit each */
	unsigned unreported;      /* matches since the last that was printed */
	int last_error;           /* of writing: reported once; 0 = the last one went well */
	uint64_t files, failures; /* snapshots written, and not */
	uint64_t firings;
};

/* What it has of one process. */
struct recording {
	pid_t pid;
	enum wire_format format; /* of the files */
	struct writer *writer;   /* not owned; has the recorder pipeline */
	struct snapshot_files *files;
	struct capture *capture;
	uint32_t notices_taken; /* from the page */
};

/* Opens the directory, begins to listen. */
int recorder_open(struct recorder *recorder, const struct flight_options *options, struct error *err);
void recorder_close(struct recorder *recorder);

/*
 * To be called every few hundredths of a second: takes in who asks and what has
 * fired, reports what was written; takes a snapshot if one is due. 0 or a
 * negative errno: recording is over.
 */
int recorder_serve(struct recorder *recorder, struct recording *recording, struct error *err);
/*
 * The log is over: writes what was asked for, or what there is in any case; waits for
 * it.
 */
void recorder_settle(struct recorder *recorder, struct recording *recording, bool in_any_case);
/* Refuses those who ask while there is nothing to record. */
void recorder_idle(struct recorder *recorder);

#endif
