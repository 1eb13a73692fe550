/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "annotate/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/utf8.h"

static const char ellipsis[] = "\xe2\x80\xa6";

enum { LONGEST_PIECE = 32 }; /* a number, or a character with its escape */

static void values_put(struct values_message *message, const char *bytes, size_t len)
{
	if (len > sizeof(message->text) - message->len)
		return;
	memcpy(message->text + message->len, bytes, len);
	message->len += len;
}

static void put_str(struct values_message *message, const char *text)
{
	values_put(message, text, strlen(text));
}

static uint64_t sign_extend(uint64_t bits, unsigned size)
{
	unsigned unused = 64 - 8 * size;

	return unused ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
}

static uint64_t zero_extend(uint64_t bits, unsigned size)
{
	return size < 8 ? bits & ((1ull << 8 * size) - 1) : bits;
}

static void put_float(struct values_message *message, const struct value *value)
{
	char text[LONGEST_PIECE];
	uint32_t half = (uint32_t)value->bits;
	double number;
	float single;

	memcpy(&single, &half, sizeof(single));
	memcpy(&number, &value->bits, sizeof(number));
	snprintf(text, sizeof(text), "%.*g", value->size == 4 ? 9 : 17,
		 value->size == 4 ? (double)single : number);
	put_str(message, text);
}

static void put_number(struct values_message *message, const struct value *value)
{
	uint64_t bits = zero_extend(value->bits, value->size);
	char text[LONGEST_PIECE];

	switch (value->kind) {
	case VALUE_SIGNED:
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)sign_extend(bits, value->size));
		break;
	case VALUE_BOOL:
		snprintf(text, sizeof(text), "%s", bits & 0xff ? "true" : "false");
		break;
	case VALUE_FLOAT:
		put_float(message, value);
		return;
	case VALUE_POINTER:
		snprintf(text, sizeof(text), "0x%" PRIx64, bits);
		break;
	default:
		snprintf(text, sizeof(text), "%" PRIu64, bits);
	}
	put_str(message, text);
}

static void put_hex(struct values_message *message, const struct value *value)
{
	for (unsigned i = 0; i < value->len; i++) {
		char text[3];

		snprintf(text, sizeof(text), "%02x", (uint8_t)value->text[i]);
		values_put(message, text, 2);
	}
}

static void put_character(struct values_message *message, const char *text, uint32_t point, size_t len)
{
	char escaped[LONGEST_PIECE];

	if (point == '"' || point == '\\')
		snprintf(escaped, sizeof(escaped), "\\%c", (char)point);
	else if (point == '\n' || point == '\t' || point == '\r')
		snprintf(escaped, sizeof(escaped), "\\%c", point == '\n' ? 'n' : point == '\t' ? 't' : 'r');
	else if (len == 1 && (point == 0xfffd || !text_is_printable(point)))
		snprintf(escaped, sizeof(escaped), "\\x%02x", (uint8_t)*text);
	else if (!text_is_printable(point))
		snprintf(escaped, sizeof(escaped), point > 0xffff ? "\\U%08x" : "\\u%04x", point);
	else {
		values_put(message, text, len);
		return;
	}
	put_str(message, escaped);
}

static void values_put_text(struct values_message *message, const struct value *value)
{
	bool cut = value->flags & VALUE_CUT;
	size_t end = cut ? text_whole(value->text, value->len) : value->len, at = 0, len;

	put_str(message, "\"");
	while (at < end) {
		uint32_t point = text_next(value->text + at, end - at, &len);

		if (message->len + 2 * LONGEST_PIECE > sizeof(message->text)) {
			cut = true;
			break;
		}
		put_character(message, value->text + at, point, len);
		at += len;
	}
	if (cut)
		put_str(message, ellipsis);
	put_str(message, "\"");
}

static void values_put_value(struct values_message *message, const struct value *value)
{
	if (value->flags & VALUE_UNREADABLE)
		put_str(message, value->flags & VALUE_NULL ? "nil" : "?");
	else if (value->kind == VALUE_BYTES)
		put_hex(message, value);
	else if (value_is_text(value->kind))
		values_put_text(message, value);
	else
		put_number(message, value);
}

void values_message(struct values_message *message, const struct raw_text *text, const struct strtab *strings,
		    const uint32_t labels[VALUES_MAX])
{
	struct value values[VALUES_MAX];
	int n = values_unpack(text, values);

	message->len = 0;
	for (int i = 0; i < n; i++) {
		size_t len;
		const char *label = strtab_get(strings, labels[i], &len);

		if (i)
			put_str(message, " ");
		values_put(message, label, len);
		put_str(message, "=");
		values_put_value(message, &values[i]);
	}
}
