/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "rawlog/values_settle.h"

#include <string.h>

#include "rawlog/values.h"

/* Reads a number of any size up to 8 bytes. */
static void value_read_number(struct raw_value *value, const struct value_source *source)
{
	uint64_t bits = 0;

	if (value->size <= sizeof(bits) && source->read(source->ctx, value->bits, &bits, value->size))
		value->bits = bits;
	else
		*value = (struct raw_value){
			.kind = value->kind, .size = value->size, .flags = VALUE_UNREADABLE};
}

static bool ends_with_nul(uint8_t kind)
{
	return kind == VALUE_C_STRING || kind == VALUE_CHARS;
}

enum { PAGE = 4096 }; /* the smallest page size; the page after the text may be unmapped */

/* Reads up to a NUL, and no page beyond it. Returns the text's length, or -1 if it cannot be read. */
static int read_chars(const struct raw_value *value, char *to, const struct value_source *source)
{
	size_t done = 0;

	while (done < value->len) {
		size_t part = PAGE - (value->bits + done) % PAGE;
		const char *nul;

		if (part > value->len - done)
			part = value->len - done;
		if (!source->read(source->ctx, value->bits + done, to + done, part))
			return -1;
		nul = memchr(to + done, '\0', part);
		if (nul)
			return (int)(nul - to);
		done += part;
	}
	return (int)done;
}

/* Returns the number of bytes written. */
static size_t value_read_text(struct raw_value *value, char *to, const struct value_source *source)
{
	int len = value->len;

	if (ends_with_nul(value->kind)) {
		len = read_chars(value, to, source);
		if (len == value->len && value->kind == VALUE_C_STRING)
			value->flags |= VALUE_CUT; /* no NUL found: it may be cut */
	} else if (!source->read(source->ctx, value->bits, to, value->len)) {
		len = -1;
	}
	value->bits = 0;
	value->len = len < 0 ? 0 : (uint16_t)len;
	if (len < 0)
		value->flags = VALUE_UNREADABLE;
	return value->len;
}

/* Returns whether the lengths are as the programs send them. */
static bool value_text_fits(const struct raw_text *sent, size_t size)
{
	return size >= sizeof(*sent) && sent->len % sizeof(struct raw_value) == 0 &&
	       sent->len / sizeof(struct raw_value) <= VALUES_MAX && sent->len2 <= TEXT_MAX &&
	       size >= sizeof(*sent) + (size_t)sent->len + sent->len2;
}

size_t values_settle(const struct raw_text *sent, size_t size, struct raw_text *to,
		     const struct value_source *source)
{
	size_t left, n, len2 = 0;
	const char *from;
	char *texts;

	if (!value_text_fits(sent, size))
		return 0;
	n = sent->len / sizeof(struct raw_value);
	from = sent->text + sent->len;
	left = sent->len2;
	texts = to->text + sent->len;
	for (size_t i = 0; i < n; i++) {
		struct raw_value value;

		memcpy(&value, sent->text + i * sizeof(value), sizeof(value));
		if (value.len > TEXT_MAX - len2 || (!(value.flags & VALUE_AWAY) && value.len > left))
			return 0;
		if (value.flags & VALUE_AWAY) {
			value.flags &= (uint8_t)~VALUE_AWAY;
			if (value_is_text(value.kind))
				len2 += value_read_text(&value, texts + len2, source);
			else
				value_read_number(&value, source);
		} else {
			memcpy(texts + len2, from, value.len);
			from += value.len;
			left -= value.len;
			len2 += value.len;
		}
		memcpy(to->text + i * sizeof(value), &value, sizeof(value));
	}
	to->record = sent->record;
	to->away_len = to->away_len2 = 0;
	to->len = sent->len;
	to->len2 = (uint16_t)len2;
	return sizeof(*to) + to->len + to->len2;
}
