/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Prints the probes of a plan's functions and what they read, and names of functions. */
#ifndef GOTRACE_CLI_SITES_FUNCTIONS_H
#define GOTRACE_CLI_SITES_FUNCTIONS_H

#include "target/functions/function_list.h"
#include "target/functions/functions.h"

/* On standard output: "main.f begin 0x1234", "main.f id: signed64 rax". */
void sites_functions_print(const struct function_plan *plan);
/* On standard output: each name once, in order. Changes the text. Returns 0 or -ENOMEM. */
int sites_names_print(struct function_list *list);

#endif
