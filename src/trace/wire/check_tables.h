/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the checker: batches, and the tables of one generation as read from the file. */
#ifndef GOTRACE_TRACE_WIRE_CHECK_TABLES_H
#define GOTRACE_TRACE_WIRE_CHECK_TABLES_H

#include "util/map64.h"
#include "trace/wire/read.h"
#include "trace/wire/visit.h"

struct batch {
	const uint8_t *data;
	uint32_t size;
	uint32_t next;   /* next batch of the same thread; MAP64_NONE = last */
	uint64_t offset; /* of the batch header in the file */
	uint64_t gen, m, time;
	uint8_t experiment;
	bool end_of_generation;
};

enum batch_result { BATCH_OK, BATCH_EOF, BATCH_BAD };

/* Reads one batch at *pos and moves *pos past it. On BATCH_BAD, the fault is set. */
enum batch_result batch_read(const uint8_t *bytes, size_t n, size_t *pos, struct batch *batch,
			     struct fault *fault);

struct file_text {
	const uint8_t *bytes; /* in the file */
	uint32_t len;
};

/* The frame of a PC, from the first stack that contains the PC. */
struct pc_frame {
	uint64_t func, file, stack;
	uint64_t offset;
};

struct thread_batches {
	uint64_t m;
	uint32_t first, last; /* indices of batches */
};

/* Position of a stack's frames in the file. The frames were validated when they were read. */
struct stack_place {
	const uint8_t *frames, *end;
	uint32_t n;
};

struct clock {
	uint64_t dt, mono, sec, nsec, time; /* time: time of the snapshot's batch, in units */
};

struct chunk {
	uint64_t number;             /* 0 = no batch yet */
	uint64_t min_time, max_time; /* of its batches, tables included; units */
	uint64_t offset, end;        /* in the file */
	double freq;                 /* ns per unit; 0 = not seen */
	bool has_clock, has_heap;
	struct clock clock;
	uint64_t heap[4]; /* base address; bytes per page, object alignment, smallest stack */
	struct map64 strings, stacks, pcs, threads;
	struct file_text *texts;
	size_t ntexts, text_capacity;
	struct pc_frame *frames;
	size_t nframes, frame_capacity;
	struct batch *batches;
	size_t nbatches, batch_capacity;
	struct thread_batches *by_thread;
	size_t nthreads, thread_capacity;
	struct stack_place *places; /* indexed by the values of `stacks` */
	size_t nplaces, place_capacity;
	struct wire_sample *samples; /* times in units until chunk_check */
	size_t nsamples, sample_capacity;
	uint64_t events[256];
};

void chunk_reset(struct chunk *chunk);
void chunk_free(struct chunk *chunk);
/* Adds one batch. Returns 0, -ENOMEM, or -EBADMSG with the fault set. */
int chunk_add(struct chunk *chunk, const struct batch *batch, unsigned version, struct fault *fault);
/* Checks a complete generation; converts sample times to ns. Returns 0, or -EBADMSG with the fault set. */
int chunk_check(struct chunk *chunk, unsigned version, struct fault *fault);
bool chunk_has_string(const struct chunk *chunk, uint64_t id);
bool chunk_has_stack(const struct chunk *chunk, uint64_t id);
struct file_text chunk_text(const struct chunk *chunk, uint64_t id); /* empty if there is none */
int64_t chunk_ns(const struct chunk *chunk, uint64_t units);
/* The generation as visitors see it. Valid after chunk_check. */
struct wire_view chunk_view(const struct chunk *chunk, unsigned version);

#endif
