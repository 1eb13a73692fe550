/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/annotations.h"

#include <string.h>

#include "model/values.h"
#include "model/labels.h"
#include "util/utf8.h"

enum { MAX_NAMES = 1 << 16 }; /* distinct names of tasks, regions and logs; Go's documentation asks for few */

bool annotations_init(struct model *md)
{
	md->annotations.texts = strtab_new();
	return md->annotations.texts;
}

void annotations_free(struct model *md)
{
	strtab_free(md->annotations.texts);
	map64_free(&md->annotations.open_tasks);
}

void annotations_lost(struct model *md)
{
	md->annotations.losses++;
}

void annotations_recycle(struct model *md)
{
	/* Early records waiting for a snapshot refer to these texts. */
	if (md->early.ntexts == 0)
		strtab_clear(md->annotations.texts);
}

/* Names stay for the whole trace unless prune_names() drops them, so their number is limited. */
static uint32_t name_id(struct model *md, const char *text, size_t len)
{
	struct strtab *strings = md->options.strings;
	uint32_t id = strtab_find(strings, text, len);

	if (id || len == 0)
		return id;
	if (strtab_loose(strings) >= MAX_NAMES)
		return string_id(md, "[too many names]");
	id = strtab_add_loose(strings, text, len);
	if (!id)
		md->oom = true;
	return id;
}

static uint32_t message_id(struct model *md, const char *text, size_t len)
{
	uint32_t id = strtab_add(md->annotations.texts, text, len);

	if (!id && len)
		md->oom = true;
	return id ? id | TEXT_ID : 0;
}

/* Makes the message of the log event that shows the values. */
static struct text_ids values_text_ids(struct model *md, const struct raw_text *text)
{
	const struct raw_record *rec = &text->record;
	const uint32_t *labels = functions_labels(&md->functions, rec->arg, rec->site);
	struct values_message message;

	values_message(&message, text, md->options.strings, labels);
	return (struct text_ids){.string2 = message_id(md, message.text, message.len)};
}

/* The record waits for a snapshot: keeps its bytes as a text. */
static struct text_ids keep_values(struct model *md, const struct raw_text *text)
{
	return (struct text_ids){
		.string2 = message_id(md, (const char *)text, sizeof(*text) + text->len + text->len2)};
}

void annotations_restore(struct model *md, const struct raw_record *rec, struct text_ids ids,
			 struct kept_values *kept)
{
	size_t size = 0;
	const char *bytes = strtab_get(md->annotations.texts, ids.string2 & ~TEXT_ID, &size);

	md->annotations.ids = ids;
	md->annotations.values = NULL;
	if (!is_request_site(rec->site) || !ids.string2 || size > sizeof(*kept))
		return;
	memcpy(kept, bytes, size);
	md->annotations.values = &kept->text;
}

/* Longer texts were cut by the BPF program. */
static size_t text_len(const char *text, size_t len)
{
	return len == TEXT_MAX ? text_whole(text, len) : len;
}

struct text_ids annotations_text_ids(struct model *md, const struct raw_text *text)
{
	bool unreadable = text->record.flags & RAW_UNREADABLE;
	const char *second = text->text + text->len;
	struct text_ids ids = {0};

	md->annotations.values = NULL;
	if (is_request_site(text->record.site)) {
		md->annotations.values = text;
		return md->phase == RUNNING ? ids : keep_values(md, text);
	}
	if (text->record.flags & RAW_VALUES)
		return values_text_ids(md, text);
	if (text->record.site == SITE_LABELS)
		return (struct text_ids){.string = labels_of_text(md, text)};
	/*
	 * Reading an empty text cannot fail, so in an unreadable record the empty text is the one that
	 * failed.
	 */
	if (unreadable && !text->len)
		ids.string = string_id(md, "[unreadable]");
	else
		ids.string = name_id(md, text->text, text_len(text->text, text->len));
	if (unreadable && !text->len2 && text->record.site == SITE_LOG)
		ids.string2 = string_id(md, "[unreadable]");
	else
		ids.string2 = message_id(md, second, text_len(second, text->len2));
	return ids;
}
