/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One event as gotrace dump prints it, for all trace formats. */
#ifndef GOTRACE_TRACE_DUMP_LINE_H
#define GOTRACE_TRACE_DUMP_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define LINE_NONE UINT64_MAX /* no thread, P or goroutine; an argument of -1 */

enum { LINE_MAX_FIELDS = 6 };

struct line_text {
	const char *bytes; /* any bytes */
	size_t len;
};

/* An argument: a number or a text. */
struct line_field {
	const char *name;
	uint64_t value;
	bool is_text;
	struct line_text text;
};

struct line_frame {
	struct line_text func, file;
	uint64_t line, pc;
};

struct line {
	int64_t time;    /* ns */
	uint64_t offset; /* in the file; in v2, that of the event's batch */
	const char *name;
	uint64_t m, p, g;
	struct line_field fields[LINE_MAX_FIELDS];
	unsigned nfields;
	uint64_t stack;                  /* 0 = none */
	const struct line_frame *frames; /* NULL = not wanted */
	size_t nframes;
};

void line_add_number(struct line *line, const char *name, uint64_t value);
void line_add_text(struct line *line, const char *name, const char *bytes, size_t len);
/* Prints a line of text and one per frame or, with json, an object on one line. Returns 0, -EPIPE or -EIO. */
int line_write(const struct line *line, bool json, FILE *out);

#endif
