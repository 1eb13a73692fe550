/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sandbox/rpc.h"

#include <errno.h>
#include <stdlib.h>

#include "util/utf8.h"

/* --- the requesting side --- */

int rpc_send(struct channel *channel, const struct rpc *rpc)
{
	const struct message message = {.kind = rpc->kind, .arg = rpc->arg, .size = rpc->size};
	int rc;

	if (rpc->nsend)
		return channel_put_fds(channel, &message, rpc->bytes, rpc->send, rpc->nsend);
	rc = channel_put(channel, &message, rpc->bytes);
	return rc ? rc : channel_flush(channel);
}

/* Descriptors may arrive with any message of the answer. */
static void rpc_keep_fds(struct rpc *rpc, int fds[DESCRIPTORS])
{
	for (unsigned i = 0; i < DESCRIPTORS; i++) {
		if (rpc->fds[i] < 0) {
			rpc->fds[i] = fds[i];
			fds[i] = -1;
		}
	}
	descriptors_close(fds);
}

static int rpc_take_error(struct channel *channel, struct rpc *rpc)
{
	int rc;

	if (rpc->left != sizeof(rpc->error) || rpc->code < -4095)
		return -EBADMSG;
	rc = rpc_read(channel, rpc, &rpc->error, sizeof(rpc->error));
	rpc->error.text[sizeof(rpc->error.text) - 1] = '\0';
	text_make_printable(rpc->error.text);
	return rc;
}

int rpc_take_answer(struct channel *channel, struct rpc *rpc)
{
	int rc = 0;

	for (unsigned i = 0; i < DESCRIPTORS; i++)
		rpc->fds[i] = -1;
	while (rc == 0) {
		int fds[DESCRIPTORS];
		struct message message;

		rc = channel_take(channel, &message, fds);
		if (rc)
			break;
		rpc_keep_fds(rpc, fds);
		if (message.kind == RPC_RESULT) {
			rpc->code = message.code;
			rpc->left = message.size;
			return rpc->code < 0 ? rpc_take_error(channel, rpc) : 0;
		}
		if (message.kind == RPC_RECORD && rpc->take_record)
			rc = rpc->take_record(rpc, channel, &message);
		else
			rc = -EBADMSG;
	}
	return rc;
}

int rpc_call(struct channel *channel, struct rpc *rpc)
{
	int rc = rpc_send(channel, rpc);

	for (unsigned i = 0; i < DESCRIPTORS; i++)
		rpc->fds[i] = -1;
	return rc ? rc : rpc_take_answer(channel, rpc);
}

int rpc_call_for(struct channel *channel, struct rpc *rpc, void *to, size_t size)
{
	int rc = rpc_call(channel, rpc);

	if (rc)
		return rc;
	descriptors_close(rpc->fds);
	if (rpc->code < 0)
		return 0;
	return rpc->left == size ? rpc_read(channel, rpc, to, size) : -EBADMSG;
}

int rpc_read(struct channel *channel, struct rpc *rpc, void *to, size_t size)
{
	int rc = size <= rpc->left ? channel_read(channel, to, size) : -EBADMSG;

	if (rc == 0)
		rpc->left -= size;
	return rc;
}

/* --- the answering side --- */

int rpc_take(struct channel *channel, struct rpc_request *request, size_t most)
{
	struct message message;
	int rc;

	*request = (struct rpc_request){.fds = {-1, -1, -1, -1}};
	rc = channel_take(channel, &message, request->fds);
	if (rc)
		return rc;
	if (message.size > most)
		return -EBADMSG;
	request->kind = message.kind;
	request->arg = message.arg;
	request->size = (size_t)message.size;
	request->bytes = calloc(1, request->size + 1);
	return request->bytes ? channel_read(channel, request->bytes, request->size) : -ENOMEM;
}

void rpc_request_free(struct rpc_request *request)
{
	free(request->bytes);
	request->bytes = NULL;
	descriptors_close(request->fds);
}

int rpc_record(struct channel *channel, int32_t type, const void *bytes, size_t size)
{
	const struct message message = {.kind = RPC_RECORD, .code = type, .size = size};

	return channel_put(channel, &message, bytes);
}

int rpc_answer(struct channel *channel, int code, const struct error *err, const void *bytes, size_t size)
{
	struct message message = {.kind = RPC_RESULT, .code = code, .size = size};
	int rc;

	if (code < 0) {
		message.size = sizeof(*err);
		bytes = err;
	}
	rc = channel_put(channel, &message, bytes);
	return rc ? rc : channel_flush(channel);
}

int rpc_answer_fds(struct channel *channel, const void *bytes, size_t size, const int *fds, unsigned n)
{
	const struct message message = {.kind = RPC_RESULT, .size = size};

	return channel_put_fds(channel, &message, bytes, fds, n);
}

int rpc_answer_parts(struct channel *channel, const void *first, size_t first_size, const void *second,
		     size_t second_size)
{
	const struct message message = {.kind = RPC_RESULT, .size = first_size + second_size};
	int rc = channel_put_parts(channel, &message, first, first_size, second);

	return rc ? rc : channel_flush(channel);
}
