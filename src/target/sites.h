/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Places to probe in the runtime, by release. */
#ifndef GOTRACE_TARGET_SITES_H
#define GOTRACE_TARGET_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "target/target.h"

enum site_place {
	PLACE_PROLOGUE, /* the push that makes the frame; arguments are still in registers */
	PLACE_CALL,     /* calls of `callee` */
	PLACE_CHECK,    /* the jump on the tracer's flag that decides whether an event is traced */
	/* That jump in StartRegion, and every end of the region that it returns while the tracer is off. */
	PLACE_REGION,
	PLACE_ALLOC_CHECK, /* the jump on the flag for tracing memory */
	/* Up to 1.16: the jump that decides whether `callee`, or traceEvent with `event`, is called. */
	PLACE_TRACE_GUARD,
	PLACE_GUARD, /* the jump around a call of `callee` with `event` as its first argument */
};

enum site_condition {
	SITE_ALWAYS,
	SITE_IF_PRESENT, /* the linker omits the function from programs that do not need it */
	SITE_IF_CGO,
	SITE_IF_ALLOC, /* if requested (1.23 and later) */
};

/* Called once a plugin is in the list of modules, before its code runs (Go 1.8 to 1.27
 * plugin/plugin_dlopen.go) */
#define PLUGIN_OPENED "plugin.lastmoduleinit"

#define ALL_MATCHES (-1)
#define BY_STATUS   (-2) /* calls whose visible statuses match the rule; `total` counts all calls */
#define ANY_STATUS  (-1)
#define NEWEST      0xff

/*
 * A rule for one place. For runtime.casgstatus(gp AX, old BX, new CX), constants at the call identify the
 * change.
 */
struct site_rule {
	uint8_t site;        /* enum site of bpf/record.h */
	uint8_t place;       /* enum site_place */
	uint8_t condition;   /* enum site_condition */
	uint8_t first, last; /* minor releases */
	/*
	 * The function runs on g0, which is never asked to yield, so that its stack check lets it pass: the
	 * check's jump is hit once.
	 */
	bool on_g0;
	const char *function;
	const char *callee;
	/*
	 * Number of matches that the function must have, 0 = at least one, and index of the match to probe,
	 * or ALL_MATCHES, or BY_STATUS. Checks are ordered and counted by their lines. From Go 1.21 on calls
	 * of casgstatus are chosen by status alone.
	 */
	int8_t total, which;
	int8_t old_status, new_status; /* or ANY_STATUS */
	int8_t event;                  /* for PLACE_GUARD and PLACE_TRACE_GUARD */
};

extern const struct site_rule site_rules[];
extern const unsigned site_rule_count;

/* Rules for releases up to ABI0_LAST. */
extern const struct site_rule abi0_site_rules[];
extern const unsigned abi0_site_rule_count;

#endif
