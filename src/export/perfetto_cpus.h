/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: tracks of the CPUs that a Go program's threads run on, if the trace records them
 * (src/annotate/cpu/cpus.c).
 */
#ifndef GOTRACE_EXPORT_PERFETTO_CPUS_H
#define GOTRACE_EXPORT_PERFETTO_CPUS_H

#include "export/perfetto_event.h"

/* Call when the thread's goroutine or CPU may have changed. Returns 0, -ENOMEM, or the sink's error. */
int pf_cpus_update(struct perfetto *px, uint32_t tid, uint64_t time);

#endif
