/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/drain.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include <bpf/libbpf.h>

int drain_put(struct drain *drain, uint32_t type, const void *data, size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = data};
	int rc = drain->sink(drain->ctx, &record);

	if (rc && !drain->sink_error)
		drain->sink_error = rc;
	return rc;
}

static int flush(struct drain *drain)
{
	unsigned n = drain->n;

	drain->n = 0;
	return n ? drain_put(drain, LOG_RECORDS, drain->batch, n * sizeof(drain->batch[0])) : 0;
}

static int take_stack(struct drain *drain, const void *data, size_t size)
{
	int rc = flush(drain);

	if (rc || size > sizeof(drain->stack) || size < sizeof(struct raw_stack))
		return rc;
	drain->stacks++;
	memcpy(drain->stack, data, size);
	return drain_put(drain, LOG_STACK, drain->stack, size);
}

/* Reads a text that was not in memory when it was named; false if it cannot be read now either. */
static bool fetch(const struct drain *drain, uint64_t address, void *to, uint16_t len)
{
	struct iovec here = {.iov_base = to, .iov_len = len};
	struct iovec there = {.iov_base = (void *)(uintptr_t)address, .iov_len = len};

	return drain->pid && process_vm_readv(drain->pid, &here, 1, &there, 1, 0) == len;
}

/* Appends a text of what came through the ring; returns its length. */
static uint16_t settle_text(const struct drain *drain, struct raw_text *text, size_t at, const char *bytes,
			    uint16_t len, uint16_t away)
{
	uint64_t address;

	if (!away) {
		memcpy(text->text + at, bytes, len);
		return len;
	}
	memcpy(&address, bytes, sizeof(address));
	if (fetch(drain, address, text->text + at, away))
		return away;
	text->record.flags |= RAW_UNREADABLE;
	return 0;
}

static bool fits(const struct raw_text *text, size_t size)
{
	return size >= sizeof(*text) && text->len <= TEXT_MAX && text->len2 <= TEXT_MAX &&
	       text->away <= TEXT_MAX && text->away2 <= TEXT_MAX && (!text->away || text->len == 8) &&
	       (!text->away2 || text->len2 == 8) && size >= sizeof(*text) + (size_t)text->len + text->len2;
}

static int take_text(struct drain *drain, const void *data, size_t size)
{
	const struct raw_text *sent = data;
	struct raw_text *text = (struct raw_text *)drain->text;
	int rc = flush(drain);

	if (rc || !fits(sent, size))
		return rc;
	drain->records++;
	text->record = sent->record;
	text->away = text->away2 = 0;
	text->len = settle_text(drain, text, 0, sent->text, sent->len, sent->away);
	text->len2 = settle_text(drain, text, text->len, sent->text + sent->len, sent->len2, sent->away2);
	return drain_put(drain, LOG_TEXT, text, sizeof(*text) + text->len + text->len2);
}

static bool is_stop(uint8_t site)
{
	return site == SITE_PARK || site == SITE_DESTROY ||
	       (site >= SITE_GOSCHED && site <= SITE_PREEMPTPARK);
}

static int take(void *ctx, void *data, size_t size)
{
	struct drain *drain = ctx;
	struct raw_record *record = &drain->batch[drain->n];

	if (((const struct raw_record *)data)->site == SITE_STACK)
		return take_stack(drain, data, size);
	if (size != sizeof(*record))
		return take_text(drain, data, size);
	memcpy(record, data, sizeof(*record));
	drain->records++;
	drain->syscalls += record->site == SITE_SYS_ENTER || record->site == SITE_SYS_EXIT;
	drain->stops += is_stop(record->site);
	if (record->site == SITE_MARKER)
		drain->last_marker = record->arg;
	return ++drain->n == DRAIN_BATCH ? flush(drain) : 0;
}

int drain_open(struct drain *drain, int ring_fd, log_sink sink, void *ctx, struct error *err)
{
	drain->sink = sink;
	drain->ctx = ctx;
	drain->ring = ring_buffer__new(ring_fd, take, drain, NULL);
	if (!drain->ring)
		return error_set(err, errno, "cannot map the ring buffer: %s", strerror(errno));
	return 0;
}

int drain_all(struct drain *drain)
{
	uint64_t before = drain->records + drain->stacks;
	int rc = ring_buffer__consume(drain->ring);

	if (rc < 0 && !drain->sink_error)
		return rc;
	if (!drain->sink_error)
		flush(drain);
	if (drain->sink_error)
		return drain->sink_error;
	before = drain->records + drain->stacks - before;
	return before > 1 << 30 ? 1 << 30 : (int)before;
}

void drain_close(struct drain *drain)
{
	if (drain->ring)
		ring_buffer__free(drain->ring);
	drain->ring = NULL;
}
