/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Messages over a socket between a sandbox and the process that started it: a head, then bytes; descriptors,
 * too. */
#ifndef GOTRACE_SANDBOX_CHANNEL_H
#define GOTRACE_SANDBOX_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

enum { CHANNEL_FDS = 4 };

struct message {
	uint32_t kind; /* the protocol's */
	int32_t code;
	uint64_t arg;
	uint64_t size; /* bytes that follow */
};

struct channel {
	int fd;
	size_t used;
	uint8_t *buffer; /* what is to be sent; owned */
};

int channel_open(struct channel *channel, int fd); /* takes over fd. -ENOMEM */
void channel_close(struct channel *channel);
/* Gathers; what is large goes at once. -EPIPE when the other side has gone. */
int channel_put(struct channel *channel, const struct message *message, const void *bytes);
/* The same of two parts; the message's size is that of both. */
int channel_put_parts(struct channel *channel, const struct message *message, const void *first,
		      size_t first_size, const void *second);
/* Sends all that was gathered. */
int channel_flush(struct channel *channel);
/* Sends a message with a descriptor, at once. */
int channel_put_fd(struct channel *channel, const struct message *message, const void *bytes, int fd);
/*
 * The next message's head. fds (CHANNEL_FDS of them, -1 where none came) are the caller's then; with NULL
 * what comes is closed. -EPIPE: the other side has gone; -ETIMEDOUT.
 */
int channel_take(struct channel *channel, struct message *message, int *fds);
/* Bytes that follow it: all of them are to be read. */
int channel_read(struct channel *channel, void *to, size_t size);
int channel_skip(struct channel *channel, uint64_t size);

#endif
