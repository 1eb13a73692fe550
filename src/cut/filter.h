/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the ops that are left when only some goroutines are shown. */
#ifndef GOTRACE_CUT_FILTER_H
#define GOTRACE_CUT_FILTER_H

#include "cut/cut.h"
#include "cut/state.h"

/*
 * Makes of an op what is left of it. False: nothing. What others do to those
 * that are shown is done by nobody; Ps and who holds them stay.
 */
bool cut_filter(const struct cut_options *options, const struct cut_state *state, const struct tables *tables,
		struct op *op);

#endif
