/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the room: what the kernel's BTF tells of the kernel. */
#ifndef GOTRACE_CAPTURE_KERNEL_H
#define GOTRACE_CAPTURE_KERNEL_H

#include <stdio.h>

#include "bpf/record.h"

#include "bpf/cpu_places.h"
#include "util/error.h"

/* Where sched_switch tells the state of who leaves (include/trace/events/sched.h). */
enum switch_form {
	SWITCH_NO_STATE,    /* up to Linux 5.15: (preempt, prev, next) */
	SWITCH_STATE_FIRST, /* 5.16 and 5.17: (preempt, prev_state, prev, next) */
	SWITCH_STATE_LAST,  /* from 5.18 on: (preempt, prev, next, prev_state) */
};

struct kernel_facts {
	enum switch_form switch_form;
	struct cpu_places cpu_places;
};

/* btf: a file to read them from; NULL = the kernel's own. */
int kernel_facts(const char *btf, struct kernel_facts *facts, struct error *err);

/* Pure: the same by the lines of /proc/kallsyms; what is not there stays as it was. NULL: nothing. */
void kernel_places_by_symbols(FILE *symbols, struct cpu_places *places);

/* One more than the highest number of a CPU that is there, switched on or not. */
uint32_t kernel_cpu_count(void);
/* Pure: the highest number in a list of the kernel's, "0-3,8"; 0 if there is none. */
uint32_t kernel_last_cpu(const char *list);

#endif
