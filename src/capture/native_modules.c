/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/native_modules.h"

#include <stdlib.h>
#include <string.h>

void native_modules_free(struct native_modules *modules)
{
	while (modules->n)
		native_modules_drop(modules, modules->list[modules->n - 1]);
	free(modules->list);
	*modules = (struct native_modules){.n = 0};
}

struct native_module *native_modules_find(const struct native_modules *modules, const struct module_key *key)
{
	for (size_t i = 0; i < modules->n; i++) {
		if (!memcmp(&modules->list[i]->key, key, sizeof(*key)))
			return modules->list[i];
	}
	return NULL;
}

struct native_module *native_modules_add(struct native_modules *modules, const struct module_key *key)
{
	struct native_module *module;

	if (modules->n == NATIVE_MODULES_MAX && !native_modules_evict(modules, NULL))
		return NULL;
	if (!modules->list)
		modules->list = calloc(NATIVE_MODULES_MAX, sizeof(*modules->list));
	module = modules->list ? calloc(1, sizeof(*module)) : NULL;
	if (!module)
		return NULL;
	module->key = *key;
	module->used_at = ++modules->clock;
	modules->list[modules->n++] = module;
	return module;
}

void native_modules_drop(struct native_modules *modules, struct native_module *module)
{
	size_t at = 0;

	while (modules->list[at] != module)
		at++;
	modules->list[at] = modules->list[--modules->n];
	module_free(&module->code);
	free(module);
}

bool native_modules_evict(struct native_modules *modules, const struct native_module *but)
{
	struct native_module *oldest = NULL;

	for (size_t i = 0; i < modules->n; i++) {
		struct native_module *module = modules->list[i];

		if (!module->users && module != but && (!oldest || module->used_at < oldest->used_at))
			oldest = module;
	}
	if (oldest)
		native_modules_drop(modules, oldest);
	return oldest != NULL;
}

void native_modules_use(struct native_modules *modules, struct native_module *module)
{
	module->users++;
	module->used_at = ++modules->clock;
}

void native_modules_release(struct native_modules *modules, struct native_module *module)
{
	module->used_at = ++modules->clock;
	if (--module->users == 0)
		modules->releases++;
}

/* --- space in the arrays --- */

static int by_first(const void *a, const void *b)
{
	const struct native_extent *one = a, *two = b;

	return one->first < two->first ? -1 : one->first > two->first;
}

static size_t list_extents(const struct native_modules *modules, enum native_extents which,
			   struct native_extent *extents)
{
	size_t n = 0;

	for (size_t i = 0; i < modules->n; i++) {
		const struct native_module *module = modules->list[i];

		if (module->placed)
			extents[n++] = which == NATIVE_ROWS ? module->rows : module->pages;
	}
	qsort(extents, n, sizeof(*extents), by_first);
	return n;
}

uint32_t native_modules_gap(const struct native_modules *modules, enum native_extents which, uint32_t n,
			    uint32_t limit)
{
	struct native_extent extents[NATIVE_MODULES_MAX];
	size_t nextents = list_extents(modules, which, extents);
	uint32_t at = 0;

	for (size_t i = 0; i < nextents; i++) {
		if (extents[i].first - at >= n)
			return at;
		at = extents[i].first + extents[i].n;
	}
	return limit >= at && limit - at >= n ? at : UINT32_MAX;
}
