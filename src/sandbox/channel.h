/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages between two processes over a stream socket: a header, then bytes, and descriptors. rpc.h gives
 * them a meaning.
 */
#ifndef GOTRACE_SANDBOX_CHANNEL_H
#define GOTRACE_SANDBOX_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox/descriptors.h"

struct message {
	uint32_t kind;
	int32_t code;
	uint64_t arg;
	uint64_t size; /* number of bytes that follow */
};

struct channel {
	int fd;
	size_t used;
	uint8_t *buffer; /* data to be sent; owned */
	/* Called whenever CHANNEL_PACE_MS have passed without a byte; NULL: no limit. */
	bool (*may_wait)(void *ctx);
	void *ctx;
};

enum { CHANNEL_PACE_MS = 50 };

int channel_open(struct channel *channel, int fd); /* takes ownership of fd; returns 0 or -ENOMEM */
void channel_close(struct channel *channel);
/* From now on waiting ends with -ETIMEDOUT if may_wait() returns false. */
void channel_limit(struct channel *channel, bool (*may_wait)(void *ctx), void *ctx);
/* Buffers a message; a large one is sent at once. Returns -EPIPE if the other side is gone. */
int channel_put(struct channel *channel, const struct message *message, const void *bytes);
/* The same for bytes in two parts. message->size is the size of both. */
int channel_put_parts(struct channel *channel, const struct message *message, const void *first,
		      size_t first_size, const void *second);
/* Sends everything buffered. */
int channel_flush(struct channel *channel);
/* Sends a message with n descriptors immediately. */
int channel_put_fds(struct channel *channel, const struct message *message, const void *bytes, const int *fds,
		    unsigned n);
/*
 * Receives the header of the next message. fds: as in descriptors_receive(). Returns 0, -EPIPE if the other
 * side is gone, -ETIMEDOUT, or another negative errno.
 */
int channel_take(struct channel *channel, struct message *message, int *fds);
/* Reads bytes that follow the header. All of them must be read or skipped. */
int channel_read(struct channel *channel, void *to, size_t size);
int channel_skip(struct channel *channel, uint64_t size);

#endif
