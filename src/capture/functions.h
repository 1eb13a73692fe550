/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: probes on the functions that the user names. */
#ifndef GOTRACE_CAPTURE_FUNCTIONS_H
#define GOTRACE_CAPTURE_FUNCTIONS_H

#include <stdint.h>
#include <sys/types.h>

#include "bpf/call_kind.h"
#include "capture/bpf.h"
#include "target/functions/functions.h"

/*
 * Returns the cost of a hit in ns, or 0 if it cannot be measured: the mean of a cheap hit at a function's
 * begin and one at its return. It is measured on a function of gotrace itself (for a Go program, without the
 * cost of a record), which takes `bare` ns without a probe (own_calibration_ns()).
 */
uint64_t functions_calibrate(struct bpf *bpf, uint64_t bare);
/* Returns FUNCTION_RETURN_AT(offset) for the attach cookie if the code there is a plain `ret`, else 0. */
uint64_t functions_return(const uint8_t code[2], uint64_t offset);
/* Returns whether the plan's probes are attached. */
bool functions_are_on(const struct bpf *bpf, const struct function_plan *plan);
/* Attaches the plan's probes. The programs must be loaded. Returns 0 or a negative errno. */
int functions_attach(struct bpf *bpf, pid_t pid, const struct function_plan *plan, struct error *err);

/* --- values.c: values of call arguments (bpf/values.bpf.h) --- */

/* Makes space for n value_rules, before the object is loaded. *reads is a variable of the programs. */
void values_prepare(const struct bpf *bpf, unsigned n, bool *reads);
/* Passes the plan's rules to the programs. Call it before the plan's probes are attached. Returns 0 or a
 * negative errno. */
int values_pass(const struct bpf *bpf, const struct function_plan *plan, struct error *err);

/* --- calls.c: which system calls take a file descriptor, and in which argument --- */

/* Fills in enum call_kind by system call number, for the architecture that gotrace is built for. */
void calls_kinds(uint8_t kinds[CALL_NUMBERS]);

#endif
