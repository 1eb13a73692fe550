/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sandbox/broker_messages.h"

#include <errno.h>

int broker_send(int fd, const void *message, size_t size, const int *fds, unsigned n, int flags)
{
	while (descriptors_send(fd, message, size, fds, n, flags) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

ssize_t broker_take(int fd, void *message, size_t size, int *fds, int flags)
{
	ssize_t n;

	do
		n = descriptors_receive(fd, message, size, fds, flags);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}
