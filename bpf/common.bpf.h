/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What every program of Go's uses: constants set before loading, the way out. */
#ifndef GOTRACE_COMMON_BPF_H
#define GOTRACE_COMMON_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/base.bpf.h"
#include "bpf/record.h"

/* Set by capture before loading: to the verifier they are constants, so what a release lacks costs nothing.
 */
const volatile struct go_layout layout;
const volatile uint32_t target_tgid; /* in the initial pid namespace */
const volatile uint32_t go_minor;
const volatile uint32_t stop_skip; /* leaf frames that GoStop leaves out: 1 up to Go 1.24, 0 from 1.25 on */
const volatile bool quiet_ps;      /* Ps can change hands without a probe: up to Go 1.25, and with cgo */
const volatile bool syscall_oldp;  /* up to Go 1.25: in a system call the P is in m.oldp, not m.p */

const volatile uint8_t park_skips[64]; /* by g.waitreason: leaf frames that the runtime leaves out */

/* Set by capture while the programs run. */
volatile bool spans_only; /* execute is all that is probed of a goroutine's switches */
volatile struct go_places places;

#endif
