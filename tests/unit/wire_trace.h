/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* For tests: traces made of ops by hand, checked by op_rules, encoded in each format. */
#ifndef GOTRACE_WIRE_TRACE_H
#define GOTRACE_WIRE_TRACE_H

#include "trace/ops/op.h"
#include "trace/wire/wire.h"

struct wire_trace;

struct bytes {
	uint8_t *data;
	size_t len, capacity;
};

struct wire_trace *wire_trace_new(void);
void wire_trace_free(struct wire_trace *trace);
uint32_t wire_trace_string(struct wire_trace *trace, const char *text);
/* Adds a stack of these function names, leaf first. The list ends with NULL. */
uint32_t wire_trace_stack(struct wire_trace *trace, ...);
/* Adds a stack of these frames. The caller owns them, and may change them until the trace is encoded. */
uint32_t wire_trace_frames(struct wire_trace *trace, const struct frame *frames, uint32_t n);
/* Adds a goroutine with this id. Returns its index. */
uint32_t wire_trace_goroutine(struct wire_trace *trace, uint64_t goid);
/*
 * Appends a generation. Statuses at its beginning get its start time, each later op the next time, unless it
 * has one.
 */
void wire_trace_generation(struct wire_trace *trace, const struct op *ops, size_t n);
/* Advances the clock before the next generation. */
void wire_trace_skip(struct wire_trace *trace, uint64_t ns);
/* Extends the last generation by ns nanoseconds in which nothing happens. */
void wire_trace_idle(struct wire_trace *trace, uint64_t ns);
/* Marks the last generation as the last of the trace. */
void wire_trace_last(struct wire_trace *trace);
/* Returns the size in bytes of the first n generations. */
size_t wire_trace_end(struct wire_trace *trace, enum wire_format format, unsigned n);
/* Encodes all generations, and asserts that the ops keep the rules. The caller frees the bytes. */
struct bytes wire_trace_encode(struct wire_trace *trace, enum wire_format format);
/* Encodes with options whose sink may fail after some bytes. Returns the encoder's result. */
int wire_trace_encode_to(struct wire_trace *trace, const struct wire_options *options, struct error *err);

/* A sink that collects bytes. */
int bytes_write(void *ctx, const void *bytes, size_t n);

#endif
