/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Prints the probes of a plan's functions, and what they read. */
#ifndef GOTRACE_CLI_SITES_FUNCTIONS_H
#define GOTRACE_CLI_SITES_FUNCTIONS_H

#include "target/functions/functions.h"

/* On standard output: "main.f begin 0x1234", "main.f id: signed64 rax". */
void sites_functions_print(const struct function_plan *plan);

#endif
