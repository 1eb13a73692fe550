/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The BPF side for Go programs. Each kind of site has a program of its own, so that only probes in inlined
 * copies need an attach cookie (Linux 5.15). The probe plan decides which programs are loaded.
 */
#include "bpf/alloc.bpf.h"
#include "bpf/copies.bpf.h"
#include "bpf/gc.bpf.h"
#include "bpf/go_functions.bpf.h"
#include "bpf/goroutine.bpf.h"
#include "bpf/interrupts.bpf.h"
#include "bpf/labels.bpf.h"
#include "bpf/off_cpu.bpf.h"
#include "bpf/proc.bpf.h"
#include "bpf/progress.bpf.h"
#include "bpf/requests.bpf.h"
#include "bpf/sample.bpf.h"
#include "bpf/syscall.bpf.h"
#include "bpf/user.bpf.h"

/* Does nothing. Measures the cost of a trap on gotrace itself, and is the benchmarks' baseline. */
SEC("?uprobe")
int empty(struct pt_regs *ctx)
{
	(void)ctx;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
