/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/functions/request_wants.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_in_list(const char *list, const char *group)
{
	size_t len = strlen(group);

	for (const char *at = list; *at; at += *at == ',') {
		size_t size = strcspn(at, ",");

		if (size == len && memcmp(at, group, len) == 0)
			return true;
		at += size;
	}
	return false;
}

static bool is_group(const char *text, size_t len)
{
	if (len == strlen("auto") && memcmp(text, "auto", len) == 0)
		return true;
	for (unsigned i = 0; i < request_preset_count; i++) {
		const char *group = request_presets[i].group;

		if (strlen(group) == len && memcmp(text, group, len) == 0)
			return true;
	}
	return false;
}

/* The groups, each once: "http, sql". */
static void list_groups(char *to, size_t size)
{
	size_t len = 0;

	for (unsigned i = 0; i < request_preset_count && len < size; i++) {
		if (i == 0 || strcmp(request_presets[i].group, request_presets[i - 1].group) != 0)
			len += (size_t)snprintf(to + len, size - len, "%s, ", request_presets[i].group);
	}
}

int request_list_check(const char *list, struct error *err)
{
	char groups[128] = "";

	for (const char *at = list; *at; at += *at == ',') {
		size_t len = strcspn(at, ",");

		if (!is_group(at, len)) {
			list_groups(groups, sizeof(groups));
			return error_set(err, EINVAL, "--requests: '%.*s' is not one of: %sauto", (int)len,
					 at, groups);
		}
		at += len;
	}
	return *list ? 0 : error_set(err, EINVAL, "--requests: the list is empty");
}

static int add_preset(struct request_wants *wants, const struct request_preset *preset, bool all_values,
		      struct function_want *wanted, unsigned *n, struct error *err)
{
	for (unsigned i = 0; preset->probes[i].function; i++) {
		char *name = wants->names[wants->n];

		if (wants->n == MAX_REQUEST_PROBES || *n == MAX_FUNCTIONS)
			return error_set(err, E2BIG, "--requests: more than %u functions are traced",
					 MAX_FUNCTIONS);
		snprintf(name, sizeof(wants->names[0]), "%s/%u%s", preset->name, i, all_values ? "+" : "");
		wants->n++;
		wanted[(*n)++] = (struct function_want){.text = name, .kind = FUNCTION_REQUEST};
	}
	return 0;
}

int request_wants_add(struct request_wants *wants, const char *list, bool all_values,
		      struct function_want wanted[MAX_FUNCTIONS], unsigned *n, struct error *err)
{
	int rc = request_list_check(list, err);

	for (unsigned i = 0; rc == 0 && i < request_preset_count; i++) {
		if (is_in_list(list, "auto") || is_in_list(list, request_presets[i].group))
			rc = add_preset(wants, &request_presets[i], all_values, wanted, n, err);
	}
	return rc;
}

const struct request_probe *request_wanted(const struct function_want *want,
					   const struct request_preset **preset, bool *all_values)
{
	const char *slash = want->kind == FUNCTION_REQUEST ? strchr(want->text, '/') : NULL;
	char name[32], *end;
	unsigned long index;

	if (!slash || (size_t)(slash - want->text) >= sizeof(name))
		return NULL;
	memcpy(name, want->text, (size_t)(slash - want->text));
	name[slash - want->text] = '\0';
	*preset = request_preset(name);
	index = strtoul(slash + 1, &end, 10);
	*all_values = *end == '+';
	if (!*preset || end == slash + 1 || index >= REQUEST_PROBES)
		return NULL;
	return (*preset)->probes[index].function ? &(*preset)->probes[index] : NULL;
}
