/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: facts from the kernel's BTF. */
#ifndef GOTRACE_CAPTURE_KERNEL_H
#define GOTRACE_CAPTURE_KERNEL_H

#include <stdbool.h>
#include <stdio.h>

#include "bpf/record.h"

#include "bpf/cpu_places.h"
#include "util/error.h"

/* The position of the leaving thread's state among sched_switch's arguments
 * (include/trace/events/sched.h). */
enum switch_form {
	SWITCH_NO_STATE,    /* up to Linux 5.15: (preempt, prev, next) */
	SWITCH_STATE_FIRST, /* 5.16 and 5.17: (preempt, prev_state, prev, next) */
	SWITCH_STATE_LAST,  /* from 5.18 on: (preempt, prev, next, prev_state) */
};

struct kernel_facts {
	enum switch_form switch_form;
	struct cpu_places cpu_places;
};

/* Reads the facts from file `btf`, or from the kernel's own BTF if NULL. Returns 0 or a negative errno. */
int kernel_facts(const char *btf, struct kernel_facts *facts, struct error *err);
/* Finds the form alone. Reads BTF, which takes 20 ms and more, only where the kernel's release does not say
 * it. Returns 0 or a negative errno. */
int kernel_switch_form(const char *btf, enum switch_form *form, struct error *err);
/* Pure: returns true if a kernel with this release (uname -r) has SWITCH_STATE_LAST for certain. */
bool kernel_has_last_switch_form(const char *release);

/* Pure: takes the places from the lines of /proc/kallsyms. Places that are not found stay unchanged. symbols
 * may be NULL. */
void kernel_places_by_symbols(FILE *symbols, struct cpu_places *places);

/* Returns the highest number of a present CPU, online or not, plus 1. */
uint32_t kernel_cpu_count(void);
/* Pure: returns the highest number in a CPU list of the kernel, "0-3,8"; 0 if the list is empty. */
uint32_t kernel_last_cpu(const char *list);

#endif
