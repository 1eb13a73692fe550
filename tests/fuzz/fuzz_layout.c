/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Arbitrary bytes as a layout's text (--layout FILE). Input: the lines before the last one. They are parsed
 * unchanged, and with an "end" line and their checksum appended. A parsed layout is printed, and must parse
 * to the same layout.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "target/layout_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *print(const struct layout_table *table, size_t *size)
{
	char *text = NULL;
	struct error err;
	FILE *out = open_memstream(&text, size);

	if (!out || layout_text_print(table, out, &err) || fclose(out))
		abort();
	return text;
}

static void read_and_print(const char *text, size_t size)
{
	struct layout_table table, again;
	struct error err = {""};
	size_t n[2];
	char *printed[2];

	if (layout_text_parse(text, size, &table, &err)) {
		if (strncmp(err.text, "line ", 5))
			abort();
		return;
	}
	printed[0] = print(&table, &n[0]);
	if (layout_text_parse(printed[0], n[0], &again, &err))
		abort();
	printed[1] = print(&again, &n[1]);
	if (n[0] != n[1] || memcmp(printed[0], printed[1], n[0]) ||
	    memcmp(&table.release.layout, &again.release.layout, sizeof(table.release.layout)))
		abort();
	for (int i = 0; i < 2; i++)
		free(printed[i]);
	release_free(&table.release);
	release_free(&again.release);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *whole;
	int n;

	if (size > LAYOUT_TEXT_MOST)
		return 0;
	read_and_print((const char *)data, size);
	whole = malloc(size + 32);
	if (!whole)
		return 0;
	memcpy(whole, data, size);
	n = snprintf(whole + size, 32, "end %08lx\n", crc32(0, data, (uInt)size));
	read_and_print(whole, size + (size_t)n);
	free(whole);
	return 0;
}
