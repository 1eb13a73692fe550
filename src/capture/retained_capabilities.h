/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The capabilities that tracing still needs once everything is attached. Pure. */
#ifndef GOTRACE_CAPTURE_RETAINED_CAPABILITIES_H
#define GOTRACE_CAPTURE_RETAINED_CAPABILITIES_H

#include <stdbool.h>
#include <stdint.h>

struct tracing_mode {
	bool threads;      /* traced as threads; else a Go program */
	bool plugins;      /* a Go program that can open plugins */
	bool probes;       /* has uprobes: a Go program, or functions were given */
	bool reattaches;   /* probes are removed and attached again while tracing */
	bool multi;        /* uses uprobe_multi links; else perf events */
	bool memory_open;  /* the file with the target's memory is kept open */
	unsigned go_minor; /* of a Go program */
	unsigned kernel;   /* major << 8 | minor */
	bool bpf_for_all;  /* kernel.unprivileged_bpf_disabled is 0 */
};

/* Returns a mask of 1 << CAP_..., as in linux/capability.h. */
uint64_t retained_capabilities(const struct tracing_mode *mode);

#endif
