/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/functions.h"

#include <stdlib.h>

enum { MAX_FUNCTIONS = 4096 };

bool functions_learn(struct function_table *table, struct strtab *strings,
		     const struct log_function *function)
{
	uint32_t n = function->number + 1;

	if (function->number >= MAX_FUNCTIONS)
		return true;
	if (n > table->n) {
		struct watched_function *bigger = realloc(table->all, n * sizeof(*bigger));

		if (!bigger)
			return false;
		for (uint32_t i = table->n; i < n; i++)
			bigger[i] = (struct watched_function){0};
		table->all = bigger;
		table->n = n;
	}
	table->all[function->number] = (struct watched_function){
		.name = strtab_add(strings, (const char *)(function + 1), function->len),
		.kind = function->kind,
	};
	return true;
}

const struct watched_function *functions_find(const struct function_table *table, uint64_t number)
{
	return number < table->n && table->all[number].kind ? &table->all[number] : NULL;
}

void functions_learn_values(struct function_table *table, struct strtab *strings,
			    const struct log_values *values)
{
	const char *name = (const char *)(values + 1);
	struct watched_function *function;

	if (values->number >= table->n)
		return;
	function = &table->all[values->number];
	for (unsigned i = 0; i < values->n; i++) {
		size_t len = (uint8_t)*name++;

		function->labels[values->site == SITE_FUNCTION_END][i] = strtab_add(strings, name, len);
		name += len;
	}
}

const uint32_t *functions_labels(const struct function_table *table, uint64_t number, uint8_t site)
{
	static const uint32_t none[VALUES_MAX];
	const struct watched_function *function = functions_find(table, number);

	return function ? function->labels[site == SITE_FUNCTION_END] : none;
}
