/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Logs the information about the target that replay needs. */
#include "target/private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "target/maps.h"
#include "target/reasons.h"
#include "target/remote.h"
#include "util/clock.h"

#define MAX_TEXT 4096u

/* Reads the wall clock, dated to the midpoint of two readings of the monotonic clock. */
struct log_clock target_clock(void)
{
	uint64_t before = now_ns(), after;
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	after = now_ns();
	return (struct log_clock){
		.mono_ns = before + (after - before) / 2,
		.wall_sec = (uint64_t)wall.tv_sec,
		.wall_nsec = (uint32_t)wall.tv_nsec,
	};
}

static int target_log_put(log_sink sink, void *ctx, enum log_type type, const void *data, size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = data};

	return sink(ctx, &record);
}

/* Logs a fixed part followed by text. */
static int target_log_put_text(log_sink sink, void *ctx, enum log_type type, const void *head,
			       size_t head_size, const char *text, size_t len)
{
	uint64_t buffer[(64 + MAX_TEXT) / sizeof(uint64_t)];

	memcpy(buffer, head, head_size);
	memcpy((char *)buffer + head_size, text, len);
	return target_log_put(sink, ctx, type, buffer, head_size + len);
}

static int target_log_target(const struct target *target, unsigned extra_flags, log_sink sink, void *ctx)
{
	struct log_target head = {
		.pid = (uint32_t)target->pid,
		.flags = LOG_TARGET_GO | LOG_TARGET_OWN | (target->cgo ? LOG_TARGET_CGO : 0) |
			 (target->pie ? LOG_TARGET_PIE : 0) | (target->stripped ? LOG_TARGET_STRIPPED : 0) |
			 extra_flags,
		.go_minor = target->go_minor,
		.go_patch = target->go_patch,
		.clock = target_clock(),
	};

	memcpy(head.go_version, target->go_version, sizeof(head.go_version));
	memcpy(head.comm, target->image->comm, sizeof(head.comm));
	memcpy(head.exe, target->image->path, sizeof(head.exe));
	return target_log_put(sink, ctx, LOG_TARGET, &head, sizeof(head));
}

static int log_reasons(const struct reasons *reasons, unsigned table, log_sink sink, void *ctx)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < reasons->n; i++) {
		struct log_reason head = {.table = (uint16_t)table, .index = (uint16_t)i};

		if (!reasons->texts[i])
			continue;
		head.len = (uint32_t)strlen(reasons->texts[i]);
		rc = target_log_put_text(sink, ctx, LOG_REASON, &head, sizeof(head), reasons->texts[i],
					 head.len);
	}
	return rc;
}

static int log_park_reasons(const struct reasons *waits, unsigned go_minor, log_sink sink, void *ctx)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < waits->n; i++) {
		struct log_reason head = {.table = REASON_PARK, .index = (uint16_t)i};
		const char *text = park_block_reason(waits->texts[i], go_minor);

		head.len = (uint32_t)strlen(text);
		rc = target_log_put_text(sink, ctx, LOG_REASON, &head, sizeof(head), text, head.len);
	}
	return rc;
}

static int log_park_skips(const struct target *target, log_sink sink, void *ctx)
{
	_Alignas(8) uint8_t skips[PARK_SKIPS];

	target_park_skips(target, skips);
	return target_log_put(sink, ctx, LOG_PARK_SKIPS, skips, sizeof(skips));
}

uint8_t target_wait_reason(const struct target *target, uint64_t text, uint64_t len)
{
	const uint8_t *bytes = image_bytes(&target->image->elf, text - target->bias, len);
	const struct reasons *waits = release_reasons(target->image->release, REASON_WAIT);

	return bytes ? (uint8_t)reasons_index(waits, (const char *)bytes, len) : 0;
}

/* Logs mappings with code: those that can contain a PC. */
static int log_mappings(const struct maps *maps, log_sink sink, void *ctx)
{
	struct proc_mapping mapping;
	size_t at = 0;
	int rc = 0;

	while (rc == 0 && maps_next(maps->text, maps->len, &at, &mapping)) {
		size_t len = mapping.path_len < MAX_TEXT ? mapping.path_len : MAX_TEXT;
		struct log_mapping head = {
			.start = mapping.start,
			.end = mapping.end,
			.offset = mapping.offset,
			.len = (uint32_t)len,
		};

		if (mapping.executable && len)
			rc = target_log_put_text(sink, ctx, LOG_MAPPING, &head, sizeof(head), mapping.path,
						 len);
	}
	return rc;
}

int target_log_mappings(pid_t pid, log_sink sink, void *ctx, struct error *err)
{
	struct maps maps;
	int rc = maps_read(pid, &maps, err);

	if (rc)
		return rc;
	rc = log_mappings(&maps, sink, ctx);
	maps_free(&maps);
	return rc ? error_set(err, -rc, "cannot write the log: %s", strerror(-rc)) : 0;
}

int target_log_info(const struct target *target, unsigned extra_flags, log_sink sink, void *ctx,
		    struct error *err)
{
	const struct release *release;
	int rc;

	if (target->remote)
		return target->remote->log_info(target, extra_flags, sink, ctx, err);
	release = target->image->release;
	rc = target_log_target(target, extra_flags, sink, ctx);
	for (unsigned table = REASON_BLOCK; rc == 0 && table < REASON_TABLES; table++)
		rc = log_reasons(release_reasons(release, table), table, sink, ctx);
	if (rc == 0)
		rc = log_park_reasons(release_reasons(release, REASON_WAIT), release->minor, sink, ctx);
	if (rc == 0)
		rc = log_park_skips(target, sink, ctx);
	if (rc)
		return error_set(err, -rc, "cannot write the log: %s", strerror(-rc));
	return target->pid ? target_log_mappings(target->pid, sink, ctx, err) : 0;
}
