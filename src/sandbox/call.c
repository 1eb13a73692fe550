/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sandbox/call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/memory.h"

static int ask(struct sandbox *sandbox, const struct call *call)
{
	const struct message message = {.kind = call->ask, .arg = call->arg, .size = call->size};
	int rc;

	if (call->send_fd >= 0)
		return channel_put_fd(&sandbox->channel, &message, call->bytes, call->send_fd);
	rc = channel_put(&sandbox->channel, &message, call->bytes);
	return rc ? rc : channel_flush(&sandbox->channel);
}

bool call_record_is_good(const struct log_record *record)
{
	static const uint8_t types[] = {LOG_TARGET,   LOG_REASON, LOG_MAPPING,     LOG_STACK,
					LOG_SNAPSHOT, LOG_HEAP,   LOG_GS,          LOG_PS,
					LOG_MS,       LOG_AREAS,  LOG_SNAPSHOT_END};

	for (size_t i = 0; i < sizeof(types); i++) {
		if (types[i] == record->type)
			return rawlog_check_record(record, NULL) == 0;
	}
	return false;
}

/* A record of the answer. *failed is the sink's first failure: the rest is still to be taken. */
static int take_record(struct sandbox *sandbox, const struct call *call, const struct message *message,
		       int *failed)
{
	struct log_record record = {.type = (uint32_t)message->code, .size = (uint32_t)message->size};
	void *bytes;
	int rc;

	if (!call->sink || message->size > MOST_RECORD)
		return -EBADMSG;
	bytes = malloc(message->size + 1);
	if (!bytes)
		return -ENOMEM;
	record.data = bytes;
	rc = channel_read(&sandbox->channel, bytes, message->size);
	if (rc == 0 && !call_record_is_good(&record))
		rc = -EBADMSG;
	if (rc == 0 && !*failed)
		*failed = call->sink(call->ctx, &record);
	free(bytes);
	return rc;
}

static void keep_fd(struct call *call, int *fds)
{
	for (unsigned i = 0; i < CHANNEL_FDS; i++) {
		if (fds[i] < 0)
			continue;
		if (call->fd < 0)
			call->fd = fds[i];
		else
			close(fds[i]);
	}
}

/* What a process with no rights says of who may do what holds for itself: who asks knows what holds here. */
static int tell_denied(const struct error *told, struct error *err)
{
	const char *colon = strrchr(told->text, ':');
	int len = colon ? (int)(colon - told->text) : (int)strlen(told->text);

	return error_set(err, EPERM, "%.*s: %s", len, told->text, memory_how_to_be_allowed());
}

static int take_failure(struct sandbox *sandbox, struct call *call, struct error *err)
{
	struct error told;

	if (call->left != sizeof(told))
		return sandbox_fail(sandbox, -EBADMSG, err);
	if (call_read(sandbox, call, &told, sizeof(told), err))
		return -EPIPE;
	told.text[sizeof(told.text) - 1] = '\0';
	if (call->code < -4095)
		return sandbox_fail(sandbox, -EBADMSG, err);
	if (call->code == -EPERM)
		return tell_denied(&told, err);
	return error_set(err, -call->code, "%s", told.text);
}

int call_ask(struct sandbox *sandbox, struct call *call, struct error *err)
{
	int rc = sandbox->broken ? -EPIPE : ask(sandbox, call), failed = 0;

	call->fd = -1;
	while (rc == 0) {
		int fds[CHANNEL_FDS];
		struct message message;

		rc = channel_take(&sandbox->channel, &message, fds);
		if (rc)
			break;
		keep_fd(call, fds);
		if (message.kind == REPLY_RECORD) {
			rc = take_record(sandbox, call, &message, &failed);
			continue;
		}
		if (message.kind != REPLY_RESULT) {
			rc = -EBADMSG;
			break;
		}
		call->code = message.code;
		call->left = message.size;
		if (call->code < 0)
			return take_failure(sandbox, call, err);
		return failed ? error_set(err, -failed, "cannot write the log: %s", strerror(-failed)) : 0;
	}
	return sandbox_fail(sandbox, rc, err);
}

int call_read(struct sandbox *sandbox, struct call *call, void *to, size_t size, struct error *err)
{
	int rc = size <= call->left ? channel_read(&sandbox->channel, to, size) : -EBADMSG;

	if (rc)
		return sandbox_fail(sandbox, rc, err);
	call->left -= size;
	return 0;
}

int call_for(struct sandbox *sandbox, struct call *call, void *to, size_t size, struct error *err)
{
	int rc = call_ask(sandbox, call, err);

	if (rc == 0 && call->left != size)
		rc = sandbox_fail(sandbox, -EBADMSG, err);
	return rc ? rc : call_read(sandbox, call, to, size, err);
}
