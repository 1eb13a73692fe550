/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/functions/value_access.h"

#include <errno.h>
#include <stddef.h>

#include "code/isa/value_places.h"

enum {
	WORD = 8,
	FARTHEST = 1 << 28, /* largest offset of a field */
};

struct value_access access_begin(const struct value_location *location, const struct value_layout *layout,
				 const char *label)
{
	struct value_access access = {
		.location = location, .layout = layout, .in_parameter = true, .label = label};

	if (location->on_stack) {
		access.in_parameter = false;
		access.rule.place = VALUE_STACK;
		access.rule.nsteps = 1;
		access.rule.offsets[0] = location->stack;
	}
	return access;
}

int access_field(struct value_access *access, uint64_t offset, struct error *err)
{
	int32_t *last = access->rule.nsteps ? &access->rule.offsets[access->rule.nsteps - 1] : NULL;

	if (offset > FARTHEST || (last && *last > FARTHEST))
		return error_set(err, EINVAL, "%s: the field is too far from the struct's beginning",
				 access->label);
	if (access->in_parameter)
		access->offset += (uint32_t)offset;
	else if (last)
		*last += (int32_t)offset;
	return 0;
}

/* Finds the register that holds the part at this offset of the parameter. */
static int register_at(const struct value_access *access, uint32_t offset, int *place, struct error *err)
{
	const struct value_layout *layout = access->layout;

	for (unsigned i = 0; i < layout->nparts; i++) {
		if (layout->parts[i].offset != offset)
			continue;
		*place = access->location->places[i];
		if (*place == PLACE_NONE)
			return error_set(err, EINVAL,
					 "%s is in a floating-point register, which probes cannot read",
					 access->label);
		return 0;
	}
	return error_set(err, EINVAL, "%s shares a register with another field, or has none", access->label);
}

int access_pointer(struct value_access *access, struct error *err)
{
	struct value_rule *rule = &access->rule;
	int place = 0, rc;

	if (access->in_parameter) {
		rc = register_at(access, access->offset, &place, err);
		rule->place = (uint8_t)place;
		access->in_parameter = false;
		rule->nsteps = 1;
		return rc;
	}
	if (rule->nsteps == VALUE_STEPS)
		return error_set(err, EINVAL, "%s: more than %u pointers to follow", access->label,
				 VALUE_STEPS);
	rule->offsets[rule->nsteps++] = 0;
	return 0;
}

static bool is_in_memory_only(uint8_t kind)
{
	return kind == VALUE_CHARS || kind == VALUE_BYTES;
}

int access_end(struct value_access *access, uint8_t kind, uint8_t size, struct error *err)
{
	struct value_rule *rule = &access->rule;
	int place = 0, place2 = 0, rc;

	rule->kind = kind;
	rule->size = size;
	rule->max = VALUE_TEXT;
	if (!access->in_parameter)
		return 0;
	if (is_in_memory_only(kind))
		return error_set(err, EINVAL, "%s is in a register", access->label);
	rc = register_at(access, access->offset, &place, err);
	if (rc == 0 && kind == VALUE_GO_STRING)
		rc = register_at(access, access->offset + WORD, &place2, err);
	rule->place = (uint8_t)place;
	rule->place2 = (uint8_t)place2;
	return rc;
}
