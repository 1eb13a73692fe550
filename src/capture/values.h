/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: values of call arguments (bpf/values.bpf.h). */
#ifndef GOTRACE_CAPTURE_VALUES_H
#define GOTRACE_CAPTURE_VALUES_H

#include <sys/types.h>

#include "capture/bpf.h"
#include "target/functions/functions.h"

/* Makes space for n value_rules, before the object is loaded. *reads is a variable of the programs. */
void values_prepare(const struct bpf *bpf, unsigned n, bool *reads);
/* Passes the plan's rules to the programs. Call it before the plan's probes are attached. Returns 0 or a
 * negative errno. */
int values_pass(const struct bpf *bpf, const struct function_plan *plan, struct error *err);

#endif
