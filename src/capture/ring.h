/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the room: the reading end of a BPF ring buffer. What was reserved
 * first comes first, and whole; a record that is still being written holds up
 * those behind it.
 */
#ifndef GOTRACE_CAPTURE_RING_H
#define GOTRACE_CAPTURE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

/* Positions count bytes from the ring's beginning on; they never go back. */
struct ring {
	uint64_t *consumer;       /* the kernel's: what lies before it may be overwritten */
	const uint64_t *producer; /* the kernel's: the end of what is reserved */
	const uint8_t *data;      /* mapped twice in a row, so that no record is cut */
	uint64_t mask;            /* size - 1 */
	uint64_t at;              /* taken up to here */
	uint64_t told;            /* what *consumer was set to last */
	uint64_t whole;           /* every record before it is written; behind `at` if it was asked for */
	size_t page;
};

struct ring_record {
	const void *data; /* 8-byte aligned; valid until the ring is told (ring_tell, ring_pass) */
	uint32_t size;    /* bytes */
	uint64_t next;    /* position behind it */
};

int ring_map(struct ring *ring, int fd, uint32_t bytes, struct error *err);
void ring_unmap(struct ring *ring);
/* The end of what has been reserved until now. */
uint64_t ring_end(const struct ring *ring);
/* Looks whether all before `end` has been written; moves ring->whole as far as it has. */
bool ring_is_whole(struct ring *ring, uint64_t end);
/* The next record before `end`; false if there is none, or it is still being written. */
bool ring_peek(struct ring *ring, uint64_t end, struct ring_record *record);
/* Goes on behind it. Its room is given back some time later. */
void ring_pass(struct ring *ring, const struct ring_record *record);
/* Gives back the room of all that was passed. */
void ring_tell(struct ring *ring);

#endif
