/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "annotate/requests/kinds.h"

#include <stdio.h>
#include <string.h>

#include "util/array.h"

enum { MAX_FUNCTIONS = 4096 };

static const struct preset_kind kinds[] = {
	{.name = "http.server", .other = "(other paths)", .one_per_goroutine = true, .implicit_200 = true},
	{.name = "http.client", .first = "client", .other = "(other paths)"},
	{.name = "http.transport", .first = "client", .other = "(other paths)", .part_of = {"http.client"}},
	{.name = "grpc.server", .other = "(other methods)", .one_per_goroutine = true},
	{.name = "grpc.client", .first = "client", .other = "(other methods)", .newest = true},
	{.name = "redis.command", .first = "redis", .other = "(other commands)", .unnamed = "pipeline"},
	{.name = "otel.span", .first = "span", .other = "(other spans)"},
	{.name = "sql.query", .other = OTHER_STATEMENTS, .statement = true},
	{.name = "sql.exec", .other = OTHER_STATEMENTS, .statement = true},
	{.name = "pgx.query",
	 .other = OTHER_STATEMENTS,
	 .part_of = {"sql.query", "sql.exec"},
	 .statement = true},
	{.name = "pgx.exec",
	 .other = OTHER_STATEMENTS,
	 .part_of = {"sql.query", "sql.exec"},
	 .statement = true},
};

static const struct preset_kind unknown = {.other = "(others)"};

static const struct preset_kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	}
	return &unknown;
}

static const char *const role_names[ROLES] = {
	[ROLE_KEY] = "key",       [ROLE_KEYS] = "keys",         [ROLE_DONE] = "done",
	[ROLE_FAILED] = "failed", [ROLE_METHOD] = "method",     [ROLE_PATH] = "path",
	[ROLE_HOST] = "host",     [ROLE_QUERY] = "query",       [ROLE_ROUTE] = "route",
	[ROLE_STATUS] = "status", [ROLE_SUBROUTE] = "subroute", [ROLE_CODE] = "code",
	[ROLE_ERROR] = "error",   [ROLE_TRACE] = "trace",       [ROLE_TRACE2] = "trace2",
	[ROLE_ROWS] = "rows",     [ROLE_PREPARED] = "prepared", [ROLE_MATCHED] = "matched",
};

/* types: set if the name has them. */
static enum request_role find_role(const char *name, unsigned types[2])
{
	unsigned wanted[2];

	for (int role = ROLE_KEY; role < ROLES; role++) {
		if (role_names[role] && strcmp(role_names[role], name) == 0)
			return (enum request_role)role;
	}
	if (sscanf(name, "type=%8x,%8x", &wanted[0], &wanted[1]) != 2)
		return ROLE_NONE;
	memcpy(types, wanted, sizeof(wanted));
	return ROLE_TYPE;
}

bool request_functions_learn(struct request_functions *functions, struct strtab *strings,
			     const struct log_function *function)
{
	uint32_t preset;

	if (function->kind != FUNCTION_REQUEST && function->number < functions->n)
		functions->all[function->number].kind = NULL;
	if (function->kind != FUNCTION_REQUEST || function->number >= MAX_FUNCTIONS)
		return true;
	if (array_grow(&functions->all, &functions->n, function->number + (size_t)1, sizeof(*functions->all)))
		return false;
	preset = strtab_add(strings, (const char *)(function + 1), function->len);
	functions->all[function->number] = (struct request_function){
		.kind = find_kind(strtab_get(strings, preset, NULL)),
		.preset = preset,
	};
	return true;
}

void request_functions_learn_values(struct request_functions *functions, const struct log_values *values)
{
	const char *name = (const char *)(values + 1);
	struct request_function *function;

	if (values->number >= functions->n || values->site == SITE_FUNCTION_END)
		return;
	function = &functions->all[values->number];
	for (unsigned i = 0; i < values->n; i++) {
		size_t len = (uint8_t)*name++;
		char role[VALUE_LABEL_MAX];

		snprintf(role, sizeof(role), "%.*s", (int)len, name);
		function->roles[i] = (uint8_t)find_role(role, function->types);
		name += len;
	}
}

const struct request_function *request_functions_find(const struct request_functions *functions,
						      uint64_t number)
{
	return number < functions->n && functions->all[number].kind ? &functions->all[number] : NULL;
}
