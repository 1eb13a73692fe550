/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sandbox/inspection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/memory.h"

bool inspection_record_is_good(const struct log_record *record)
{
	static const uint8_t types[] = {LOG_TARGET,   LOG_REASON,   LOG_MAPPING,      LOG_STACK,
					LOG_SNAPSHOT, LOG_HEAP,     LOG_GS,           LOG_PS,
					LOG_MS,       LOG_AREAS,    LOG_SNAPSHOT_END, LOG_G_DETAILS,
					LOG_LABELS,   LOG_G_LABELS, LOG_PARK_SKIPS};

	for (size_t i = 0; i < sizeof(types); i++) {
		if (types[i] == record->type)
			return rawlog_check_record(record, NULL) == 0;
	}
	return false;
}

/* After the sink's first error the rest of the answer must still be read. */
static int inspection_take_record(struct rpc *rpc, struct channel *channel, const struct message *message)
{
	struct inspection *inspection = (struct inspection *)rpc;
	struct log_record record = {.type = (uint32_t)message->code, .size = (uint32_t)message->size};
	void *bytes;
	int rc;

	if (message->size > MAX_RECORD || ++inspection->records > MAX_ANSWER_RECORDS ||
	    (inspection->record_bytes += message->size) > MAX_RECORD_BYTES)
		return -EBADMSG;
	bytes = malloc(message->size + 1);
	if (!bytes)
		return -ENOMEM;
	record.data = bytes;
	rc = channel_read(channel, bytes, message->size);
	if (rc == 0 && !inspection_record_is_good(&record))
		rc = -EBADMSG;
	if (rc == 0 && !inspection->sink_failure)
		inspection->sink_failure = inspection->sink(inspection->ctx, &record);
	free(bytes);
	return rc;
}

/*
 * The inspector has no privileges, so its advice on permissions would be about itself. Replaces it by the
 * caller's.
 */
static int explain_denied(const struct error *sent, struct error *err)
{
	const char *colon = strrchr(sent->text, ':');
	int len = colon ? (int)(colon - sent->text) : (int)strlen(sent->text);

	return error_set(err, EPERM, "%.*s: %s", len, sent->text, memory_how_to_be_allowed());
}

/* Keeps one of the received descriptors; no answer uses more. */
static void keep_one_fd(struct inspection *inspection)
{
	inspection->fd = inspection->rpc.fds[0];
	inspection->rpc.fds[0] = -1;
	descriptors_close(inspection->rpc.fds);
}

void inspection_close_fd(struct inspection *inspection)
{
	if (inspection->fd >= 0)
		close(inspection->fd);
	inspection->fd = -1;
}

static int take_code(struct inspection *inspection, struct error *err)
{
	const struct rpc *rpc = &inspection->rpc;

	if (rpc->code == -EPERM)
		return explain_denied(&rpc->error, err);
	if (rpc->code < 0)
		return error_set(err, -rpc->code, "%s", rpc->error.text);
	return inspection->sink_failure
		       ? error_set(err, -inspection->sink_failure, "cannot write the log: %s",
				   strerror(-inspection->sink_failure))
		       : 0;
}

int inspect(struct sandbox *sandbox, struct inspection *inspection, struct error *err)
{
	int rc = sandbox->broken ? -EPIPE : sandbox_begin_wait(sandbox);

	inspection->fd = -1;
	inspection->rpc.take_record = inspection->sink ? inspection_take_record : NULL;
	if (rc == 0) {
		rc = rpc_call(&sandbox->channel, &inspection->rpc);
		keep_one_fd(inspection);
	}
	rc = rc ? sandbox_fail(sandbox, rc, err) : take_code(inspection, err);
	if (rc)
		inspection_close_fd(inspection);
	return rc;
}

int inspection_read(struct sandbox *sandbox, struct inspection *inspection, void *to, size_t size,
		    struct error *err)
{
	int rc = rpc_read(&sandbox->channel, &inspection->rpc, to, size);

	return rc ? sandbox_fail(sandbox, rc, err) : 0;
}

int inspect_for(struct sandbox *sandbox, struct inspection *inspection, void *to, size_t size,
		struct error *err)
{
	int rc = inspect(sandbox, inspection, err);

	if (rc == 0 && inspection->rpc.left != size)
		rc = sandbox_fail(sandbox, -EBADMSG, err);
	if (rc == 0)
		rc = inspection_read(sandbox, inspection, to, size, err);
	if (rc)
		inspection_close_fd(inspection);
	return rc;
}
