/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "rawlog/values.h"

#include <errno.h>
#include <string.h>

bool value_is_text(uint8_t kind)
{
	return kind >= VALUE_BYTES && kind <= VALUE_CHARS;
}

static bool is_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* Returns whether the fields are valid: a number has a size, a text has a length. */
static bool is_possible(const struct raw_value *raw)
{
	if (raw->flags & ~(VALUE_UNREADABLE | VALUE_NULL | VALUE_CUT))
		return false;
	if ((raw->flags & VALUE_UNREADABLE) && raw->len)
		return false;
	if (value_is_text(raw->kind))
		return true;
	return raw->kind >= VALUE_SIGNED && raw->kind <= VALUE_POINTER && !raw->len && is_size(raw->size);
}

int values_unpack(const struct raw_text *text, struct value values[VALUES_MAX])
{
	size_t n = text->len / sizeof(struct raw_value), at = 0;

	if (text->len % sizeof(struct raw_value) || n > VALUES_MAX)
		return -EBADMSG;
	for (size_t i = 0; i < n; i++) {
		struct raw_value raw;

		memcpy(&raw, text->text + i * sizeof(raw), sizeof(raw));
		if (!is_possible(&raw) || raw.len > text->len2 - at)
			return -EBADMSG;
		values[i] = (struct value){
			.kind = raw.kind,
			.flags = raw.flags,
			.size = (uint8_t)raw.size,
			.bits = raw.bits,
			.text = text->text + text->len + at,
			.len = raw.len,
		};
		at += raw.len;
	}
	return at == text->len2 ? (int)n : -EBADMSG;
}
