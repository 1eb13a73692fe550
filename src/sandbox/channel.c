/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sandbox/channel.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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

static int failure(int code)
{
	if (code == EAGAIN || code == EWOULDBLOCK)
		return -ETIMEDOUT;
	return code == ECONNRESET ? -EPIPE : -code;
}

static int send_all(int fd, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	while (size) {
		ssize_t n = send(fd, at, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
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
	return send_all(channel->fd, channel->buffer, n);
}

static int gather(struct channel *channel, const void *bytes, size_t size)
{
	int rc = 0;

	if (size > BUFFER_BYTES - channel->used)
		rc = channel_flush(channel);
	if (rc || !size)
		return rc;
	if (size > BUFFER_BYTES)
		return send_all(channel->fd, bytes, size);
	memcpy(channel->buffer + channel->used, bytes, size);
	channel->used += size;
	return 0;
}

int channel_put(struct channel *channel, const struct message *message, const void *bytes)
{
	int rc = gather(channel, message, sizeof(*message));

	return rc ? rc : gather(channel, bytes, message->size);
}

int channel_put_parts(struct channel *channel, const struct message *message, const void *first,
		      size_t first_size, const void *second)
{
	int rc = gather(channel, message, sizeof(*message));

	if (rc == 0)
		rc = gather(channel, first, first_size);
	return rc ? rc : gather(channel, second, message->size - first_size);
}

/* The descriptor travels with the head's bytes: nothing else is in the message. */
int channel_put_fd(struct channel *channel, const struct message *message, const void *bytes, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec part = {.iov_base = (void *)(uintptr_t)message, .iov_len = sizeof(*message)};
	struct msghdr header = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	struct cmsghdr *head = CMSG_FIRSTHDR(&header);
	int rc = channel_flush(channel);
	ssize_t n;

	if (rc)
		return rc;
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	do
		n = sendmsg(channel->fd, &header, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return failure(errno);
	rc = send_all(channel->fd, (const char *)message + n, sizeof(*message) - (size_t)n);
	return rc ? rc : send_all(channel->fd, bytes, message->size);
}

/* What does not fit in the caller's array is closed: the other side may send what it likes. */
static void take_fds(struct msghdr *message, int *fds)
{
	unsigned n = 0;

	for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head; head = CMSG_NXTHDR(message, head)) {
		size_t count;

		if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
			continue;
		count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(head) + i * sizeof(fd), sizeof(fd));
			if (fds && n < CHANNEL_FDS)
				fds[n++] = fd;
			else
				close(fd);
		}
	}
}

int channel_take(struct channel *channel, struct message *message, int *fds)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(CHANNEL_FDS * sizeof(int))];
	struct iovec part = {.iov_base = message, .iov_len = sizeof(*message)};
	struct msghdr header = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	ssize_t n;

	for (unsigned i = 0; fds && i < CHANNEL_FDS; i++)
		fds[i] = -1;
	do
		n = recvmsg(channel->fd, &header, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n ? failure(errno) : -EPIPE;
	take_fds(&header, fds);
	return channel_read(channel, (char *)message + n, sizeof(*message) - (size_t)n);
}

int channel_read(struct channel *channel, void *to, size_t size)
{
	char *at = to;

	while (size) {
		ssize_t n = recv(channel->fd, at, size, 0);

		if (n < 0 && errno == EINTR)
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
