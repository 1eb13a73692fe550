/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: checks that answers of the inspector are well formed. Pure functions; every byte is
 * untrusted.
 */
#ifndef GOTRACE_SANDBOX_ANSWERS_H
#define GOTRACE_SANDBOX_ANSWERS_H

#include <stdbool.h>

#include "target/functions/functions.h"
#include "sandbox/protocol.h"

bool answer_facts_are_good(const struct target_facts *facts);
/* file_size: size of the executable to be probed. */
bool answer_plugin_is_good(const struct plugin_facts *facts, uint64_t file_size);
bool answer_plan_is_good(const struct probe_plan *plan, uint64_t file_size);
bool answer_module_is_good(const struct module_facts *facts);
/* `facts` must have passed answer_module_is_good(). */
bool answer_rows_are_good(const struct module_facts *facts, const struct unwind_row *rows);
bool answer_list_is_good(const struct function_list_facts *facts);
/* values: n sets of what the probes of nfunctions functions read. */
bool answer_values_are_good(const struct function_values *values, size_t n, unsigned nfunctions);
/* nvalues: number of sets of values. */
bool answer_function_probes_are_good(const struct function_probe *probes, uint32_t n, unsigned nfunctions,
				     unsigned nvalues, uint64_t file_size);

#endif
