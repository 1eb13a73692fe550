/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* From the arguments that the user names to the rules by which a probe reads them. */
#ifndef GOTRACE_NATIVE_VALUE_PLAN_H
#define GOTRACE_NATIVE_VALUE_PLAN_H

#include "native/call_abi.h"
#include "native/functions.h"
#include "native/value_list.h"

struct native_dwarf;

/* What is known of a function. */
struct call_facts {
	struct call_abi abi;
	bool has_receiver; /* its first parameter is the receiver of a Go method */
	bool receiver_is_pointer;
	bool is_generic;            /* Go: the first word is a dictionary */
	bool is_closure;            /* Go: its name does not say of what kind it is */
	bool is_copy;               /* made by the compiler: it may take other arguments than the function */
	struct native_dwarf *dwarf; /* of its file; NULL: none */
	uint64_t entry, begin;      /* link-time addresses: of the function, of the probe */
	uint32_t written;           /* registers that the code in front of the probe changes, by number */
};

/* Fills in what a Go function's name says: whether it is a method, or generic. */
void call_facts_of_go(struct call_facts *facts, const char *name);

/*
 * Makes the rules of a list whose n is not 0. Returns 0; -EINVAL, with err saying which value cannot be read
 * and why; or -EAGAIN if it could be read at the function's first instruction, but not at the probe.
 */
int values_plan(const struct value_list *list, const struct call_facts *facts, struct function_values *values,
		struct error *err);

/* --- for the part that reads debug information --- */

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

/*
 * The same as values_plan() for one item, by debug information. Returns -ENODATA if there is none of this
 * function, and -ENOENT if the function has no such parameter.
 */
int value_plan_dwarf(const struct value_item *item, const struct call_facts *facts, struct value_rule *rule,
		     struct error *err);

#endif
