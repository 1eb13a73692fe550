/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which capabilities tracing still takes once everything is attached. Pure. */
#ifndef GOTRACE_CAPTURE_NEEDS_H
#define GOTRACE_CAPTURE_NEEDS_H

#include <stdbool.h>
#include <stdint.h>

struct needs {
	bool threads;      /* seen as threads; else a Go program */
	bool reattaches;   /* probes come and go while it is traced */
	bool multi;        /* by links for many places (uprobe_multi), else by perf events */
	bool memory_open;  /* the file with the target's memory is held open */
	unsigned go_minor; /* of a Go program */
	unsigned kernel;   /* major << 8 | minor */
	bool bpf_for_all;  /* kernel.unprivileged_bpf_disabled is 0 */
};

/* A mask of 1 << CAP_..., as in linux/capability.h. */
uint64_t needs_capabilities(const struct needs *needs);

#endif
