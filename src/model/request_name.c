/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/request_name.h"

#include <string.h>

#include "util/utf8.h"

static const char ellipsis[] = "\xe2\x80\xa6";

static bool fits(struct request_text *to, size_t len)
{
	/* The ellipsis must fit in any case. */
	if (!to->cut && to->len + len + sizeof(ellipsis) <= sizeof(to->text))
		return true;
	if (!to->cut) {
		memcpy(to->text + to->len, ellipsis, sizeof(ellipsis));
		to->len += sizeof(ellipsis) - 1;
		to->cut = true;
	}
	return false;
}

static void add(struct request_text *to, const char *bytes, size_t len)
{
	if (!fits(to, len))
		return;
	memcpy(to->text + to->len, bytes, len);
	to->len += len;
	to->text[to->len] = '\0';
}

void request_text_add(struct request_text *to, const char *text)
{
	size_t n = strlen(text), len;

	for (size_t at = 0; at < n && !to->cut; at += len) {
		text_next(text + at, n - at, &len);
		add(to, text + at, len);
	}
}

static bool is_space(uint32_t point)
{
	return point == ' ' || point == '\t' || point == '\n' || point == '\r';
}

void request_text_put(struct request_text *to, const struct value *value)
{
	bool space = true; /* none at the beginning */
	size_t len;

	if (!value || value->flags & VALUE_UNREADABLE) {
		request_text_add(to, "?");
		return;
	}
	for (size_t at = 0; at < value->len && !to->cut; at += len) {
		uint32_t point = text_next(value->text + at, value->len - at, &len);

		if (is_space(point)) {
			if (!space)
				add(to, " ", 1);
			space = true;
			continue;
		}
		space = false;
		if (point == 0xfffd && len == 1)
			add(to, "?", 1);
		else if (!text_is_printable(point))
			add(to, "?", 1);
		else
			add(to, value->text + at, len);
	}
	if (value->flags & VALUE_CUT)
		fits(to, sizeof(to->text));
}
