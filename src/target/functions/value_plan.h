/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Turns the arguments that the user names into the rules by which a probe reads them. */
#ifndef GOTRACE_TARGET_FUNCTIONS_VALUE_PLAN_H
#define GOTRACE_TARGET_FUNCTIONS_VALUE_PLAN_H

#include "target/functions/call_facts.h"
#include "target/functions/functions.h"
#include "target/functions/value_list.h"

/*
 * Makes the rules of a list that is not empty. Returns 0; -EINVAL or -ENOENT, with the value and the reason
 * in err, if a value cannot be read; or -EAGAIN if it could be read at the function's first instruction, but
 * not at the probe.
 */
int values_plan(const struct value_list *list, const struct call_facts *facts, struct function_values *values,
		struct error *err);

/* --- value_dwarf.c: makes rules for values from debug information --- */

/*
 * Like values_plan(), but for one item and from debug information. Returns 0, -ENODATA if there is none for
 * this function, -ENOENT if the function has no such parameter, or -EINVAL.
 */
int value_plan_dwarf(const struct value_item *item, const struct call_facts *facts, struct value_rule *rule,
		     struct error *err);

#endif
