/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the tables `request` and `request_wait`. A request is a task of the trace. */
#ifndef GOTRACE_EXPORT_PARQUET_REQUESTS_H
#define GOTRACE_EXPORT_PARQUET_REQUESTS_H

#include "export/parquet/lives.h"
#include "export/parquet/rows.h"

enum { LONG_WAIT_NS = 1000000 };

/* An open request. Strings are the lake's. */
struct lake_request {
	uint32_t range; /* id of the task's range; 0 = a free slot */
	uint32_t next;  /* the next free slot */
	uint32_t serial;
	uint32_t name, status, otel_trace, otel_span;
	bool failed, has_outcome;
	struct spent_times before; /* its goroutine's time when it began */
	size_t waits;              /* number of its goroutine's long waits then */
};

struct lake_requests {
	struct lake_rows *rows;
	struct lake_lives *lives;
	struct lake_request *all; /* [0] = none */
	size_t n, capacity;
	uint32_t unused;
	struct map64 by_range, by_task;
};

int lake_requests_init(struct lake_requests *requests, struct lake_rows *rows, struct lake_lives *lives);
void lake_requests_free(struct lake_requests *requests);
/* Each returns 0, -ENOMEM, or the sink's error. */
int lake_requests_begin(struct lake_requests *requests, const struct tl_range *range);
int lake_requests_end(struct lake_requests *requests, const struct tl_range *range);
/* A log of the task: its outcome, or its ids of OpenTelemetry (docs/requests.md). */
int lake_requests_log_event(struct lake_requests *requests, const struct op *op);
/* An interval of the goroutine that ends. */
int lake_requests_interval(struct lake_life *life, const struct long_wait *wait);

#endif
