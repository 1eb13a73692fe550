/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Prints the events of a trace file as lines, in the same form for all formats. */
#ifndef GOTRACE_TRACE_DUMP_DUMP_H
#define GOTRACE_TRACE_DUMP_DUMP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/dump/line.h"
#include "util/error.h"
#include "trace/wire/wire.h"

enum { DUMP_MAX_FRAMES = 1000 }; /* limit of the readers of v1 */

struct dump {
	FILE *out;
	bool json, stacks, absolute;
	struct line_frame frames[DUMP_MAX_FRAMES]; /* of the current line */
};

/*
 * Prints the events of a trace of n bytes, up to its first fault. Returns 0; -EBADMSG if there is a fault,
 * described in the report; -EPIPE if the reader has gone; or another negative errno, with report->error set.
 */
int dump_trace(struct dump *dump, const uint8_t *bytes, size_t n, struct wire_report *report);

/* v1 and v0 (dump_v1.c). */
int dump_v1(struct dump *dump, const uint8_t *bytes, size_t n, struct wire_report *report);
/* v2 (dump_v2.c). */
int dump_v2(struct dump *dump, const uint8_t *bytes, size_t n, struct wire_report *report);

#endif
