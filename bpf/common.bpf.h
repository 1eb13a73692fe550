/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* State shared by all programs for Go: constants set before loading, and the settings that capture changes at
 * run time. */
#ifndef GOTRACE_COMMON_BPF_H
#define GOTRACE_COMMON_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/base.bpf.h"
#include "bpf/record.h"

/* Set by capture before loading. They are constants to the verifier, so code for other releases is
 * eliminated. */
const volatile struct go_layout layout;
const volatile uint32_t target_tgid; /* in the initial pid namespace */
const volatile uint32_t go_minor;
const volatile uint32_t stop_skip;    /* leaf frames left out of a GoStop: 1 up to Go 1.24, 0 from 1.25 on */
const volatile bool hidden_p_changes; /* a P can change hands without a probe: up to Go 1.25, and with cgo */
const volatile bool syscall_oldp;     /* up to Go 1.25: in a system call the P is in m.oldp, not m.p */
const volatile uint32_t g_labels;     /* offset of g.labels; 0: labels are not traced */

/* By g.waitreason: leaf frames left out of the stack, as in the runtime. */
const volatile uint8_t park_skips[64];

/* Set by capture while the programs run. */
volatile bool starts_only; /* of all goroutine switches, only execute is probed */
volatile struct go_places places;

#endif
