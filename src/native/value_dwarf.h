/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Rules for values by debug information. */
#ifndef GOTRACE_NATIVE_VALUE_DWARF_H
#define GOTRACE_NATIVE_VALUE_DWARF_H

#include "native/call_facts.h"
#include "native/value_list.h"

/*
 * The same as values_plan() for one item, by debug information. Returns -ENODATA if there is none of this
 * function, and -ENOENT if the function has no such parameter.
 */
int value_plan_dwarf(const struct value_item *item, const struct call_facts *facts, struct value_rule *rule,
		     struct error *err);

#endif
