/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The BPF side for a process that is seen as threads: programs on the
 * scheduler's tracepoints and on those of system calls. The marker is in
 * bpf/base.bpf.h.
 */
#include "bpf/calls.bpf.h"
#include "bpf/sched.bpf.h"
#include "bpf/tasks.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
