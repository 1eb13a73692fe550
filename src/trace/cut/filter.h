/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: filters ops so that only some goroutines are shown. */
#ifndef GOTRACE_TRACE_CUT_FILTER_H
#define GOTRACE_TRACE_CUT_FILTER_H

#include "trace/cut/cut.h"
#include "trace/cut/state.h"

/*
 * Reduces *op to what is shown. Returns false if nothing is left. Actions of hidden goroutines on shown ones
 * have no acting goroutine; Ps and their threads are kept.
 */
bool cut_filter(const struct cut_options *options, const struct cut_state *state, const struct tables *tables,
		struct op *op);

#endif
