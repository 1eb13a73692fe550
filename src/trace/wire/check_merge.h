/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the checker: merges the events of all threads of a generation into one order. */
#ifndef GOTRACE_TRACE_WIRE_CHECK_MERGE_H
#define GOTRACE_TRACE_WIRE_CHECK_MERGE_H

#include "trace/wire/order_state.h"

struct event_merge {
	int64_t last_time; /* of the last event; strictly increasing */
	int64_t first_time;
	bool any;
	uint64_t budget; /* remaining wait steps; at 0 the file is rejected as too disordered */
	const struct wire_visitor *visitor; /* NULL = none */
	int stopped;                        /* what the visitor returned */
};

/* Orders all events of the generation and passes them to the visitor. */
int merge_events(struct event_merge *merge, struct order *order, struct chunk *chunk, unsigned version,
		 struct fault *fault);

#endif
