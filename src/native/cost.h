/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What reading a file's debug information has cost, and what it may still cost. */
#ifndef GOTRACE_NATIVE_COST_H
#define GOTRACE_NATIVE_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "util/budget.h"

struct native_cost {
	struct budget *all; /* shared by all files; its bytes are the limit */
	uint64_t taken;     /* part of these bytes */
	struct budget own;  /* this file's CPU time */
	bool refused;       /* something was left out for want of bytes or time */
};

/* Reserves bytes. False if there are not that many left; `refused` is then set. */
bool native_cost_take(struct native_cost *cost, uint64_t bytes);
void native_cost_give(struct native_cost *cost, uint64_t bytes);

#endif
