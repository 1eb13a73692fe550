/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/plugins.h"

#include <errno.h>

#include "target/private.h"

int plugins_list(uint64_t address, uint32_t next, plugin_read_word read, void *ctx, uint64_t *modules,
		 unsigned max)
{
	unsigned n = 0;

	for (;;) {
		uint64_t found;
		int rc = read(ctx, address + next, &found);

		if (rc || !found)
			return rc ? rc : (int)n;
		/* Data of a mapped file, which cannot be before its first page. */
		if (found % sizeof(found) || found < 4096)
			return -EBADMSG;
		for (unsigned i = 0; i < n; i++) {
			if (modules[i] == found)
				return -EBADMSG;
		}
		if (n == max)
			return -E2BIG;
		modules[n++] = address = found;
	}
}

static bool plugins_lies_in(uint64_t pc, const struct place_range *range)
{
	return pc >= range->begin && pc < range->end;
}

const struct target *plugins_owner(const struct target *target, uint64_t pc)
{
	const struct plugins *plugins = &target->image->plugins;

	for (unsigned i = 0; i < plugins->n; i++) {
		if (plugins_lies_in(pc, &plugins->places[i].text))
			return plugins->all[i];
	}
	return target;
}

bool plugins_have(const struct target *target, enum plugin_copy which, uint64_t pc)
{
	const struct plugins *plugins = &target->image->plugins;

	for (unsigned i = 0; i < plugins->n; i++) {
		if (plugins_lies_in(pc, &plugins->places[i].copies[which]))
			return true;
	}
	return false;
}
