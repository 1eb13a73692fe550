/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The flat file of wire v1 and v0. Events are collected in one stream per P, and the tables they refer to in
 * a separate buffer. A flush writes the tables first, then each stream as one batch. Every flush ends at an
 * event boundary, and flushed data refers only to flushed data: a file cut there is valid.
 */
#ifndef GOTRACE_TRACE_WIRE_STREAM_V1_H
#define GOTRACE_TRACE_WIRE_STREAM_V1_H

#include "trace/wire/buffer.h"
#include "trace/wire/event_v1.h"
#include "trace/wire/varint.h"
#include "trace/wire/wire.h"

/* Events of one P, or of no P. */
struct stream_v1 {
	struct buffer data;              /* the open batch, without its header */
	uint64_t first_ticks, first_seq; /* of its first event */
	uint64_t ticks, seq;             /* of its last event */
};

struct file_v1 {
	enum wire_format format;
	struct byte_sink out;
	struct buffer tables; /* strings, stacks and other records to write before the batches */
	struct stream_v1 *streams;
	size_t nstreams; /* indexed by P + 1 */
	uint64_t ticks;  /* of the last event of any stream */
	uint64_t seq;    /* go 1.5: over all events */
	bool begun;      /* header and Frequency have been written */
	int failed;      /* sticky */
};

enum { V1_MAX_P = 1 << 16 }; /* far above GOMAXPROCS's limit of 1024 */

/* Returns the stream of p (up to V1_MAX_P, or NO_P); NULL when out of memory. Valid until the next call. */
struct stream_v1 *file_v1_stream(struct file_v1 *file, int32_t p);
/*
 * As ns: use the time of the stream's last event. Readers disagree on the times of events after a CPU sample
 * whose time differs from that of the previous event.
 */
#define V1_SAME_TIME UINT64_MAX

/*
 * Appends an event with n arguments, as many as the format defines. If ns is earlier than the last event, it
 * takes the time of that. Returns false and writes nothing on error or if the format does not have the event.
 */
bool file_v1_event(struct file_v1 *file, int32_t p, uint64_t ns, enum event_v1_type type,
		   const uint64_t *args, unsigned n);
/* The same with a message after the event (UserLog). */
bool file_v1_message(struct file_v1 *file, int32_t p, uint64_t ns, enum event_v1_type type,
		     const uint64_t *args, unsigned n, const char *text, size_t len);
/* Appends an untimed record with one value: Frequency, TimerGoroutine. */
void file_v1_record(struct file_v1 *file, enum event_v1_type type, uint64_t value);
/* Converts ns to the file's time unit. */
uint64_t file_v1_ticks(const struct file_v1 *file, uint64_t ns);
/* Writes everything collected so far. Returns file->failed. */
int file_v1_flush(struct file_v1 *file);
void file_v1_free(struct file_v1 *file);

#endif
