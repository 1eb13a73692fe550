/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Trace formats. Encoders turn generations of ops into bytes and know nothing
 * of BPF or Go's memory; the checker reads bytes as Go's strict reader does.
 */
#ifndef GOTRACE_WIRE_H
#define GOTRACE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/op.h"
#include "symbol/symbol.h"
#include "util/error.h"

enum wire_format { /* numbers are those in the header */
		   WIRE_NONE = 0,
		   WIRE_V0 = 4, /* its header has no number: early 2015, after Go 1.4 */
		   WIRE_GO15 = 5,
		   WIRE_GO17 = 7,
		   WIRE_GO18 = 8,
		   WIRE_GO19 = 9,
		   WIRE_GO110 = 10,
		   WIRE_GO111 = 11,
		   WIRE_GO119 = 19,
		   WIRE_GO121 = 21,
		   WIRE_GO122 = 22,
		   WIRE_GO123 = 23,
		   WIRE_GO125 = 25,
		   WIRE_GO126 = 26,
};

/*
 * "1.26", "go1.26", "go 1.26" -> WIRE_GO126; a release without a format of its own stands for the one that it
 * writes ("1.24" -> WIRE_GO123); "v0" -> WIRE_V0. WIRE_NONE if it is no format we write.
 */
enum wire_format wire_format_parse(const char *text);
/*
 * The format that a Go release writes itself (1.24 -> WIRE_GO123), the newest above 26. Go 1.4 has no tracer:
 * it gets WIRE_GO111, which every tool from Go 1.11 on opens. WIRE_NONE below 4.
 */
enum wire_format wire_format_of_release(unsigned go_minor);
/* "1.26", "v0": as people write it; "?" if there is none. */
const char *wire_format_name(enum wire_format format);
/* What the file begins with, without the zeros behind it; NULL if there is no such format. */
const char *wire_format_header(enum wire_format format);

/* Takes all n bytes or returns a negative errno. */
struct byte_sink {
	int (*write)(void *ctx, const void *bytes, size_t n);
	void *ctx;
};

struct wire_options {
	enum wire_format format;
	struct byte_sink out;
	struct symbol *symbol; /* not owned */
	unsigned symbol_flags; /* enum symbol_flags */
	const struct functab
		*functab; /* for the entries of goroutines (struct stack.entry); not owned, may be NULL */
};

struct wire;

/* Writes the header. */
struct wire *wire_new(const struct wire_options *options, struct error *err);
/* Encodes and writes one generation, whole. */
int wire_generation(struct wire *wire, const struct generation *gen, struct error *err);
uint64_t wire_bytes(const struct wire *wire); /* written so far */
void wire_free(struct wire *wire);

/* --- reading --- */

struct wire_report {
	unsigned version;     /* enum wire_format; other numbers of go 1.N that are refused; 0 = no trace */
	uint64_t generations; /* whole and valid; v1 and v0 files are one, or none */
	uint64_t valid_bytes; /* the file is good up to here: end of the last valid generation, or record of
				 v1 */
	uint64_t total_bytes;
	uint64_t events[256]; /* by wire event type, of valid generations */
	uint64_t first_ns, last_ns;
	uint64_t goroutines, procs, threads;
	uint64_t error_offset; /* byte offset of the first fault (of its batch; in v1 of its record) */
	struct error error;    /* "" if the file is valid */
};

/* Reads a trace of any format from memory with all the rules of Go's strictest reader of that format.
 * 0 if valid, else -EBADMSG with report->error. */
int wire_check(const uint8_t *bytes, size_t n, struct wire_report *report);
const char *wire_event_name(unsigned type); /* of v2 */
/* The name of an event counted in the report. */
const char *wire_report_event(const struct wire_report *report, unsigned type);

#endif
