/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Builds the rule for a value step by step: from a parameter, through pointers, to a field. */
#ifndef GOTRACE_TARGET_FUNCTIONS_VALUE_ACCESS_H
#define GOTRACE_TARGET_FUNCTIONS_VALUE_ACCESS_H

#include "bpf/record.h"
#include "target/functions/call_abi.h"
#include "util/error.h"

/* A rule under construction. */
struct value_access {
	const struct value_location *location;
	const struct value_layout *layout;
	uint32_t offset;   /* in the parameter, while in_parameter */
	bool in_parameter; /* else the rule leads to the value, and its last offset can still grow */
	struct value_rule rule;
	const char *label; /* for messages */
};

struct value_access access_begin(const struct value_location *location, const struct value_layout *layout,
				 const char *label);
/* Moves to a field, `offset` bytes further. Returns 0, or -EINVAL if it is too far away. */
int access_field(struct value_access *access, uint64_t offset, struct error *err);
/* Follows the pointer at this place. Returns 0 or -EINVAL. */
int access_pointer(struct value_access *access, struct error *err);
/* Completes the rule: a value of this kind and size is here. Returns 0 or -EINVAL. */
int access_end(struct value_access *access, uint8_t kind, uint8_t size, struct error *err);

#endif
