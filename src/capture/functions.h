/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the room: probes on the functions that the user has named. */
#ifndef GOTRACE_CAPTURE_FUNCTIONS_H
#define GOTRACE_CAPTURE_FUNCTIONS_H

#include <sys/types.h>

#include "capture/bpf.h"
#include "native/functions.h"

/*
 * What a hit costs here, ns: the mean of a cheap one where a function begins, and of one at its return,
 * measured on a function of gotrace itself. 0 if it cannot be.
 */
uint64_t functions_calibrate(struct bpf *bpf);
/* The programs must be loaded. */
int functions_attach(struct bpf *bpf, pid_t pid, const struct function_plan *plan, struct error *err);

#endif
