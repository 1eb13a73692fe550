/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: tracks of the CPUs that a Go program's threads run on, if the trace says so
 * (src/model/cpus.h).
 */
#ifndef GOTRACE_EXPORT_PERFETTO_CPUS_H
#define GOTRACE_EXPORT_PERFETTO_CPUS_H

#include "export/perfetto_event.h"

/* The goroutine of this thread, or its CPU, or whether it has one, may have changed. 0, -ENOMEM, or what the
 * sink says. */
int pf_cpus_update(struct perfetto *px, uint32_t tid, uint64_t time);

#endif
