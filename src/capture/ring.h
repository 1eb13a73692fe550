/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: the consumer side of a BPF ring buffer. Records arrive complete and in the order of
 * their reservation: a record that is still being written holds up those behind it.
 */
#ifndef GOTRACE_CAPTURE_RING_H
#define GOTRACE_CAPTURE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

/* Positions count bytes since the ring was created. They never decrease. */
struct ring {
	uint64_t *consumer;       /* shared with the kernel: data before it may be overwritten */
	const uint64_t *producer; /* shared with the kernel: the end of the reserved data */
	const uint8_t *data;      /* mapped twice in a row, so that every record is contiguous */
	uint64_t mask;            /* size - 1 */
	uint64_t at;              /* consumed up to here */
	uint64_t committed;       /* last value stored to *consumer */
	/* Every record before this position is complete. May lag `at` until ring_is_complete() is called. */
	uint64_t complete;
	size_t page;
};

struct ring_record {
	const void *data; /* 8-byte aligned; valid until the next ring_commit() or ring_pass() */
	uint32_t size;    /* bytes */
	uint64_t next;    /* position after it */
};

int ring_map(struct ring *ring, int fd, uint32_t bytes, struct error *err);
void ring_unmap(struct ring *ring);
/* Returns the end of the data reserved so far. */
uint64_t ring_end(const struct ring *ring);
/* Returns the share of the ring that is not consumed: 0 to 1. */
double ring_fill(const struct ring *ring);
/* Returns whether all records before `end` are complete. Advances ring->complete as far as they are. */
bool ring_is_complete(struct ring *ring, uint64_t end);
/* Gets the next record before `end`. Returns false if there is none, or it is still being written. */
bool ring_peek(struct ring *ring, uint64_t end, struct ring_record *record);
/* Consumes the record. Its space is returned some time later. */
void ring_pass(struct ring *ring, const struct ring_record *record);
/* Returns the space of all consumed records. */
void ring_commit(struct ring *ring);

#endif
