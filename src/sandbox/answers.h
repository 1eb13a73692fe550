/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the room: whether answers of a sandbox make sense. Pure; a hostile sandbox chose every byte. */
#ifndef GOTRACE_SANDBOX_ANSWERS_H
#define GOTRACE_SANDBOX_ANSWERS_H

#include <stdbool.h>

#include "native/functions.h"
#include "sandbox/protocol.h"

bool answer_facts_are_good(const struct target_facts *facts);
/* file_size: of the executable that is probed. */
bool answer_plan_is_good(const struct probe_plan *plan, uint64_t file_size);
bool answer_module_is_good(const struct module_facts *facts);
/* Of a module that is good. */
bool answer_rows_are_good(const struct module_facts *facts, const struct unwind_row *rows);
bool answer_list_is_good(const struct function_list_facts *facts);
bool answer_function_probes_are_good(const struct function_probe *probes, uint32_t n, unsigned nfunctions,
				     uint64_t file_size);

#endif
