/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The records of the simulated scheduler as a log: target, snapshot, boundaries. */
#ifndef GOTRACE_TEST_SIM_LOG_H
#define GOTRACE_TEST_SIM_LOG_H

#include "rawlog/rawlog.h"
#include "sim.h"

struct sim_log {
	struct sim sim;
	size_t fed; /* number of simulated records passed on */
	log_sink sink;
	void *ctx;
	int failure;          /* the first error of the sink */
	unsigned lose;        /* number of records in a thousand to lose */
	struct log_loss lost; /* not reported yet */
	uint64_t park_stack;  /* hash of the stack of goroutines that park; 0 = as simulated */
};

void sim_log_put(struct sim_log *log, uint32_t type, const void *data, size_t size);
void sim_log_target(struct sim_log *log);   /* of Go 1.26 */
void sim_log_records(struct sim_log *log);  /* passes on what the simulation has made since the last call */
void sim_log_snapshot(struct sim_log *log); /* after all earlier records */
void sim_log_boundary(struct sim_log *log); /* after all earlier records */
void sim_log_losses(struct sim_log *log);   /* if any: reports them, and takes a snapshot */

#endif
