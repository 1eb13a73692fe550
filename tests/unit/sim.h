/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A small simulated Go scheduler. It makes the raw records that a real one would make, so that the model can
 * be tested on streams with known truth.
 */
#ifndef GOTRACE_TEST_SIM_H
#define GOTRACE_TEST_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"
#include "rawlog/rawlog.h"

enum { SIM_PS = 4, SIM_MS = 8, SIM_GS = 48 };

enum sim_status { SIM_NONE, SIM_IDLE_G, SIM_RUNNABLE, SIM_RUNNING, SIM_SYSCALL, SIM_WAITING };

enum { SIM_DEPTH = 6, SIM_TEXT = sizeof(struct raw_text) + 64 };

struct sim_region {
	uint64_t task, name;
	bool unnamed; /* StartRegion ran while the tracer was off */
};

struct sim_g {
	uint64_t ptr, goid;
	enum sim_status status;
	struct sim_region regions[SIM_DEPTH];
	unsigned nregions;
	bool assists; /* helps the garbage collector */
};

struct sim_m {
	uint32_t tid;
	int g, p;    /* indices, -1 = none */
	int oldp;    /* P with which it entered the system call */
	bool kernel; /* between sys_enter and sys_exit */
	uint32_t tick;
	bool sweeps; /* on its P, with its goroutine running */
};

struct sim {
	uint64_t random, now, next_goid, next_ptr;
	bool handoff; /* steals are shown as handoffp (<= 1.25), else as releaseP (1.26) */
	struct sim_g gs[SIM_GS];
	struct sim_m ms[SIM_MS];
	struct sim_ids {
		uint64_t next, end;
	} ids[SIM_PS];
	int p_holder[SIM_PS]; /* index of the M, -1 = idle */
	int stw;              /* index of the M that stopped the world, -1 = none */
	bool gc;              /* a cycle is running */
	struct raw_record *out;
	size_t n, capacity;
	size_t transitions; /* goroutine state changes made */
	uint64_t tasks;     /* number of the newest task */
};

void sim_init(struct sim *sim, uint64_t seed, bool handoff);
void sim_free(struct sim *sim);
uint64_t sim_random(struct sim *sim, uint64_t below);
/* Makes one step: usually one record, sometimes none. */
void sim_step(struct sim *sim);
void sim_marker(struct sim *sim, uint32_t number);
/*
 * Makes the LOG_TEXT of a record in a buffer of SIM_TEXT bytes. Returns its size, 0 if the record has no
 * text. The name is the letter n followed by the record's arg2, or by the task's number if it begins a task.
 */
size_t sim_text(const struct raw_record *rec, void *buffer);
/* Fills gs, ps and ms (SIM_GS, SIM_PS and SIM_MS entries) with the state that a snapshot would show. Returns
 * the number of goroutines. */
size_t sim_snapshot(const struct sim *sim, struct log_g *gs, struct log_p *ps, struct log_m *ms);

#endif
