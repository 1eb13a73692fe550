/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/sites_functions.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/utf8.h"

static const char *kind_name(uint8_t kind)
{
	static const char *const names[] = {
		[VALUE_SIGNED] = "signed",    [VALUE_UNSIGNED] = "unsigned", [VALUE_BOOL] = "bool",
		[VALUE_FLOAT] = "float",      [VALUE_POINTER] = "pointer",   [VALUE_BYTES] = "bytes",
		[VALUE_GO_STRING] = "string", [VALUE_C_STRING] = "cstring",  [VALUE_CHARS] = "chars",
	};

	return kind < sizeof(names) / sizeof(names[0]) && names[kind] ? names[kind] : "other";
}

/* Prints a place in memory behind pointers as [[bx+16]+56]. */
static void sites_functions_print_place(const struct value_rule *rule)
{
	for (unsigned i = 0; i < rule->nsteps; i++)
		putchar('[');
	if (rule->place == VALUE_STACK)
		printf("stack");
	else
		printf("%s", function_place_name(rule->place));
	for (unsigned i = 0; i < rule->nsteps && i < VALUE_STEPS; i++)
		printf("%+d]", rule->offsets[i]);
	if (rule->kind == VALUE_GO_STRING && !rule->nsteps)
		printf(" length %s", function_place_name(rule->place2));
}

static void print_name(const struct function_plan *plan, uint32_t number)
{
	printf("%.*s ", (int)functions_shown_len(plan, number), functions_shown(&plan->wanted[number - 1]));
}

static bool is_number(uint8_t kind)
{
	return kind >= VALUE_SIGNED && kind <= VALUE_FLOAT;
}

static void print_values(const struct function_plan *plan, const struct function_values *values)
{
	for (uint32_t i = 0; i < values->rules.n; i++) {
		const struct value_rule *rule = &values->rules.rules[i];

		print_name(plan, values->number);
		printf("%s: %s", values->labels[i], kind_name(rule->kind));
		if (is_number(rule->kind))
			printf("%u", 8u * rule->size);
		printf(" ");
		sites_functions_print_place(rule);
		putchar('\n');
	}
}

static void sites_functions_print_probes(const struct function_plan *plan, const struct function_probes *list)
{
	for (unsigned i = 0; i < list->n; i++) {
		print_name(plan, FUNCTION_NUMBER(list->probes[i].cookie));
		printf("%s 0x%llx\n", list->site == SITE_FUNCTION_BEGIN ? "begin" : "end",
		       (unsigned long long)list->probes[i].offset);
	}
}

void sites_functions_print(const struct function_plan *plan)
{
	for (unsigned i = 0; i < plan->nlists; i++)
		sites_functions_print_probes(plan, &plan->lists[i]);
	for (unsigned i = 0; i < plan->nvalues; i++)
		print_values(plan, &plan->values[i]);
}

static int name_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int sites_names_print(struct function_list *list)
{
	size_t n = 0, lines = 0;
	char **names;

	for (size_t i = 0; i < list->len; i++)
		lines += list->text[i] == '\n';
	names = calloc(lines + 1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	for (char *at = list->text, *end;
	     lines && (end = memchr(at, '\n', list->len - (size_t)(at - list->text))); at = end + 1) {
		*end = '\0';
		names[n++] = at;
	}
	qsort(names, n, sizeof(*names), name_order);
	for (size_t i = 0; i < n; i++) {
		if (i && strcmp(names[i], names[i - 1]) == 0)
			continue;
		text_put(stdout, names[i]);
		putchar('\n');
	}
	free(names);
	return 0;
}
