/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory and CPU time that reading a file's debug information has used, and may still use. */
#ifndef GOTRACE_CODE_ELF_COST_H
#define GOTRACE_CODE_ELF_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "util/budget.h"

struct native_cost {
	struct budget *all; /* shared by all files; its bytes are the limit */
	uint64_t taken;     /* bytes taken from `all` by this file */
	struct budget own;  /* this file's CPU time */
	bool refused;       /* something was left out because a limit was reached */
};

/* Reserves bytes. If fewer are left, sets `refused` and returns false. */
bool native_cost_take(struct native_cost *cost, uint64_t bytes);
void native_cost_give(struct native_cost *cost, uint64_t bytes);

#endif
