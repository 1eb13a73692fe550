/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: the tables whose rows are sums over a trace, `wait`, `latency`, `label` and
 * `offcpu`. Memory is bounded by their rows.
 */
#ifndef GOTRACE_EXPORT_PARQUET_SUMS_H
#define GOTRACE_EXPORT_PARQUET_SUMS_H

#include "export/parquet/lives.h"
#include "export/parquet/rows.h"

struct wait_sum {
	uint8_t state;
	uint32_t reason, stack;
	uint64_t n, sum, max, max_at, cut_n, cut;
};

struct latency_sum {
	uint8_t state;
	uint32_t reason, bucket;
	uint64_t n, sum;
};

struct label_sum {
	uint32_t key, value;
	uint64_t n, sum;
	struct spent_times spent;
};

struct off_cpu_sum {
	uint32_t cause, func, goroutine;
	uint64_t n, sum, max;
};

struct lake_sums {
	struct lake_rows *rows;
	struct lake_lives *lives;
	struct wait_sum *waits;
	struct latency_sum *latencies;
	struct label_sum *labels;
	struct off_cpu_sum *off_cpu;
	size_t nwaits, nlatencies, nlabels, noff_cpu;
	size_t wait_capacity, latency_capacity, label_capacity, off_cpu_capacity;
	struct map64 wait_of, latency_of, label_of, off_cpu_of;
	struct map64 pair_of; /* of two strings: a number for both */
	uint64_t throttled_ns;
};

void sums_init(struct lake_sums *sums, struct lake_rows *rows, struct lake_lives *lives);
void sums_free(struct lake_sums *sums);
/* An interval of a goroutine; whole: both its beginning and its end are in the trace. */
int sums_interval(struct lake_sums *sums, const struct long_wait *interval, bool whole);
/* The goroutine's labels change. Call before the lake's life of the goroutine changes. */
int sums_labels(struct lake_sums *sums, struct lake_life *life, const struct tl_labels *labels);
/* The goroutine ends, or the trace. */
int sums_end_labels(struct lake_sums *sums, struct lake_life *life, uint64_t time);
/* A region without a CPU. reason: as off_cpu_region_reason() returns it. */
int sums_off_cpu(struct lake_sums *sums, const struct tl_range *range, const char *reason);
int sums_finish(struct lake_sums *sums);

#endif
