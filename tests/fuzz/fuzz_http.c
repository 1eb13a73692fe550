/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Requests to the server of gotrace view. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/http_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, size_t most)
{
	size_t n = strnlen(text, most);

	if (n == most)
		abort();
	for (size_t i = 0; i < n; i++) {
		if (text[i] <= ' ' || text[i] > '~')
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_request request;
	char *copy = malloc(size ? size : 1);
	int n;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	n = http_request_parse(copy, size, &request);
	if (n > 0 && ((size_t)n > size || n > HTTP_HEAD_MAX))
		abort();
	check_text(request.method, sizeof(request.method));
	check_text(request.target, sizeof(request.target));
	check_text(request.host, sizeof(request.host));
	check_text(request.origin, sizeof(request.origin));
	free(copy);
	return 0;
}
