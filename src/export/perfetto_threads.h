/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: tracks of the kernel's threads. Of a program that is seen as threads they have
 * scheduling states and system calls; of a Go program what each thread runs, and when it has no CPU.
 */
#ifndef GOTRACE_EXPORT_PERFETTO_THREADS_H
#define GOTRACE_EXPORT_PERFETTO_THREADS_H

#include "export/perfetto_event.h"

/* The name that the kernel has for a thread, of a program that is seen as threads. */
void pf_comm(const struct census *census, uint32_t serial, char comm[64]);
/* Each returns 0, -ENOMEM, or what the sink says. */
int pf_threads_change(struct perfetto *px, struct pf_goroutine *g, const struct tl_change *change);
/* Of a Go program: an interval without a CPU, which gotrace writes as a region of the goroutine. */
int pf_threads_off_cpu(struct perfetto *px, const struct tl_range *range, uint32_t name, bool begins);
/* Of a Go program: a thread runs on this CPU, counted from 1, from now on. */
int pf_threads_move(struct perfetto *px, uint32_t tid, uint32_t cpu, uint64_t time);

#endif
