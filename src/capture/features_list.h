/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the probes of features: each adds its own line, and sets which way to go. */
#ifndef GOTRACE_CAPTURE_FEATURES_LIST_H
#define GOTRACE_CAPTURE_FEATURES_LIST_H

#include <stddef.h>

#include "capture/features.h"

/* A new entry, to be filled in; it says "here" until it is told otherwise. Never NULL. */
struct feature *feature_add(struct features *features, const char *name);
void feature_here(struct feature *feature, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void feature_replaced(struct feature *feature, const char *found, const char *cost, const char *advice);
void feature_missing(struct feature *feature, unsigned needs, const char *found, const char *cost,
		     const char *advice);

/* The first line of a file below root; false if there is none. */
bool feature_read(const char *root, const char *path, char *text, size_t size);
/* Whether this process has a capability (linux/capability.h), by root/proc/self/status. */
bool feature_capable(const char *root, unsigned bit);
/* Why a system call may have been refused with this errno: a capability that is missing, a seccomp filter,
 * ... */
void feature_why_refused(const char *root, int error, const char *capabilities, char *text, size_t size);

/* features_system.c: by files. */
void probe_kernel(struct features *features);
void probe_privileges(struct features *features, const char *root);
void probe_btf(struct features *features, const char *root, const char *file);
void probe_lockdown(struct features *features, const char *root);
void probe_paranoid(struct features *features, const char *root);
void probe_unprivileged_bpf(struct features *features, const char *root);
void probe_tracefs(struct features *features, const char *root);
void probe_proc(struct features *features, const char *root);
void probe_clock(struct features *features, const char *root);
void probe_yama(struct features *features, const char *root);

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
void probe_thread_list(struct features *features);

/* features_perf.c: by trying probes and clocks. */
void probe_uprobes(struct features *features, const char *root);
void probe_samples(struct features *features, const char *root);

#endif
