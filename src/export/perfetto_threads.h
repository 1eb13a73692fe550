/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: tracks of kernel threads. For a program traced as threads they show scheduling
 * states and system calls; for a Go program, what each thread runs and when it has no CPU.
 */
#ifndef GOTRACE_EXPORT_PERFETTO_THREADS_H
#define GOTRACE_EXPORT_PERFETTO_THREADS_H

#include "export/perfetto_event.h"

/* The kernel's name (comm) of a thread, in a program traced as threads. */
void pf_comm(const struct census *census, uint32_t serial, char comm[64]);
/* Each returns 0, -ENOMEM, or the sink's error. */
int pf_threads_change(struct perfetto *px, struct pf_goroutine *g, const struct tl_change *change);
/* Go programs: an interval without a CPU, which gotrace records as a region of the goroutine. */
int pf_threads_off_cpu(struct perfetto *px, const struct tl_range *range, uint32_t name, bool begins);
/* Go programs: the thread runs on this CPU, counted from 1, from now on. */
int pf_threads_move(struct perfetto *px, uint32_t tid, uint32_t cpu, uint64_t time);

#endif
