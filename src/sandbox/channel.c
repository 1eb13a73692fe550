/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sandbox/channel.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { BUFFER_BYTES = 64 << 10 };

int channel_open(struct channel *channel, int fd)
{
	*channel = (struct channel){.fd = fd, .buffer = malloc(BUFFER_BYTES)};
	return channel->buffer ? 0 : -ENOMEM;
}

void channel_close(struct channel *channel)
{
	if (channel->fd >= 0)
		close(channel->fd);
	free(channel->buffer);
	*channel = (struct channel){.fd = -1};
}

void channel_limit(struct channel *channel, bool (*may_wait)(void *ctx), void *ctx)
{
	const struct timeval pace = {.tv_usec = CHANNEL_PACE_MS * 1000};

	setsockopt(channel->fd, SOL_SOCKET, SO_RCVTIMEO, &pace, sizeof(pace));
	setsockopt(channel->fd, SOL_SOCKET, SO_SNDTIMEO, &pace, sizeof(pace));
	channel->may_wait = may_wait;
	channel->ctx = ctx;
}

/* True if a failed call should be repeated. */
static bool is_again(const struct channel *channel)
{
	int code = errno;
	bool again = code == EINTR;

	if ((code == EAGAIN || code == EWOULDBLOCK) && channel->may_wait)
		again = channel->may_wait(channel->ctx);
	errno = code;
	return again;
}

static int failure(int code)
{
	if (code == EAGAIN || code == EWOULDBLOCK)
		return -ETIMEDOUT;
	return code == ECONNRESET ? -EPIPE : -code;
}

static int send_all(const struct channel *channel, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	while (size) {
		ssize_t n = send(channel->fd, at, size, MSG_NOSIGNAL);

		if (n < 0 && is_again(channel))
			continue;
		if (n < 0)
			return failure(errno);
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

int channel_flush(struct channel *channel)
{
	size_t n = channel->used;

	channel->used = 0;
	return send_all(channel, channel->buffer, n);
}

static int channel_gather(struct channel *channel, const void *bytes, size_t size)
{
	int rc = 0;

	if (size > BUFFER_BYTES - channel->used)
		rc = channel_flush(channel);
	if (rc || !size)
		return rc;
	if (size > BUFFER_BYTES)
		return send_all(channel, bytes, size);
	memcpy(channel->buffer + channel->used, bytes, size);
	channel->used += size;
	return 0;
}

int channel_put(struct channel *channel, const struct message *message, const void *bytes)
{
	int rc = channel_gather(channel, message, sizeof(*message));

	return rc ? rc : channel_gather(channel, bytes, message->size);
}

int channel_put_parts(struct channel *channel, const struct message *message, const void *first,
		      size_t first_size, const void *second)
{
	int rc = channel_gather(channel, message, sizeof(*message));

	if (rc == 0)
		rc = channel_gather(channel, first, first_size);
	return rc ? rc : channel_gather(channel, second, message->size - first_size);
}

/* The descriptors are sent with the header's bytes. */
int channel_put_fds(struct channel *channel, const struct message *message, const void *bytes, const int *fds,
		    unsigned n)
{
	int rc = channel_flush(channel);
	ssize_t sent;

	if (rc)
		return rc;
	do
		sent = descriptors_send(channel->fd, message, sizeof(*message), fds, n, 0);
	while (sent < 0 && is_again(channel));
	if (sent < 0)
		return failure(errno);
	rc = send_all(channel, (const char *)message + sent, sizeof(*message) - (size_t)sent);
	return rc ? rc : send_all(channel, bytes, message->size);
}

int channel_take(struct channel *channel, struct message *message, int *fds)
{
	ssize_t n;

	do
		n = descriptors_receive(channel->fd, message, sizeof(*message), fds, 0);
	while (n < 0 && is_again(channel));
	if (n <= 0)
		return n ? failure(errno) : -EPIPE;
	return channel_read(channel, (char *)message + n, sizeof(*message) - (size_t)n);
}

int channel_read(struct channel *channel, void *to, size_t size)
{
	char *at = to;

	while (size) {
		ssize_t n = recv(channel->fd, at, size, 0);

		if (n < 0 && is_again(channel))
			continue;
		if (n <= 0)
			return n ? failure(errno) : -EPIPE;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

int channel_skip(struct channel *channel, uint64_t size)
{
	char bytes[4096];
	int rc = 0;

	while (size && rc == 0) {
		size_t part = size < sizeof(bytes) ? (size_t)size : sizeof(bytes);

		rc = channel_read(channel, bytes, part);
		size -= part;
	}
	return rc;
}
