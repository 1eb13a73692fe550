/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: messages between the privileged process and the broker. They use SOCK_SEQPACKET
 * sockets, which keep message boundaries, instead of a channel, because several threads of the broker receive
 * from one socket and the sender must never block: a message is sent as a whole or not at all.
 */
#ifndef GOTRACE_SANDBOX_BROKER_MESSAGES_H
#define GOTRACE_SANDBOX_BROKER_MESSAGES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "sandbox/descriptors.h"
#include "util/error.h"
#include "util/window.h"

enum broker_ask {
	/* On the control socket: */
	BROKER_ADD = 1, /* window; listener, memory and window's file */
	BROKER_ALLOW,   /* pid; /proc/PID */
	BROKER_SHARE,   /* number; the file */
	BROKER_KEEP,    /* number: a set of capabilities -> struct broker_reply */
	/* On the socket for reading, each -> struct broker_reply: */
	BROKER_MEMORY,  /* pid, pieces in place of the path -> their bytes in the window */
	BROKER_MAPS,    /* pid -> a file */
	BROKER_MAPPING, /* pid, path and the mapping's numbers -> a file */
	BROKER_EXE,     /* pid, size -> a file, its first bytes in the window */
	BROKER_LOST,    /* a /proc/PID/mem -> 1: its program is gone */
};

enum { BROKER_PATH = 4096, BROKER_PIECES = BROKER_PATH / sizeof(struct iovec) };

struct broker_message {
	uint32_t ask;
	int32_t pid;
	uint64_t number, address, size;
	uint64_t start, end, inode; /* of a mapping */
	uint32_t major, minor;
	uint32_t path_len; /* bytes that were sent of what follows */
	union {
		char path[BROKER_PATH];
		struct iovec pieces[BROKER_PIECES]; /* of another process's memory */
	};
};

struct broker_reply {
	int64_t value;   /* or a negative errno */
	uint64_t size;   /* number of bytes in the window */
	uint64_t number; /* that of the question */
	struct error error;
};

/* Memory shared by both processes. */
struct broker_shared {
	_Atomic uint32_t stalls;
	_Alignas(64) uint8_t window[WINDOW_BYTES];
};

/* Sends a message of `size` bytes with n descriptors. Returns 0 or a negative errno. */
int broker_send(int fd, const void *message, size_t size, const int *fds, unsigned n, int flags);
/*
 * Receives one message. Returns its size, 0 if the other side is gone, or a negative errno. fds: as in
 * descriptors_receive().
 */
ssize_t broker_take(int fd, void *message, size_t size, int *fds, int flags);

#endif
