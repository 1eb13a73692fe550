/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Functions whose calls the user wants traced as regions or tasks. */
#ifndef GOTRACE_MODEL_FUNCTIONS_H
#define GOTRACE_MODEL_FUNCTIONS_H

#include "rawlog/rawlog.h"
#include "util/strtab.h"

struct watched_function {
	uint32_t name; /* string id */
	uint16_t kind; /* enum log_function_kind, 0 = not known */
	/* Names of the values read at its begin and at its end: string ids, 0 = not known. */
	uint32_t labels[2][VALUES_MAX];
};

struct function_table {
	struct watched_function *all; /* by number */
	uint32_t n;
	uint64_t tasks; /* task ids assigned so far */
};

/* Returns false when out of memory. Numbers above a limit are ignored. */
bool functions_learn(struct function_table *table, struct strtab *strings,
		     const struct log_function *function);
/* Returns NULL if the number is unknown. */
const struct watched_function *functions_find(const struct function_table *table, uint64_t number);

/* Adds the names of values to a known function. */
void functions_learn_values(struct function_table *table, struct strtab *strings,
			    const struct log_values *values);
/* Returns the names of VALUES_MAX values, string ids. Never returns NULL. */
const uint32_t *functions_labels(const struct function_table *table, uint64_t number, uint8_t site);

#endif
