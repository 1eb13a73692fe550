/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A flight recorder: the state that outlives the recorded process, and snapshot requests. */
#ifndef GOTRACE_CLI_RECORDER_H
#define GOTRACE_CLI_RECORDER_H

#include <limits.h>

#include "capture/capture.h"
#include "capture/cpu_limit.h"
#include "cli/options_flight.h"
#include "flight/host_eval.h"
#include "flight/snapshot_socket.h"
#include "flight/snapshot_files.h"
#include "flight/snapshot_store.h"
#include "workers/writer/writer.h"

/* Each trigger has its own, so that a noisy one takes nothing from the others. */
struct trigger_budget {
	uint64_t next_ns;    /* until then, it asks for no snapshot (--every) */
	unsigned unreported; /* matches since the last one printed */
};

struct recorder {
	const struct flight_options *options;
	char dir[PATH_MAX]; /* absolute */
	struct snapshot_store store;
	struct snapshot_socket server;
	bool wanted;     /* take a snapshot as soon as the previous one is written */
	bool writing;    /* a snapshot is being taken or written */
	uint64_t due_ns; /* when to take a trigger's snapshot; 0 = none is due */
	struct trigger_budget budgets[MAX_TRIGGERS];
	uint16_t causes;      /* triggers of the snapshot that is due, one bit each */
	unsigned first_cause; /* the first of them, from 1 */
	unsigned cause;       /* of the snapshot that is wanted: a trigger, from 1; 0 = it was requested */
	int last_error;       /* negative errno of the last write, reported once; 0 = it succeeded */
	uint64_t files, failures; /* snapshots that were written, and that failed */
	uint64_t to_attach;       /* capabilities for attaching to a successor; 0 = there will be none */
};

/* The recorder's state for one process. */
struct recording {
	struct snapshot_origin origin; /* of a snapshot that a trigger or a request writes */
	uint64_t began_ns;
	enum wire_format format; /* of the files */
	struct writer *writer;   /* not owned; has the recorder pipeline */
	struct snapshot_files *files;
	struct capture *capture;
	uint32_t notices_taken; /* from the status page */
	struct cpu_meter meter; /* for triggers on the process and its cgroup */
	struct host_eval host;
	uint64_t next_look_ns; /* when to read these figures again; 0 = never */
};

/* Opens the directory. Returns 0 or a negative errno. */
int recorder_open(struct recorder *recorder, const struct flight_options *options, struct error *err);
/* Listens for requests, under the PID of this process. */
void recorder_listen(struct recorder *recorder);
void recorder_close(struct recorder *recorder);

/* Begins to read the figures for triggers on the process and its cgroup, if there are any. */
void recorder_begin_host(const struct recorder *recorder, struct recording *recording);
void recorder_end_host(struct recording *recording);
/*
 * Call this every few hundredths of a second. Takes requests and trigger notices, reports written snapshots,
 * and takes a snapshot if one is due. Returns 0, or a negative errno if recording is over.
 */
int recorder_serve(struct recorder *recorder, struct recording *recording, struct error *err);
/*
 * Call this at the end of the log. Writes a snapshot if one is due or in_any_case is set, and waits for it.
 */
void recorder_settle(struct recorder *recorder, struct recording *recording, bool in_any_case);
/* Refuses requests while there is no process to record. */
void recorder_idle(struct recorder *recorder);

#endif
