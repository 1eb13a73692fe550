/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/symbol/inlined.h"

#include <errno.h>
#include <string.h>

#include "code/symbol/pcvalue.h"
#include "code/symbol/position.h"
#include "util/array.h"

/* Each name occurs once (cmd/link/internal/ld/pcln.go, generateFuncnametab). Returns 0 if it is absent. */
static uint32_t name_offset(const struct functab *tab, const char *name)
{
	const uint8_t *all = tab->names.data, *end = all + tab->names.size, *at = all;
	size_t size = strlen(name) + 1;

	while ((at = memmem(at, (size_t)(end - at), name, size))) {
		if (at > all && at[-1] == '\0' && (size_t)(at - all) <= UINT32_MAX)
			return (uint32_t)(at - all);
		at++;
	}
	return 0;
}

bool functab_has_name(const struct functab *tab, const char *name)
{
	return name_offset(tab, name) != 0;
}

struct inlined_search {
	const struct functab *tab;
	struct inlined_name *names;
	unsigned n;
	uint64_t budget;
	struct inlined_copies *copies; /* NULL: only `in` of the names is wanted */
	int error;
};

static void add_copy(struct inlined_search *search, unsigned name, size_t function)
{
	struct inlined_copies *copies = search->copies;

	for (size_t i = copies->n; i > 0 && copies->items[i - 1].function == function; i--) {
		if (copies->items[i - 1].name == name)
			return;
	}
	if (array_grow(&copies->items, &copies->capacity, copies->n + 1, sizeof(*copies->items)))
		search->error = -ENOMEM;
	else
		copies->items[copies->n++] = (struct inlined_copy){.name = name, .function = function};
}

static void take_inlined(struct inlined_search *search, uint32_t offset, size_t function, const char *in)
{
	for (unsigned i = 0; i < search->n; i++) {
		struct inlined_name *name = &search->names[i];

		if (name->offset != offset || strcmp(name->name, in) == 0)
			continue;
		if (!name->in)
			name->in = in;
		if (search->copies)
			add_copy(search, i, function);
	}
}

static void search_tree(struct inlined_search *search, size_t index, const struct function *func)
{
	const struct functab *tab = search->tab;
	const char *in = func->name ? span_string(&tab->names, func->name) : NULL;
	uint32_t table = function_pcdata(tab, func, tab->rules->pcdata_inline);
	int32_t last = in ? pcvalue_max(tab, func, table, &search->budget) : -1;
	struct inlined_call call;

	for (int32_t i = 0; i <= last && search->budget > 0; i++, search->budget--) {
		if (!function_inlined(tab, func, i, &call))
			return;
		if (call.name)
			take_inlined(search, call.name, index, in);
	}
}

static void search_trees(struct inlined_search *search)
{
	const struct functab *tab = search->tab;

	/* As in functab_gofunc_range(). */
	search->budget = (uint64_t)tab->source.pclntab_size * 16;
	for (unsigned i = 0; i < search->n; i++) {
		search->names[i].in = NULL;
		search->names[i].offset = name_offset(tab, search->names[i].name);
	}
	for (size_t i = 0; i < tab->count && tab->format->inline_size && search->budget > 0; i++) {
		struct function func;

		if (function_read(tab, i, &func) == 0)
			search_tree(search, i, &func);
	}
}

void functab_find_inlined(const struct functab *tab, struct inlined_name *names, unsigned n)
{
	struct inlined_search search = {.tab = tab, .names = names, .n = n};

	search_trees(&search);
}

int functab_list_copies(const struct functab *tab, struct inlined_name *names, unsigned n,
			struct inlined_copies *copies)
{
	struct inlined_search search = {.tab = tab, .names = names, .n = n, .copies = copies};

	search_trees(&search);
	return search.error ? search.error : search.budget ? 0 : -E2BIG;
}

unsigned functab_logical_frames(const struct functab *tab, uint64_t pc, struct logical_frame *frames,
				unsigned max)
{
	struct function func;
	size_t index;
	unsigned n = 0;
	bool inlined;

	if (tab->rules->tree_by_index || functab_lookup(tab, pc, &index) || function_read(tab, index, &func))
		return 0;
	do {
		struct logical_frame *frame = &frames[n++];
		struct inlined_call call;

		inlined = function_inlined(tab, &func, function_inline_index(tab, &func, pc), &call);
		frame->name = span_string(&tab->names, inlined ? call.name : func.name);
		frame->pc = pc;
		function_file_line(tab, &func, pc, &frame->line);
		if (!frame->name)
			return 0;
		pc = func.entry + (inlined ? call.parent : 0);
	} while (inlined && n < max);
	return inlined ? 0 : n;
}
