/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The writer: an unprivileged process that produces the trace (writer_work.h): names, model, encoder,
 * summary. It receives open files. For a flight recorder, it runs the recorder's pipeline
 * (flight/recorder_pipeline.h) and writes snapshots (flight/snapshot_worker.h). This is the interface for the
 * process that feeds it.
 */
#ifndef GOTRACE_WORKERS_WRITER_WRITER_H
#define GOTRACE_WORKERS_WRITER_WRITER_H

#include "flight/status_page.h"
#include "flight/flight.h"
#include "pipeline/output.h"
#include "pipeline/pipeline.h"
#include "workers/summary/style.h"
#include "sandbox/sandbox.h"
#include "workers/writer/file_server.h"

struct writer_options {
	struct output *trace; /* not owned; open */
	struct output *raw;   /* not owned; open; NULL = no raw log is written */
	struct trace_options trace_options;
	uint64_t max_bytes; /* approximate size of the trace; 0 = no limit */
	bool json, quiet, exact;
	struct summary_style style;
	const char *layout; /* where the layout of an unknown release comes from; "" = the release is known */
	/* First of several processes (--children): trace and raw are then unused. 0 = one process. */
	pid_t first;
	struct file_server_options file_server; /* with `first`: the names of files */
};

/* Information for the summary that is not in the log. */
struct exit_info {
	const char *command; /* started by gotrace, NULL = none */
	bool command_ended;
	int command_status;
	const char *cut; /* why tracing was aborted, NULL = it was not */
};

struct writer;

/*
 * Starts the process. Call it before any thread is created. flight: NULL unless this is a flight recorder.
 * buffer: size of the log queue in bytes. On error, returns NULL and sets *err.
 */
struct writer *writer_new(const struct flight_plan *flight, size_t buffer, struct error *err);
/* Makes the broker open the target's files for the writer. Returns 0, or a negative errno and sets *err. */
int writer_attend(struct writer *writer, struct broker *broker, struct error *err);
/* Sets up the files. Call it before the first record. Returns 0, or a negative errno and sets *err. */
int writer_begin(struct writer *writer, const struct writer_options *options, struct error *err);
/*
 * The same for a flight recorder, which uses only trace_options of the options. worker: the snapshot worker's
 * end of a socket; the caller keeps ownership.
 */
int writer_begin_recorder(struct writer *writer, const struct writer_options *options, int worker,
			  struct error *err);
/* Returns the status page of the flight recorder. */
struct status_page *writer_status_page(struct writer *writer);
/*
 * A log_sink that also accepts SNAPSHOT_TAKE. Never blocks. If the trace or raw log cannot be written,
 * returns an error once, possibly for a later record.
 */
int writer_put(void *writer, const struct log_record *record);
/* The other functions of a log_outlet. */
void writer_flush(void *writer);
double writer_fill(void *writer);
/*
 * Sends the LOG_FUNCTAB, or a LOG_PLUGIN_FUNCTAB. This and the following functions must be called by the
 * thread that calls writer_put(), unless noted.
 */
int writer_functab(struct writer *writer, const struct log_record *record);
/* Waits until the writer has processed everything sent so far. */
void writer_sync(struct writer *writer);
/* Returns the first error as of the last sync; "" if there was none. */
const struct error *writer_error(const struct writer *writer);
/* Any thread may call this. */
struct progress writer_progress(const struct writer *writer);
/*
 * Returns the number of forks of followed processes in the processed part of the log. It comes from another
 * process and is untrusted.
 */
uint64_t writer_begun(const struct writer *writer);
/* As sandbox_set_niceness(), until the recording has ended. */
void writer_set_niceness(const struct writer *writer, int niceness);
/* As sandbox_is_stopped(). */
bool writer_is_stopped(const struct writer *writer);
/* Returns true if the process has ended unexpectedly; see writer_error(). */
bool writer_has_exited(struct writer *writer);
/* Ends the log and completes the files. */
void writer_end(struct writer *writer);
/* Removes files that the writer has opened. Call it if no trace begins. */
void writer_discard(struct writer *writer);
/*
 * Prints the summary. Closes the files, and removes those that are not a trace. They are complete up to the
 * last generation even if the process has died. Returns enum exit_status.
 */
int writer_report(struct writer *writer, const struct exit_info *exit);
void writer_free(struct writer *writer);

#endif
