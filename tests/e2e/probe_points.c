/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Prints what gotrace finds out about a file's functions: `probe_points FILE [NAME]`. A line for each
 * function that has a size: its name, where calls begin and end, or why not; then counts.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "target/functions/function_file.h"

static void print_points(const struct function_symbol *symbol, const struct probe_points *points)
{
	printf("%s %" PRIx64 " begin %" PRIx64 "+%u%s ends", symbol->name, symbol->address,
	       points->begin.address, points->begin.distance, points->ends_there ? "!" : "");
	for (unsigned i = 0; i < points->n; i++)
		printf(" %" PRIx64 "%s", points->ends[i].address, points->ends[i].condition ? "?" : "");
	printf("\n");
}

int main(int argc, char **argv)
{
	unsigned found = 0, refused = 0, late = 0;
	static struct probe_points points;
	struct function_file file;
	struct error err;

	if (argc < 2 || function_file_open(&file, open(argv[1], O_RDONLY), NULL))
		return 2;
	for (size_t i = 0; i < file.n; i++) {
		const struct function_symbol *symbol = &file.symbols[i];

		if (!symbol->size || symbol->indirect || strstr(symbol->name, ".cold") ||
		    (argc > 2 && strcmp(argv[2], symbol->name) != 0))
			continue;
		if (function_file_probe_points(&file, symbol, &points, &err)) {
			printf("%s %" PRIx64 " refused: %s\n", symbol->name, symbol->address, err.text);
			refused++;
			continue;
		}
		print_points(symbol, &points);
		found++;
		late += points.begin.address != symbol->address;
	}
	printf("functions: %u found, %u refused; %u begin behind their first instruction\n", found, refused,
	       late);
	function_file_close(&file);
	return found == 0;
}
