/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Functions whose calls are regions or tasks, because the user asked for them. */
#ifndef GOTRACE_MODEL_FUNCTIONS_H
#define GOTRACE_MODEL_FUNCTIONS_H

#include "rawlog/rawlog.h"
#include "util/strtab.h"

struct watched_function {
	uint32_t name; /* string id */
	uint16_t kind; /* enum log_function_kind, 0 = not known */
	/* What its values are called, string ids, 0 = not known: those read at its begin, and at its end. */
	uint32_t labels[2][VALUES_MAX];
};

struct function_table {
	struct watched_function *all; /* by number */
	uint32_t n;
	uint64_t tasks; /* ids given so far */
};

/* False when out of memory. Numbers above a limit are ignored. */
bool functions_learn(struct function_table *table, struct strtab *strings,
		     const struct log_function *function);
/* NULL: not known. */
const struct watched_function *functions_find(const struct function_table *table, uint64_t number);

/* Of a function that is known already. */
void functions_learn_values(struct function_table *table, struct strtab *strings,
			    const struct log_values *values);
/* The names of VALUES_MAX values, string ids. Never NULL. */
const uint32_t *functions_labels(const struct function_table *table, uint64_t number, uint8_t site);

#endif
