/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/elf/cost.h"

bool native_cost_take(struct native_cost *cost, uint64_t bytes)
{
	if (!budget_take(cost->all, bytes)) {
		cost->refused = true;
		return false;
	}
	cost->taken += bytes;
	return true;
}

void native_cost_give(struct native_cost *cost, uint64_t bytes)
{
	budget_give(cost->all, bytes);
	cost->taken -= bytes;
}
