/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The trace is made by a process without privileges (writer_work.h): names, model, encoder, summary. Here is
 * the side that feeds it. It is given files that are open. Of a flight recorder it is the process that has
 * the tape (flight/tape.h) and writes snapshots (flight/scribe.h).
 */
#ifndef GOTRACE_WRITER_H
#define GOTRACE_WRITER_H

#include "flight/board.h"
#include "flight/flight.h"
#include "pipeline/output.h"
#include "pipeline/pipeline.h"
#include "sandbox/sandbox.h"
#include "writer/clerk.h"

struct writer_options {
	struct output *trace; /* not owned; open */
	struct output *raw;   /* the same; NULL = no raw log is kept */
	enum wire_format format;
	bool runtime_frames, json, quiet;
	pid_t first; /* of several processes (--children); 0: there is one. Then, instead of both files: */
	struct clerk_options clerk; /* how files are called */
};

/* What the summary tells beside what is in the log. */
struct writer_last_words {
	const char *command; /* that gotrace started, NULL = none */
	bool command_ended;
	int command_status;
	const char *cut; /* why tracing broke off, NULL = it did not */
};

struct writer;

/* Starts the process; before there are other threads. flight: of a flight recorder, else NULL. NULL: failed.
 */
struct writer *writer_new(const struct flight_plan *flight, struct error *err);
/* Files of the target are opened for it by the broker. */
int writer_attend(struct writer *writer, struct broker *broker, struct error *err);
/* Before the first record. */
int writer_begin(struct writer *writer, const struct writer_options *options, struct error *err);
/* The same of a flight recorder. scribe: the end of a socket that is for the scribe; the caller's. */
int writer_begin_tape(struct writer *writer, enum wire_format format, bool runtime_frames, int scribe,
		      struct error *err);
/* What its tape tells. */
struct board *writer_board(struct writer *writer);
/* A log_sink, which takes TAPE_TAKE, too. When trace or raw log cannot be written, this is returned once, a
 * little later. */
int writer_put(void *writer, const struct log_record *record);
/* The LOG_FUNCTAB. As all that follows: when nobody calls writer_put. */
int writer_functab(struct writer *writer, const struct log_record *record);
/* Waits until it has done all that it was given. */
void writer_sync(struct writer *writer);
/* What has failed, as of the last sync; "" if nothing did. */
const struct error *writer_error(const struct writer *writer);
/* May be asked for from another thread. */
struct progress writer_progress(const struct writer *writer);
/* True if it has ended unasked; writer_error says how. */
bool writer_has_gone(struct writer *writer);
/* There is no more: completes the files. */
void writer_end(struct writer *writer);
/* Nothing has come of it: removes files that are not the caller's. */
void writer_discard(struct writer *writer);
/*
 * Tells the user. Returns enum exit_status. The files are closed, removed if they are
 * no trace, and whole up to the last generation even if the process did not live to see it.
 */
int writer_report(struct writer *writer, const struct writer_last_words *words);
void writer_free(struct writer *writer);

#endif
