/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The BPF side: one program a kind of site, so that no attach cookie is needed
 * (kernels from 5.10 on). Which ones are loaded is for the probe plan to say.
 */
#include "bpf/alloc.bpf.h"
#include "bpf/gc.bpf.h"
#include "bpf/goroutine.bpf.h"
#include "bpf/old.bpf.h"
#include "bpf/proc.bpf.h"
#include "bpf/sample.bpf.h"
#include "bpf/syscall.bpf.h"
#include "bpf/user.bpf.h"

/* On a function of gotrace itself, to measure what a hit costs here: a usual hit without a target. */
SEC("?uprobe")
int calibrate(struct pt_regs *ctx)
{
	struct scratch *s = take_scratch();

	if (!s)
		return 0;
	bpf_probe_read_user(s->chunk, CHUNK, (const void *)C_ARG(ctx, 0));
	give_back(s);
	return 0;
}

/* Does nothing: the floor that benchmarks compare with. */
SEC("?uprobe")
int empty(struct pt_regs *ctx)
{
	(void)ctx;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
