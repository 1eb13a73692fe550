/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Records with values (RAW_VALUES), made for tests. */
#ifndef GOTRACE_TEST_VALUES_RECORD_H
#define GOTRACE_TEST_VALUES_RECORD_H

#include <string.h>

#include "bpf/record.h"

/* The struct raw_text is in bytes: a flexible array member must not be followed by another member. */
struct values_record {
	_Alignas(8) char bytes[sizeof(struct raw_text) + 2 * TEXT_MAX];
	size_t size;
};

static inline struct raw_text *values_text(struct values_record *made)
{
	return (struct raw_text *)made->bytes;
}

static inline void values_begin(struct values_record *made, uint8_t site)
{
	memset(made, 0, sizeof(*made));
	values_text(made)->record = (struct raw_record){.tid = 7, .site = site, .flags = RAW_VALUES};
	made->size = sizeof(struct raw_text);
}

/* Adds a value. All values must be added before the first text. */
static inline void values_add(struct values_record *made, struct raw_value value)
{
	memcpy(made->bytes + made->size, &value, sizeof(value));
	values_text(made)->len += sizeof(value);
	made->size += sizeof(value);
}

static inline void values_add_text(struct values_record *made, const char *text, size_t len)
{
	memcpy(made->bytes + made->size, text, len);
	values_text(made)->len2 += (uint16_t)len;
	made->size += len;
}

#endif
