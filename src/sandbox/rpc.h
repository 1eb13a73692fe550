/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Requests between two processes over a channel, one at a time. A request has a kind, a number, bytes and
 * descriptors. Its answer is any number of records, if the caller expects some, and one result: a code >= 0
 * with bytes and descriptors, or a negative errno with the line of text that explains it.
 *
 * Functions return 0 or the channel's negative errno: -EPIPE if the other side is gone, -ETIMEDOUT, or
 * -EBADMSG if it sent something unexpected.
 */
#ifndef GOTRACE_SANDBOX_RPC_H
#define GOTRACE_SANDBOX_RPC_H

#include "sandbox/channel.h"
#include "util/error.h"

/* Kinds of messages in an answer. */
enum rpc_answer { RPC_RECORD = 1, RPC_RESULT };

/* --- the requesting side --- */

struct rpc {
	uint32_t kind;
	uint64_t arg;
	const void *bytes;
	size_t size;
	int send[DESCRIPTORS]; /* descriptors to send; the caller keeps them */
	unsigned nsend;
	/* Takes a record of the answer, and must read message->size bytes. NULL: there are no records. */
	int (*take_record)(struct rpc *rpc, struct channel *channel, const struct message *message);
	/* The result: */
	int code;             /* not below -4095 */
	struct error error;   /* if code < 0; printable */
	uint64_t left;        /* bytes that remain to be read with rpc_read() */
	int fds[DESCRIPTORS]; /* received, owned by the caller; -1: none */
};

/* Sends the request without waiting for an answer. */
int rpc_send(struct channel *channel, const struct rpc *rpc);
/* Takes the answer to the last request. */
int rpc_take_answer(struct channel *channel, struct rpc *rpc);
/* Sends the request and takes its answer. */
int rpc_call(struct channel *channel, struct rpc *rpc);
/* The same, for a result of exactly `size` bytes, or an error. Closes received descriptors. */
int rpc_call_for(struct channel *channel, struct rpc *rpc, void *to, size_t size);
/* Reads part of the result's bytes. */
int rpc_read(struct channel *channel, struct rpc *rpc, void *to, size_t size);

/* --- the answering side --- */

struct rpc_request {
	uint32_t kind;
	uint64_t arg;
	size_t size;
	char *bytes;          /* owned; followed by a NUL that is not part of size */
	int fds[DESCRIPTORS]; /* owned; -1: none */
};

/* Takes the next request, of at most `most` bytes. Call rpc_request_free() afterwards, even if this fails. */
int rpc_take(struct channel *channel, struct rpc_request *request, size_t most);
void rpc_request_free(struct rpc_request *request);
/* Sends a record of the answer. It may stay in the channel's buffer until the result is sent. */
int rpc_record(struct channel *channel, int32_t type, const void *bytes, size_t size);
/* Sends the result: err if the code is negative, otherwise the bytes and descriptors. */
int rpc_answer(struct channel *channel, int code, const struct error *err, const void *bytes, size_t size);
int rpc_answer_fds(struct channel *channel, const void *bytes, size_t size, const int *fds, unsigned n);
/* The same for bytes in two parts. */
int rpc_answer_parts(struct channel *channel, const void *first, size_t first_size, const void *second,
		     size_t second_size);

#endif
