/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The CPUs that the threads of a Go program run on (--cpus). */
#ifndef GOTRACE_MODEL_CPUS_H
#define GOTRACE_MODEL_CPUS_H

#include "model/state.h"

/*
 * Writes logs of CPU_LOG_CATEGORY. The message is a CPU number: the log's thread runs on that CPU from then
 * on. A log belongs to the goroutine that runs on the thread at that time, or to the next one. Each
 * generation has one for each thread that runs goroutines. Call after off_cpu_close().
 */
void cpus_close(struct model *md);

#endif
