/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Arbitrary bytes as a file with debug information, from which rules for function arguments are made. The
 * first byte selects the language. The privileged side must accept every resulting rule.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "target/functions/value_debug.h"
#include "target/functions/value_plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUNCTIONS = 16 };

static const char *const lists[] = {
	"f(arg1, arg2, arg3, recv)",
	"f(id, name, flag, big)",
	"f(a=req->n, b=req->url->path, c=last)",
	"f(a=req.url.scheme, arg9)",
	"f(_=arg1:int, b=arg2:string)",
	"f(a=this->sum, b=arg1.id, c=arg1.customer)",
	"f(a=arg1:len, b=arg2:ptr)",
	"f(a=arg1.next.next.next.next)",
};

static void check_rule(const struct value_rule *rule)
{
	if (rule->kind < VALUE_SIGNED || rule->kind > VALUE_CHARS || rule->nsteps > VALUE_STEPS ||
	    rule->max > VALUE_TEXTS_MAX || (rule->place >= VALUE_REGS && rule->place != VALUE_STACK) ||
	    rule->place2 >= VALUE_REGS)
		abort();
	if (rule->size != 1 && rule->size != 2 && rule->size != 4 && rule->size != 8)
		abort();
}

static void plan(const struct call_facts *facts, const char *text)
{
	struct function_values values = {.number = 1};
	struct value_list list;
	struct error err = {""};

	if (value_list_parse(text, &list, &err))
		abort(); /* these lists are well-formed */
	if (list.n == 0 || values_plan(&list, facts, &values, &err))
		return;
	for (uint32_t i = 0; i < values.rules.n; i++)
		check_rule(&values.rules.rules[i]);
}

static void plan_all(const struct native_elf *file, struct native_dwarf *dwarf, uint8_t choice)
{
	struct native_symbols symbols = {.n = 0};

	native_symbols_add(&symbols, file);
	for (size_t i = 0; i < symbols.n && i < FUNCTIONS; i++) {
		struct call_facts facts = {
			.abi = {.go = choice & 1, .go_minor = choice & 2 ? 26 : 16, .arm64 = choice & 4},
			.has_receiver = choice & 8,
			.is_generic = choice & 16,
			.is_copy = choice & 32,
			.dwarf = dwarf,
			.entry = symbols.list[i].address,
			.begin = symbols.list[i].address,
		};

		for (size_t j = 0; j < sizeof(lists) / sizeof(lists[0]); j++)
			plan(&facts, lists[j]);
	}
	native_symbols_free(&symbols);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct value_debug debug = {.opened = false};
	struct native_elf file;
	struct native_dwarf *dwarf;
	void *copy;

	if (size < 2)
		return 0;
	copy = malloc(size - 1);
	if (!copy)
		return 0;
	memcpy(copy, data + 1, size - 1);
	if (native_elf_memory(&file, copy, size - 1) == 0) {
		dwarf = value_debug_open(&debug, &file, NULL, NULL);
		if (dwarf)
			plan_all(&file, dwarf, data[0]);
		value_debug_close(&debug);
		native_elf_close(&file);
	}
	free(copy);
	return 0;
}
