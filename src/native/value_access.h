/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The rule for a value, made step by step: from a parameter to a field, through pointers. */
#ifndef GOTRACE_NATIVE_VALUE_ACCESS_H
#define GOTRACE_NATIVE_VALUE_ACCESS_H

#include "bpf/record.h"
#include "native/call_abi.h"
#include "util/error.h"

/* A place that is being made from a parameter by its fields. */
struct value_access {
	const struct value_home *home;
	const struct value_layout *layout;
	uint32_t offset; /* in the parameter, while in_home */
	bool in_home;    /* else the rule's steps lead to it, and the last one can be increased */
	struct value_rule rule;
	const char *label; /* for messages */
};

struct value_access access_begin(const struct value_home *home, const struct value_layout *layout,
				 const char *label);
/* Goes to a field. -EINVAL if it is too far away. */
int access_field(struct value_access *access, uint64_t offset, struct error *err);
/* Follows the pointer at this place. */
int access_pointer(struct value_access *access, struct error *err);
/* Completes the rule: a number, a text, ... of this kind is here. */
int access_end(struct value_access *access, uint8_t kind, uint8_t size, struct error *err);

#endif
