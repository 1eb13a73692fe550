/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: feature probes. Each adds its own line, and sets the choices that follow from it. */
#ifndef GOTRACE_CAPTURE_FEATURES_PROBES_H
#define GOTRACE_CAPTURE_FEATURES_PROBES_H

#include "capture/features.h"

/* features_system.c: by reading files. */
void probe_kernel(struct features *features);
void probe_privileges(struct features *features, const char *root);
void probe_btf(struct features *features, const char *root, const char *file);
void probe_lockdown(struct features *features, const char *root);
void probe_paranoid(struct features *features, const char *root);
void probe_unprivileged_bpf(struct features *features, const char *root);
void probe_tracefs(struct features *features, const char *root);
void probe_proc(struct features *features, const char *root);
void probe_clock(struct features *features, const char *root);
void probe_clock_skew(struct features *features);
void probe_yama(struct features *features, const char *root);
void probe_priority(struct features *features);

/* features_bpf.c: by trying bpf(2). */
void probe_bpf(struct features *features, const char *root);
void probe_memlock(struct features *features, const char *root);
void probe_ring_buffer(struct features *features, const char *root);
void probe_kernel_reads(struct features *features);
void probe_loops(struct features *features);
void probe_tracepoints(struct features *features, bool thorough);
void probe_preempted_calls(struct features *features);
void probe_task_pointers(struct features *features);
void probe_exchange(struct features *features);
void probe_cookies(struct features *features);
void probe_register_writes(struct features *features);
void probe_thread_list(struct features *features);

/* features_perf.c: by opening probes and clocks. */
void probe_uprobes(struct features *features, const char *root);
void probe_samples(struct features *features, const char *root);

#endif
