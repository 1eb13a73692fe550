/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Arbitrary bytes as a program's /tmp/perf-PID.map, read in two parts: names are in bounds and terminated. */
#include <stdlib.h>
#include <string.h>

#include "code/symbol/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(struct perf_map *map, uint64_t address, const char *text, size_t size)
{
	struct perf_map_name place;
	struct jit_name name;

	if (!perf_map_find(map, address, &place))
		return;
	if (place.at > size || place.len > size - place.at)
		abort();
	jit_name_parse(text + place.at, place.len, &name);
	if (strnlen(name.function, sizeof(name.function)) == sizeof(name.function) ||
	    strnlen(name.file, sizeof(name.file)) == sizeof(name.file))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct perf_map *map = perf_map_new();
	size_t taken, more;

	if (!map)
		return 0;
	taken = perf_map_add(map, 0, text, size / 2);
	more = perf_map_add(map, taken, text + taken, size - taken);
	if (taken > size / 2 || more > size - taken)
		abort();
	perf_map_sort(map);
	for (const char *line = text; line && line < text + size; line++) {
		size_t left = size - (size_t)(line - text);
		char number[17] = "";

		memcpy(number, line, left < 16 ? left : 16);
		look(map, strtoull(number, NULL, 16), text, size);
		line = memchr(line, '\n', left);
		if (!line)
			break;
	}
	perf_map_free(map);
	return 0;
}
