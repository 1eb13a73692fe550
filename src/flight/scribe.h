/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Writes snapshots in a thread of the process without privileges, one at a time: recording goes on meanwhile.
 * The file comes from the other side (snapshot_writer.h), what is to be in it from the tape.
 */
#ifndef GOTRACE_FLIGHT_SCRIBE_H
#define GOTRACE_FLIGHT_SCRIBE_H

#include "flight/keeper.h"
#include "pipeline/output.h"
#include "sandbox/channel.h"
#include "wire/wire.h"

/* --- the thread --- */

struct scribe;

/* fd: the end of a socket on which it is asked; taken over. NULL: out of memory, or of threads. */
struct scribe *scribe_new(int fd);
/* Waits for what is being written. NULL is allowed. */
void scribe_free(struct scribe *scribe);
/* Hands a snapshot over, for the next file that comes, in place of one that no file came for. NULL: there was
 * none, and why says so. */
void scribe_put(struct scribe *scribe, struct kept *kept, const struct error *why);

/* --- who asks --- */

/*
 * Waits until a snapshot was handed over, and is in the file; fd -1: until it is forgotten. What is there
 * then is to be looked at: the other side is not trusted. place: what the file is in, for messages.
 */
int scribe_ask(struct channel *channel, enum wire_format format, size_t max_bytes, int fd, const char *place,
	       struct error *err);

#endif
