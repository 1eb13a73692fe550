/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which of the runtime's functions access which fields: what the proof of a layout looks for (prove.h).
 */
#ifndef GOTRACE_TARGET_CODE_RULES_H
#define GOTRACE_TARGET_CODE_RULES_H

#include <stdint.h>

/*
 * How a function accesses a field, from `first` to `last` minor release. All rules of a field must hold.
 * Where one field moves, another one may take its place by chance, in some releases and for some distances; a
 * second rule excludes that.
 */
struct code_rule {
	uint16_t field; /* offset in struct layout */
	uint8_t size;   /* bytes of the field */
	uint8_t use;    /* enum use */
	uint8_t first, last;
	const char *function;
};

/* Fields of g, m and p; and those of mheap and mspan, which only a trace of the program's memory needs. */
extern const struct code_rule code_rules[], heap_rules[];
extern const unsigned code_rule_count, heap_rule_count;

#endif
