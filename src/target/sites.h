/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which places in the runtime are probed, by release. */
#ifndef GOTRACE_TARGET_SITES_H
#define GOTRACE_TARGET_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "target/target.h"

enum place {
	PLACE_PROLOGUE,    /* the push that makes the frame: arguments are still in registers */
	PLACE_CALL,        /* calls of `callee` */
	PLACE_CHECK,       /* the jump on "is the runtime's tracer on", where it would emit its event */
	PLACE_REGION,      /* the same in StartRegion, and every end of what it gives while it is off */
	PLACE_ALLOC_CHECK, /* the jump on "and does it tell of memory" */
	PLACE_TELL,  /* up to 1.16: the jump that decides if `callee` is called, or traceEvent with `event` */
	PLACE_GUARD, /* the jump that leads around a call of `callee` with `event` as its first argument */
};

enum site_condition {
	SITE_ALWAYS,
	SITE_IF_PRESENT, /* the linker leaves the function out of programs that do not need it */
	SITE_IF_CGO,
	SITE_IF_ALLOC, /* if it is asked for (1.23 and later) */
};

#define ALL_MATCHES (-1)
#define BY_STATUS   (-2) /* those whose statuses are seen to be the rule's; `total` counts all */
#define ANY_STATUS  (-1)
#define NEWEST      0xff

/* runtime.casgstatus(gp AX, old BX, new CX): the constants at a call of it say which change it is. */
struct site_rule {
	uint8_t site;        /* enum site of bpf/record.h */
	uint8_t place;       /* enum place */
	uint8_t condition;   /* enum site_condition */
	uint8_t first, last; /* minor releases */
	const char *function;
	const char *callee;
	int8_t total;                  /* how many matches the function must have; 0 = at least one */
	int8_t which;                  /* index of the one to probe, or ALL_MATCHES, or BY_STATUS */
	int8_t old_status, new_status; /* or ANY_STATUS */
	int8_t event;                  /* PLACE_GUARD, PLACE_TELL */
};

extern const struct site_rule site_rules[];
extern const unsigned site_rule_count;

/* Up to OLD_LAST. */
extern const struct site_rule old_site_rules[];
extern const unsigned old_site_rule_count;

#endif
