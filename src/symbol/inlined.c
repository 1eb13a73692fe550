/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "symbol/inlined.h"

#include <string.h>

#include "symbol/pcvalue.h"
#include "symbol/position.h"

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

static void note(struct inlined_name *names, unsigned n, uint32_t offset, const char *in)
{
	for (unsigned i = 0; i < n; i++) {
		if (!names[i].in && names[i].offset == offset && strcmp(names[i].name, in) != 0)
			names[i].in = in;
	}
}

static void search_tree(const struct functab *tab, const struct function *func, struct inlined_name *names,
			unsigned n, uint64_t *budget)
{
	const char *in = func->name ? span_string(&tab->names, func->name) : NULL;
	int32_t last =
		in ? pcvalue_max(tab, func, function_pcdata(tab, func, tab->rules->pcdata_inline), budget)
		   : -1;
	struct inlined_call call;

	for (int32_t i = 0; i <= last && *budget > 0; i++, (*budget)--) {
		if (!function_inlined(tab, func, i, &call))
			return;
		if (call.name)
			note(names, n, call.name, in);
	}
}

void functab_find_inlined(const struct functab *tab, struct inlined_name *names, unsigned n)
{
	/* As in functab_gofunc_range(). */
	uint64_t budget = (uint64_t)tab->source.pclntab_size * 16;

	for (unsigned i = 0; i < n; i++) {
		names[i].in = NULL;
		names[i].offset = name_offset(tab, names[i].name);
	}
	for (size_t i = 0; i < tab->count && tab->format->inline_size && budget > 0; i++) {
		struct function func;

		if (function_read(tab, i, &func) == 0)
			search_tree(tab, &func, names, n, &budget);
	}
}
