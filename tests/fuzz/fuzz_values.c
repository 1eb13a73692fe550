/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Argument values: the user's list, the record in the ring buffer, or its form in the log. The first byte
 * selects one.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/values.h"
#include "target/functions/value_list.h"
#include "rawlog/values_settle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MEMORY = 4096 };

static bool read_memory(void *ctx, uint64_t address, void *to, size_t len)
{
	(void)ctx;
	memset(to, (int)address, len);
	return address % 3 != 0;
}

static void parse(const uint8_t *data, size_t size)
{
	struct value_list list;
	struct error err = {""};
	char *text = malloc(size + 1);

	if (!text)
		return;
	memcpy(text, data, size);
	text[size] = '\0';
	if (value_list_parse(text, &list, &err) == 0 && list.n > VALUE_ITEMS)
		abort();
	if (list.name_len > strlen(text))
		abort();
	free(text);
}

static void show(const void *bytes, size_t size)
{
	const uint32_t labels[VALUES_MAX] = {0};
	struct log_record record = {.type = LOG_TEXT, .size = (uint32_t)size, .data = bytes};
	const struct raw_text *text = bytes;
	struct strtab *strings;
	struct values_message message;

	if (rawlog_check_record(&record, NULL) || !(text->record.flags & RAW_VALUES))
		return;
	strings = strtab_new();
	if (!strings)
		return;
	values_message(&message, text, strings, labels);
	if (message.len > sizeof(message.text))
		abort();
	strtab_free(strings);
}

/* Uses a copy of exact size, so that a read past its end is detected. */
static void settle(const uint8_t *data, size_t size)
{
	const struct value_source source = {NULL, read_memory};
	void *sent = malloc(size ? size : 1), *to = malloc(VALUES_BYTES);
	size_t settled = 0;

	if (sent && to && size >= sizeof(struct raw_text)) {
		memcpy(sent, data, size);
		settled = values_settle(sent, size, to, &source);
	}
	if (settled > VALUES_BYTES)
		abort();
	if (settled)
		show(to, settled);
	free(sent);
	free(to);
}

static void show_copy(const uint8_t *data, size_t size)
{
	void *copy = malloc(size ? size : 1);

	if (!copy)
		return;
	memcpy(copy, data, size);
	show(copy, size);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0 || size > MEMORY)
		return 0;
	switch (data[0] % 3) {
	case 0:
		parse(data + 1, size - 1);
		break;
	case 1:
		settle(data + 1, size - 1);
		break;
	default:
		show_copy(data + 1, size - 1);
	}
	return 0;
}
