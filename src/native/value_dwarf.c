/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>

#include "native/value_plan.h"

int value_plan_dwarf(const struct value_item *item, const struct call_facts *facts, struct value_rule *rule,
		     struct error *err)
{
	(void)item, (void)facts, (void)rule, (void)err;
	return -ENODATA;
}
