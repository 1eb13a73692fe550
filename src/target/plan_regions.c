/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The probes of trace.StartRegion, and of every end of a region in the program. */
#include <errno.h>

#include "bpf/record.h"
#include "code/isa/regions.h"
#include "target/planner.h"

/*
 * Omits StartRegion from the plan: regions without an end, or ends without a beginning, would be worse than
 * none.
 */
static int leave_regions_out(struct planner *planner, unsigned n, const char *why)
{
	struct probe_plan *plan = planner->plan;

	plan->n = n;
	plan->task_key_type = plan->task_type = 0;
	planner_leave_out(planner, "regions of trace.StartRegion", why);
	return 0;
}

/* Adds a region's end at an address in any function. */
static int add_region_end(struct planner *planner, uint64_t address)
{
	const struct target *target = planner->target;
	struct site_rule rule = {.site = SITE_REGION_STOP};
	struct code code;
	uint64_t entry, end;
	size_t index;

	if (functab_lookup(target->functab, address + target->bias, &index) ||
	    functab_entry(target->functab, index, &entry, &end, &rule.function) ||
	    target_code_at(target, entry, end, &code))
		return -ENOENT;
	return planner_add(planner, &rule, &code, (size_t)(address - code.address), NULL);
}

static int find_region_ends(struct planner *planner, const struct code *text, const struct code *start,
			    uint64_t noop, unsigned before)
{
	size_t at = 0, use, jump;
	enum region_use kind;
	int rc = 0;

	while (rc == 0 && (kind = region_next_use(text, noop, &at, &use, &jump)) != REGION_USE_NONE) {
		uint64_t address = text->address + use;

		if (kind == REGION_USE_OTHER && address - start->address >= start->size)
			return leave_regions_out(planner, before,
						 "a call of it was inlined, or compiled in an unusual way "
						 "(PGO, -asan, -msan)");
		if (kind == REGION_USE_END && planner->plan->n == MAX_PROBES)
			return leave_regions_out(planner, before, "it is used in too many places");
		if (kind == REGION_USE_END)
			rc = add_region_end(planner, text->address + jump);
	}
	return rc == -ENOENT ? leave_regions_out(planner, before, "one of its ends is in no function") : rc;
}

/*
 * Finds all copies of (*Region).End in the program, inlined or not. Reads all code for this and releases it
 * afterwards.
 */
static int plan_region_ends(struct planner *planner, const struct code *start, uint64_t noop, unsigned before)
{
	struct target_image *image = planner->target->image;
	struct code text = {.address = image->module.text,
			    .size = image->module.etext - image->module.text,
			    .arm64 = image->elf.arm64};
	uint64_t offset;
	int rc;

	text.bytes = image_bytes(&image->elf, text.address, text.size);
	if (!text.bytes || !image_code_offset(&image->elf, text.address, &offset))
		return leave_regions_out(planner, before, "the code is not contiguous");
	if (load_all_code(&image->file))
		return leave_regions_out(planner, before, "the code cannot be read");
	rc = find_region_ends(planner, &text, start, noop, before);
	load_drop(&image->file, offset, text.size);
	return rc;
}

int plan_regions(struct planner *planner, const struct site_rule *rule, const struct code *code)
{
	unsigned before = planner->plan->n;
	struct start_region start;
	int rc;

	if (region_start_code(code, &start) || start.equal_is_on != (planner->target->go_minor <= 18))
		return leave_regions_out(planner, before, "it was compiled in an unusual way");
	rc = planner_add(planner, rule, code, start.jump, NULL);
	if (rc)
		return rc;
	planner->plan->task_key_type = start.task_key_type;
	planner->plan->task_type = start.task_type;
	planner->plan->region_flag_register = start.flag_register;
	return plan_region_ends(planner, code, start.noop, before);
}
