/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Arbitrary bytes as an environment, a list of attributes and a cgroup: reading stays in bounds, and what is
 * printed reads back the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/resource.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A value that fills a part by itself is the only one that may be missing. */
static void print_and_read(const struct otel_resource *from)
{
	char text[RESOURCE_TEXT + 1];
	struct otel_resource again = {0};
	unsigned next = 0;

	while (resource_print(from, &next, text)) {
		if (strlen(text) > RESOURCE_TEXT)
			abort();
		resource_take(&again, text, strlen(text));
	}
	for (unsigned i = 0; i < RESOURCE_ATTRIBUTES; i++) {
		if (again.values[i][0] && strcmp(again.values[i], from->values[i]) != 0)
			abort();
		if (!again.values[i][0] &&
		    3 * strlen(from->values[i]) + strlen(resource_keys[i]) < RESOURCE_TEXT &&
		    from->values[i][0])
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct otel_resource resource = {0};

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	resource_take_environment(&resource, text, size);
	print_and_read(&resource);
	resource_take(&resource, text, size);
	resource_take_cgroup(&resource, text);
	print_and_read(&resource);
	free(text);
	return 0;
}
