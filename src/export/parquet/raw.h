/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the tables with a row per interval and event, as in the SQLite database. */
#ifndef GOTRACE_EXPORT_PARQUET_RAW_H
#define GOTRACE_EXPORT_PARQUET_RAW_H

#include "export/parquet/lives.h"
#include "export/parquet/rows.h"

/* An interval of a goroutine. Strings and stacks are the lake's. */
struct raw_state {
	uint64_t since, until;
	uint32_t serial, reason, stack, lock, m;
	int32_t p;
	uint8_t state;
	bool begins, ends;
};

struct raw_tables {
	struct lake_rows *rows; /* NULL: these tables are not wanted */
	struct raw_state *states;
	uint32_t *order, *first; /* scratch: of the states; by serial */
	size_t nstates;
};

int raw_init(struct raw_tables *raw, struct lake_rows *rows);
void raw_free(struct raw_tables *raw);
/* Each returns 0, -ENOMEM, or the sink's error. */
int raw_state(struct raw_tables *raw, const struct raw_state *state);
int raw_wakeup(struct raw_tables *raw, const struct tl_change *change, uint32_t stack);
int raw_goroutine(struct raw_tables *raw, const struct tl_change *change, uint32_t entry);
int raw_range(struct raw_tables *raw, const struct tl_range *range);
int raw_event(struct raw_tables *raw, const struct op *op, const struct tl_goroutine *g);
int raw_finish(struct raw_tables *raw);

#endif
