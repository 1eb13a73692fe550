/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/snapshot.h"

#include <string.h>

#include "capture/backend.h"
#include "util/clock.h"

int note_put_at(struct capture *capture, uint64_t time, uint32_t flags, const char *text)
{
	size_t len = strlen(text);
	struct {
		struct log_note head;
		char text[MAX_NOTE];
	} record = {.head = {.time = time, .len = (uint32_t)len, .flags = flags}};

	memcpy(record.text, text, len);
	return drain_put(&capture->drain, LOG_NOTE, &record, sizeof(record.head) + len);
}

int note_put(struct capture *capture, uint32_t flags, const char *text)
{
	return note_put_at(capture, now_ns(), flags, text);
}

int note_level(struct capture *capture, uint32_t flags)
{
	enum detail_level now = capture->governor.level;

	if (now == capture->noted)
		return 0;
	capture->noted = now;
	return note_put(capture, flags, capture->backend->level_text(now));
}
