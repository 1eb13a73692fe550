/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What replay needs to know of the target, as records of the log. */
#include "target/private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "target/maps.h"
#include "target/park.h"
#include "target/reasons.h"
#include "target/remote.h"

#define MAX_TEXT 4096u

static uint64_t mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Both clocks at one moment: the middle of two readings of one around the other. */
struct log_clock target_clock(void)
{
	uint64_t before = mono_ns(), after;
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	after = mono_ns();
	return (struct log_clock){
		.mono_ns = before + (after - before) / 2,
		.wall_sec = (uint64_t)wall.tv_sec,
		.wall_nsec = (uint32_t)wall.tv_nsec,
	};
}

static int put(log_sink sink, void *ctx, enum log_type type, const void *data, size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = data};

	return sink(ctx, &record);
}

/* A fixed part followed by text. */
static int put_text(log_sink sink, void *ctx, enum log_type type, const void *head, size_t head_size,
		    const char *text, size_t len)
{
	uint64_t buffer[(64 + MAX_TEXT) / sizeof(uint64_t)];

	memcpy(buffer, head, head_size);
	memcpy((char *)buffer + head_size, text, len);
	return put(sink, ctx, type, buffer, head_size + len);
}

static int log_target(const struct target *target, unsigned extra_flags, log_sink sink, void *ctx)
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
	return put(sink, ctx, LOG_TARGET, &head, sizeof(head));
}

static int log_reasons(const struct reasons *reasons, unsigned table, log_sink sink, void *ctx)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < reasons->n; i++) {
		struct log_reason head = {.table = (uint16_t)table, .index = (uint16_t)i};

		if (!reasons->texts[i])
			continue;
		head.len = (uint32_t)strlen(reasons->texts[i]);
		rc = put_text(sink, ctx, LOG_REASON, &head, sizeof(head), reasons->texts[i], head.len);
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
		rc = put_text(sink, ctx, LOG_REASON, &head, sizeof(head), text, head.len);
	}
	return rc;
}

uint8_t target_wait_reason(const struct target *target, uint64_t text, uint64_t len)
{
	const uint8_t *bytes = image_bytes(&target->image->elf, text - target->bias, len);
	const struct reasons *waits = release_reasons(target->image->release, REASON_WAIT);

	return bytes ? (uint8_t)reasons_index(waits, (const char *)bytes, len) : 0;
}

/* Code only: what a PC can lie in. */
static int log_mappings(const struct maps *maps, log_sink sink, void *ctx)
{
	struct mapping mapping;
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
			rc = put_text(sink, ctx, LOG_MAPPING, &head, sizeof(head), mapping.path, len);
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
	rc = log_target(target, extra_flags, sink, ctx);
	for (unsigned table = REASON_BLOCK; rc == 0 && table < REASON_TABLES; table++)
		rc = log_reasons(release_reasons(release, table), table, sink, ctx);
	if (rc == 0)
		rc = log_park_reasons(release_reasons(release, REASON_WAIT), release->minor, sink, ctx);
	if (rc)
		return error_set(err, -rc, "cannot write the log: %s", strerror(-rc));
	return target->pid ? target_log_mappings(target->pid, sink, ctx, err) : 0;
}

/* Copies the table out of the image: from there on this is the only copy, and the image's memory is free. */
static int copy_functab(struct target *target, struct error *err)
{
	struct target_image *image = target->image;
	const struct module *module = &image->module;
	uint64_t from = module->gofunc + target->bias, to = from;
	bool trees = functab_gofunc_range(target->functab, &from, &to);
	size_t room, extent = trees ? (size_t)(to - from) : 0, size, offset;
	const uint8_t *gofunc = image_rest(&image->elf, from - target->bias, &room);
	const uint8_t *pclntab = image_bytes(&image->elf, module->pclntab, module->pclntab_size);
	struct log_functab head = {
		.text = module->text + target->bias,
		.etext = module->etext + target->bias,
		.gofunc = from,
		.pclntab_size = (uint32_t)module->pclntab_size,
		.gofunc_size = (uint32_t)(extent < room ? extent : room),
		.go_minor = target->go_minor,
	};
	struct functab_source bytes;
	uint8_t *data;

	size = sizeof(head) + module->pclntab_size + head.gofunc_size;
	if (size > UINT32_MAX)
		return error_set(err, EFBIG, "%s: its function table has %zu bytes, more than a log can hold",
				 image->label, size);
	image->names = malloc(size);
	if (!image->names)
		return error_set(err, ENOMEM, "out of memory for the function table (%zu bytes)", size);
	image->names_size = size;
	data = (uint8_t *)(image->names + 1);
	*image->names = head;
	memcpy(data, pclntab, module->pclntab_size);
	functab_relocate(target->functab, data);
	if (head.gofunc_size)
		memcpy(data + module->pclntab_size, gofunc, head.gofunc_size);
	offset = (size_t)(pclntab - image->file.data);
	load_drop(&image->file, offset, module->pclntab_size);
	bytes = (struct functab_source){
		.pclntab = data,
		.gofunc = data + module->pclntab_size,
		.gofunc_size = head.gofunc_size,
		.gofunc_address = from,
	};
	return target_read_functab(target, &bytes, err);
}

int target_functab(struct target *target, struct log_record *record, struct error *err)
{
	struct target_image *image = target->image;
	int rc;

	if (target->remote)
		return target->remote->functab(target, record, err);
	rc = image->names ? 0 : copy_functab(target, err);
	*record = (struct log_record){
		.type = LOG_FUNCTAB,
		.size = (uint32_t)image->names_size,
		.data = image->names,
	};
	return rc;
}
