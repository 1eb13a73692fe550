/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Trace formats. Encoders turn generations of ops into bytes, independently of BPF and Go's memory. The
 * checker reads bytes by the rules of Go's strictest reader.
 */
#ifndef GOTRACE_TRACE_WIRE_WIRE_H
#define GOTRACE_TRACE_WIRE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/ops/op.h"
#include "code/symbol/symbol.h"
#include "util/error.h"

/* Numbers as in the header. */
enum wire_format {
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
 * Parses "1.26", "go1.26" or "go 1.26" (WIRE_GO126) and "v0" (WIRE_V0). A release without its own format
 * selects the format that it writes ("1.24" is WIRE_GO123). Returns WIRE_NONE if gotrace does not write it.
 */
enum wire_format wire_format_parse(const char *text);
/*
 * Returns the format that a Go release itself writes (1.24: WIRE_GO123); the newest for releases above 1.26.
 * Go 1.4 has no tracer: it gets WIRE_GO111, which all tools from Go 1.11 on can open. WIRE_NONE below 1.4.
 */
enum wire_format wire_format_of_release(unsigned go_minor);
/* Returns the name for users ("1.26", "v0"), or "?" if there is no such format. */
const char *wire_format_name(enum wire_format format);
/* Returns the file header without trailing zeros, or NULL if there is no such format. */
const char *wire_format_header(enum wire_format format);

/* write accepts all n bytes and returns 0, or returns a negative errno. */
struct byte_sink {
	int (*write)(void *ctx, const void *bytes, size_t n);
	void *ctx;
};

struct wire_options {
	enum wire_format format;
	struct byte_sink out;
	struct symbol *symbol; /* not owned */
	unsigned symbol_flags; /* enum symbol_flags */
	/* For goroutine entries (struct stack.entry); not owned, may be NULL. */
	const struct functab *functab;
};

struct wire;

/* Creates an encoder. Formats from go 1.22 on write the header now. Returns NULL and sets *err on error. */
struct wire *wire_new(const struct wire_options *options, struct error *err);
/* Encodes and writes one complete generation. Returns 0, or a negative errno and sets *err. */
int wire_generation(struct wire *wire, const struct generation *gen, struct error *err);
void wire_free(struct wire *wire);

/* --- reading --- */

struct wire_report {
	unsigned version;     /* enum wire_format, or the N of an unsupported go 1.N; 0 = not a trace */
	uint64_t generations; /* complete and valid; a v1 or v0 file counts as one, or none */
	/* The valid prefix: to the end of the last valid generation or, in v1 and v0, record. */
	uint64_t valid_bytes;
	uint64_t total_bytes;
	uint64_t events[256]; /* by wire event type, in valid generations */
	uint64_t first_ns, last_ns;
	uint64_t goroutines, procs, threads;
	uint64_t error_offset; /* of the batch of the first fault; in v1 and v0, of its record */
	struct error error;    /* "" if the file is valid */
};

/*
 * Checks a trace of any format in memory by all rules of Go's strictest reader of that format. Returns 0, or
 * -EBADMSG and sets report->error.
 */
int wire_check(const uint8_t *bytes, size_t n, struct wire_report *report);
enum { WIRE_HEADER_BYTES = 16 }; /* in formats from go 1.22 on */
/*
 * Finds the end of a generation in n bytes that may break off anywhere, in a format from go 1.26 on. *pos:
 * the beginning of a batch, WIRE_HEADER_BYTES at first; moved behind the batches that are whole. Returns the
 * offset behind the generation, or 0 if it is not whole yet.
 */
size_t wire_generation_end(const uint8_t *bytes, size_t n, size_t *pos);
const char *wire_event_name(unsigned type); /* v2 events */
/* Returns the name of an event type in report->events. */
const char *wire_report_event(const struct wire_report *report, unsigned type);

#endif
