/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The writer: a process without privileges that makes the trace (writer_work.h): names, model, encoder,
 * summary. This is the side that feeds it. It receives open files. For a flight recorder it runs the
 * recorder's pipeline (flight/recorder_pipeline.h) and writes snapshots (flight/snapshot_worker.h).
 */
#ifndef GOTRACE_WRITER_H
#define GOTRACE_WRITER_H

#include "flight/status_page.h"
#include "flight/flight.h"
#include "pipeline/output.h"
#include "pipeline/pipeline.h"
#include "report/style.h"
#include "sandbox/sandbox.h"
#include "writer/file_server.h"

struct writer_options {
	struct output *trace; /* not owned; open */
	struct output *raw;   /* not owned; open; NULL = no raw log is written */
	enum wire_format format;
	uint64_t max_bytes;  /* approximate size of the trace; 0 = no limit */
	uint64_t off_cpu_ns; /* as in model_options */
	bool locks, runtime_frames, json, quiet, exact;
	struct summary_style style;
	const char *layout; /* the source of the layout of a release that is not known; "" = it is known */
	pid_t first; /* first of several processes (--children); 0: there is only one. Instead of the two
		      * files: */
	struct file_server_options file_server; /* how files are named */
};

/* What the summary reports in addition to the log. */
struct exit_info {
	const char *command; /* started by gotrace, NULL = none */
	bool command_ended;
	int command_status;
	const char *cut; /* why tracing was aborted, NULL = it was not */
};

struct writer;

/*
 * Starts the process. Call it before there are other threads. flight: for a flight recorder, else NULL.
 * buffer: bytes of log that may be queued. Returns NULL on failure.
 */
struct writer *writer_new(const struct flight_plan *flight, size_t buffer, struct error *err);
/* Makes the broker open the target's files for it. */
int writer_attend(struct writer *writer, struct broker *broker, struct error *err);
/* Sets up the files. Call it before the first record. */
int writer_begin(struct writer *writer, const struct writer_options *options, struct error *err);
/*
 * The same for a flight recorder, which takes format, off_cpu_ns, locks and runtime_frames of the options.
 * worker: the snapshot worker's end of a socket; the caller keeps it.
 */
int writer_begin_recorder(struct writer *writer, const struct writer_options *options, int worker,
			  struct error *err);
/* The status page of its flight recorder. */
struct status_page *writer_status_page(struct writer *writer);
/*
 * A log_sink that also accepts SNAPSHOT_TAKE. Never waits. If the trace or raw log cannot be written, it
 * returns an error once, with some delay.
 */
int writer_put(void *writer, const struct log_record *record);
/* The other functions of a log_outlet. */
void writer_flush(void *writer);
double writer_fill(void *writer);
/* Sends the LOG_FUNCTAB. This and the following functions must be called by the thread that calls
 * writer_put(), unless noted. */
int writer_functab(struct writer *writer, const struct log_record *record);
/* Waits until the writer has processed everything sent so far. */
void writer_sync(struct writer *writer);
/* The first error as of the last sync; "" if there was none. */
const struct error *writer_error(const struct writer *writer);
/* Any thread may call this. */
struct progress writer_progress(const struct writer *writer);
/*
 * The number of forks of followed processes in the part of the log that has been processed. It comes from
 * another process and may be wrong.
 */
uint64_t writer_begun(const struct writer *writer);
/* As sandbox_is_stopped(). */
bool writer_is_stopped(const struct writer *writer);
/* True if it has ended unexpectedly; writer_error() says how. */
bool writer_has_exited(struct writer *writer);
/* Ends the log: completes the files. */
void writer_end(struct writer *writer);
/* Called if no trace begins: removes files that the writer has opened. */
void writer_discard(struct writer *writer);
/*
 * Prints the summary. Returns enum exit_status. Closes the files, and removes those that are not a trace.
 * They are complete up to the last generation even if the process has died.
 */
int writer_report(struct writer *writer, const struct exit_info *exit);
void writer_free(struct writer *writer);

#endif
