/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sandbox/descriptors.h"

#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

ssize_t descriptors_send(int socket, const void *bytes, size_t size, const int *fds, unsigned n, int flags)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(DESCRIPTORS * sizeof(int))] = {0};
	struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

	if (n) {
		struct cmsghdr *head;

		header.msg_control = control;
		header.msg_controllen = CMSG_SPACE(n * sizeof(int));
		head = CMSG_FIRSTHDR(&header);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(head), fds, n * sizeof(int));
	}
	return sendmsg(socket, &header, MSG_NOSIGNAL | flags);
}

static void descriptors_take(struct msghdr *message, int *fds)
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
			if (fds && n < DESCRIPTORS)
				fds[n++] = fd;
			else
				close(fd);
		}
	}
}

ssize_t descriptors_receive(int socket, void *bytes, size_t size, int *fds, int flags)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
	struct iovec part = {.iov_base = bytes, .iov_len = size};
	struct msghdr header = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	ssize_t n;

	for (unsigned i = 0; fds && i < DESCRIPTORS; i++)
		fds[i] = -1;
	n = recvmsg(socket, &header, MSG_CMSG_CLOEXEC | flags);
	if (n > 0)
		descriptors_take(&header, fds);
	return n;
}

void descriptors_close(int fds[DESCRIPTORS])
{
	for (unsigned i = 0; i < DESCRIPTORS; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}
