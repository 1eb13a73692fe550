/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Unpacks the values of call arguments that a hit has read (RAW_VALUES). */
#ifndef GOTRACE_RAWLOG_VALUES_H
#define GOTRACE_RAWLOG_VALUES_H

#include "rawlog/rawlog.h"

struct value {
	uint8_t kind;     /* enum value_kind */
	uint8_t flags;    /* enum value_flags, without VALUE_AWAY */
	uint8_t size;     /* bytes of a number: 1, 2, 4 or 8 */
	uint64_t bits;    /* of a number, zero-extended */
	const char *text; /* of a text: in the record, any bytes, not NUL-terminated */
	uint16_t len;
};

/* Returns true for the kinds whose value is a text. */
bool value_is_text(uint8_t kind);
/*
 * Unpacks a LOG_TEXT with RAW_VALUES whose lengths match its record. Returns the number of values, or
 * -EBADMSG if lengths, kinds or sizes are invalid.
 */
int values_unpack(const struct raw_text *text, struct value values[VALUES_MAX]);

#endif
