/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sockets that pass descriptors along with bytes (SCM_RIGHTS, unix(7)). */
#ifndef GOTRACE_SANDBOX_DESCRIPTORS_H
#define GOTRACE_SANDBOX_DESCRIPTORS_H

#include <stddef.h>
#include <sys/types.h>

enum { DESCRIPTORS = 4 }; /* most descriptors per message */

/* As send(2), with n descriptors. */
ssize_t descriptors_send(int socket, const void *bytes, size_t size, const int *fds, unsigned n, int flags);
/*
 * As recv(2). The caller owns fds (DESCRIPTORS elements, -1 if fewer came). If fds is NULL, and beyond that
 * number, received descriptors are closed: the other side may send any number.
 */
ssize_t descriptors_receive(int socket, void *bytes, size_t size, int *fds, int flags);
/* Closes the open ones, and sets all to -1. */
void descriptors_close(int fds[DESCRIPTORS]);

#endif
