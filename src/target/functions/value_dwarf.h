/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Makes rules for values from debug information. */
#ifndef GOTRACE_TARGET_FUNCTIONS_VALUE_DWARF_H
#define GOTRACE_TARGET_FUNCTIONS_VALUE_DWARF_H

#include "target/functions/call_facts.h"
#include "target/functions/value_list.h"

/*
 * Like values_plan(), but for one item and from debug information. Returns 0, -ENODATA if there is none for
 * this function, -ENOENT if the function has no such parameter, or -EINVAL.
 */
int value_plan_dwarf(const struct value_item *item, const struct call_facts *facts, struct value_rule *rule,
		     struct error *err);

#endif
