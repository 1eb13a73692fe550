/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One event as gotrace dump prints it, whatever format it comes from. */
#ifndef GOTRACE_DUMP_LINE_H
#define GOTRACE_DUMP_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define LINE_NONE UINT64_MAX /* no thread, no P, no goroutine; as an argument -1 */

enum { LINE_MAX_FIELDS = 6 };

struct line_text {
	const char *bytes; /* any */
	size_t len;
};

/* An argument: a number, or a text. */
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
	uint64_t offset; /* in the file; of v2, of its batch */
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
/* One line of text, and one for each frame, or with json one object on one line. 0 or -EPIPE, -EIO. */
int line_write(const struct line *line, bool json, FILE *out);

#endif
