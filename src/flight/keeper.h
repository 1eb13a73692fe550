/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The last generations of a trace, encoded: as many as a window of time takes,
 * in no more than so many bytes. Each generation stands alone in the file, so
 * any stretch of them behind the file's header is a trace. What was taken for a
 * snapshot stays whatever is dropped meanwhile, and may be read and freed by another thread.
 */
#ifndef GOTRACE_FLIGHT_KEEPER_H
#define GOTRACE_FLIGHT_KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

struct keeper;

struct keeper_options {
	uint64_t window_ns; /* at least so much before the newest generation's start */
	size_t max_bytes;   /* of a snapshot, whatever the window is */
};

struct keeper_stats {
	size_t bytes;          /* that a snapshot would have now */
	size_t generations;    /* in it */
	uint64_t start_ns;     /* of the oldest of them; 0 if there is none */
	uint64_t newest_ns;    /* start of the newest */
	uint64_t closed;       /* generations seen, ever */
	uint64_t dropped_soon; /* of these: dropped while the window still wanted them */
	size_t too_large;      /* bytes of the newest, if it alone is over max_bytes; else 0 */
};

struct keeper *keeper_new(const struct keeper_options *options); /* NULL when out of memory */
void keeper_free(struct keeper *keeper);

/* A byte_sink: gathers what the encoder writes. 0 or -ENOMEM. */
int keeper_write(void *keeper, const void *bytes, size_t n);
/* What was gathered so far is the file's header: each snapshot begins with it. */
int keeper_header(struct keeper *keeper);
/* What was gathered since is one generation, with this start (ns). Drops what is over the limits. 0 or
 * -ENOMEM.
 */
int keeper_generation(struct keeper *keeper, uint64_t start_ns);
struct keeper_stats keeper_stats(const struct keeper *keeper);

/* A snapshot: nothing is copied. */
struct kept;

/* What there is now; NULL when there is no generation, or no memory. */
struct kept *keeper_take(const struct keeper *keeper);
size_t kept_bytes(const struct kept *kept);
/* Hands all of it on, in a few pieces. 0, or what the sink fails with. */
int kept_write(const struct kept *kept, const struct byte_sink *out);
/* Leaves the oldest out, until no more than so many bytes are left; the newest stays. False if there was none
 * to leave out. */
bool kept_cut(struct kept *kept, size_t bytes);
void kept_free(struct kept *kept); /* NULL is allowed */

#endif
