/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/copies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/code_rules.h"
#include "target/private.h"
#include "target/sites.h"

/* Functions that are not probed, but recognised by address (struct go_places). */
static const char *const extra[] = {
	"runtime.gopark",
	"runtime.(*mcentral).cacheSpan",
	"runtime.deductSweepCredit",
	/* whose code names variables (variables.c) */
	"runtime.allgadd",
	"runtime.preemptall",
	"runtime.mcommoninit",
};

static int copies_find_name(const struct copies *copies, const char *name)
{
	for (unsigned i = 0; i < copies->nnames; i++) {
		if (strcmp(copies->names[i].name, name) == 0)
			return (int)i;
	}
	return -1;
}

static void add_name(struct copies *copies, const char *name)
{
	if (copies_find_name(copies, name) < 0)
		copies->names[copies->nnames++].name = name;
}

int target_find_copies(struct target *target, struct error *err)
{
	const unsigned extras = sizeof(extra) / sizeof(extra[0]);
	struct copies *copies = &target->image->copies;
	int rc;

	if (target->go_minor < FIRST_PGO || copies->names)
		return 0;
	copies->names =
		calloc(site_rule_count + extras + code_rule_count + heap_rule_count, sizeof(*copies->names));
	if (!copies->names)
		return error_set(err, ENOMEM, "out of memory");
	for (unsigned i = 0; i < site_rule_count; i++) {
		if (target->go_minor >= site_rules[i].first && target->go_minor <= site_rules[i].last)
			add_name(copies, site_rules[i].function);
	}
	for (unsigned i = 0; i < extras; i++)
		add_name(copies, extra[i]);
	for (unsigned i = 0; i < code_rule_count; i++)
		add_name(copies, code_rules[i].function);
	for (unsigned i = 0; i < heap_rule_count; i++)
		add_name(copies, heap_rules[i].function);
	rc = functab_list_copies(target->functab, copies->names, copies->nnames, &copies->list);
	return rc ? error_set(err, -rc, "%s: cannot list the inlined calls of its function table: %s",
			      target->image->label, strerror(-rc))
		  : 0;
}

void copies_free(struct copies *copies)
{
	free(copies->names);
	free(copies->list.items);
	*copies = (struct copies){.nnames = 0};
}

struct copy_search copies_begin(const struct target *target, const char *function)
{
	const struct copies *copies = &target->image->copies;
	int name = copies_find_name(copies, function);

	return (struct copy_search){.name = (unsigned)name, .at = name < 0 ? copies->list.n : 0};
}

bool copies_next(const struct target *target, struct copy_search *search, uint64_t *entry, uint64_t *end,
		 const char **name)
{
	const struct inlined_copies *list = &target->image->copies.list;

	while (search->at < list->n) {
		const struct inlined_copy *copy = &list->items[search->at++];

		if (copy->name == search->name &&
		    functab_entry(target->functab, copy->function, entry, end, name) == 0)
			return true;
	}
	return false;
}

bool copies_exist(const struct target *target, const char *function)
{
	struct copy_search search = copies_begin(target, function);
	uint64_t entry, end;
	const char *name;

	return copies_next(target, &search, &entry, &end, &name);
}

int copies_find_code(const struct target *target, const char *function, const char *but, uint64_t *entry,
		     uint64_t *end)
{
	struct copy_search search = copies_begin(target, function);
	const char *name;

	if (target_find_function(target, function, entry, end) == 0)
		return 0;
	while (copies_next(target, &search, entry, end, &name)) {
		if (!but || strcmp(name, but) != 0)
			return 0;
	}
	return -ENOENT;
}

void target_logical_place(const struct target *target, uint64_t address, struct logical_place *place)
{
	place->n =
		functab_logical_frames(target->functab, address + target->bias, place->frames, MAX_LOGICAL);
}

int logical_index(const struct logical_place *place, const char *function)
{
	for (unsigned i = 0; i < place->n; i++) {
		if (strcmp(place->frames[i].name, function) == 0)
			return (int)i;
	}
	return -1;
}
