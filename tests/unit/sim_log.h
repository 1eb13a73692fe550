/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The simulated scheduler's records as a log: target, snapshot, boundaries. */
#ifndef GOTRACE_TEST_SIM_LOG_H
#define GOTRACE_TEST_SIM_LOG_H

#include "rawlog/rawlog.h"
#include "sim.h"

struct sim_log {
	struct sim sim;
	size_t fed; /* records of the simulation that were handed on */
	log_sink sink;
	void *ctx;
	int failure;          /* the first error of the sink */
	unsigned lose;        /* so many records of a thousand are lost */
	struct log_loss lost; /* and not told of yet */
	uint64_t park_stack;  /* hash of the stack that whoever parks has; 0 = as simulated */
};

void sim_log_put(struct sim_log *log, uint32_t type, const void *data, size_t size);
void sim_log_target(struct sim_log *log);   /* of Go 1.26 */
void sim_log_records(struct sim_log *log);  /* what the simulation has made since */
void sim_log_snapshot(struct sim_log *log); /* with all records before */
void sim_log_boundary(struct sim_log *log); /* the same */
void sim_log_losses(struct sim_log *log);   /* if any: tells of them, and a snapshot */

#endif
