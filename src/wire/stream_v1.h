/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The flat file of wire v1 and v0: events gather in one stream a P, the tables
 * that they refer to beside them; a flush writes the tables first, then each
 * stream as one batch. All flushes end at the end of an event, and what was
 * flushed refers to nothing that was not: a file cut there is whole.
 */
#ifndef GOTRACE_STREAM_V1_H
#define GOTRACE_STREAM_V1_H

#include "wire/buffer.h"
#include "wire/event_v1.h"
#include "wire/varint.h"
#include "wire/wire.h"

/* The events of one P, or of none. */
struct stream_v1 {
	struct buffer data;              /* the open batch, without its head */
	uint64_t first_ticks, first_seq; /* of its first event */
	uint64_t ticks, seq;             /* of its last event */
};

struct file_v1 {
	enum wire_format format;
	struct byte_sink out;
	struct buffer tables; /* strings, stacks and other records to be written before the batches */
	struct stream_v1 *streams;
	size_t nstreams; /* by P + 1 */
	uint64_t ticks;  /* of the last event of all */
	uint64_t seq;    /* go 1.5: of all events */
	uint64_t bytes;  /* written */
	bool begun;      /* header and Frequency are there */
	int failed;      /* sticky */
};

enum { V1_MAX_P = 1 << 16 }; /* far above GOMAXPROCS's limit of 1024 */

/* The stream of a P (0 ... V1_MAX_P) or NO_P; NULL when out of memory. Valid until the next call. */
struct stream_v1 *file_v1_stream(struct file_v1 *file, int32_t p);
/* For ns: the time of the stream's last event. Readers disagree on the time of what follows a CPU sample that
 * has another. */
#define V1_SAME_TIME UINT64_MAX

/*
 * Appends an event with n arguments, as many as the format has of it. A format without that event leaves it
 * out: returns false. ns is moved up if it is before the last event's.
 */
bool file_v1_event(struct file_v1 *file, int32_t p, uint64_t ns, enum event_v1_type type,
		   const uint64_t *args, unsigned n);
/* The same with a message behind it (UserLog). */
bool file_v1_message(struct file_v1 *file, int32_t p, uint64_t ns, enum event_v1_type type,
		     const uint64_t *args, unsigned n, const char *text, size_t len);
/* A record that is not timed, with one value: Frequency, TimerGoroutine. */
void file_v1_record(struct file_v1 *file, enum event_v1_type type, uint64_t value);
/* A moment in the unit of the file's times. */
uint64_t file_v1_ticks(const struct file_v1 *file, uint64_t ns);
/* Writes all that was gathered. Returns file->failed. */
int file_v1_flush(struct file_v1 *file);
void file_v1_free(struct file_v1 *file);

#endif
