/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Trace formats. Encoders turn generations of ops into bytes and know nothing of BPF or Go's memory. The
 * checker reads bytes by the rules of Go's strictest reader.
 */
#ifndef GOTRACE_WIRE_H
#define GOTRACE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sched/op.h"
#include "symbol/symbol.h"
#include "util/error.h"

enum wire_format { /* as in the header */
		   WIRE_NONE = 0,
		   WIRE_V0 = 4, /* header without a number: early 2015, after Go 1.4 */
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
 * Parses "1.26", "go1.26" or "go 1.26" (WIRE_GO126) and "v0" (WIRE_V0). A release without a format of its own
 * selects the format that it writes ("1.24" is WIRE_GO123). WIRE_NONE if gotrace does not write the format.
 */
enum wire_format wire_format_parse(const char *text);
/*
 * The format that a Go release writes itself (1.24: WIRE_GO123); the newest for releases above 26. Go 1.4 has
 * no tracer: it gets WIRE_GO111, which all tools from Go 1.11 on can open. WIRE_NONE below 4.
 */
enum wire_format wire_format_of_release(unsigned go_minor);
/* "1.26", "v0": the name for users; "?" if there is no such format. */
const char *wire_format_name(enum wire_format format);
/* The file header without trailing zeros; NULL if there is no such format. */
const char *wire_format_header(enum wire_format format);

/* Accepts all n bytes or returns a negative errno. */
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
		*functab; /* for goroutine entries (struct stack.entry); not owned, may be NULL */
};

struct wire;

/* Writes the header. */
struct wire *wire_new(const struct wire_options *options, struct error *err);
/* Encodes and writes one complete generation. */
int wire_generation(struct wire *wire, const struct generation *gen, struct error *err);
uint64_t wire_bytes(const struct wire *wire); /* written so far */
void wire_free(struct wire *wire);

/* --- reading --- */

struct wire_report {
	unsigned version;     /* enum wire_format, or the N of an unsupported go 1.N; 0 = not a trace */
	uint64_t generations; /* complete and valid; a v1 or v0 file counts as one, or none */
	uint64_t valid_bytes; /* the valid prefix: up to the last valid generation, in v1 the last valid
				 record */
	uint64_t total_bytes;
	uint64_t events[256]; /* by wire event type, in valid generations */
	uint64_t first_ns, last_ns;
	uint64_t goroutines, procs, threads;
	uint64_t error_offset; /* byte offset of the first fault's batch; in v1, of its record */
	struct error error;    /* "" if the file is valid */
};

/*
 * Checks a trace of any format in memory by all rules of Go's strictest reader of that format. Returns 0 if
 * it is valid, else -EBADMSG with report->error.
 */
int wire_check(const uint8_t *bytes, size_t n, struct wire_report *report);
const char *wire_event_name(unsigned type); /* v2 events */
/* The name of an event type counted in the report. */
const char *wire_report_event(const struct wire_report *report, unsigned type);

#endif
