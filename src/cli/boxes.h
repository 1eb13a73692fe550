/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The two processes without privileges that belong to one run of tracing, and what opens files for them: the
 * plain trace and the flight recorder alike.
 */
#ifndef GOTRACE_CLI_BOXES_H
#define GOTRACE_CLI_BOXES_H

#include <stdbool.h>

#include "capture/capture.h"
#include "sandbox/broker.h"
#include "sandbox/sandbox.h"
#include "writer/writer.h"

struct boxes {
	struct broker *broker;
	struct sandbox looker; /* reads the target's files and memory */
	struct writer *writer; /* makes the trace */
	bool relay_reduced;    /* the thread that feeds the writer has given up its capabilities */
};

/*
 * Starts both: before there is any other thread. pid: may be looked at; 0 = none yet. flight: as for
 * writer_new. After a failure, too, boxes_close is due.
 */
int boxes_open(struct boxes *boxes, pid_t pid, const struct flight_plan *flight, struct error *err);
void boxes_close(struct boxes *boxes);
/* How capture is to read files with native code. Not for longer than boxes. */
struct module_reader boxes_reader(struct boxes *boxes);
/* A log_sink for a relay: its thread needs no privilege from then on. */
int boxes_put(void *boxes, const struct log_record *record);
/* Gives the writer the function table, without which the trace has addresses; that is told. */
void boxes_functab(struct boxes *boxes, struct target *target);
/* Everything is attached: the broker keeps only what is needed from here on, which is returned in *needed. */
int boxes_reduce(struct boxes *boxes, struct capture *capture, uint64_t *needed, struct error *err);
/* One of them has ended unasked; err says how if it was the looker, writer_error if it was the writer. */
bool boxes_have_gone(struct boxes *boxes, struct error *err);

#endif
