/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Locates the probes of request presets in a Go program, and the values that they read. */
#ifndef GOTRACE_TARGET_REQUESTS_H
#define GOTRACE_TARGET_REQUESTS_H

#include "code/symbol/inlined.h"
#include "target/request_presets.h"
#include "target/target.h"
#include "target/type_descriptors.h"

/* All names in the presets, looked up at once. */
struct request_names {
	struct type_field *fields; /* in the order of the presets' tables */
	unsigned nfields;
	struct inlined_name *functions; /* one for each probe, in the same order */
	unsigned nfunctions;
};

struct request_point {
	uint64_t address;  /* link-time */
	uint32_t distance; /* bytes from the stack pointer there to the caller's */
	uint8_t condition; /* as in struct probe_point */
	struct value_rules rules;
	const char *roles[VALUES_MAX];  /* of the values */
	uint32_t hashes[REQUEST_TYPES]; /* of REQUEST_TYPE; the first is 0 if there is none */
};

/* Finds fields and inlined functions. Returns 0 or -ENOMEM. Call request_names_free() in either case. */
int request_names_find(const struct target *target, struct request_names *names);
void request_names_free(struct request_names *names);
/* Returns a function that contains an inlined copy of this one, whose calls a probe misses, or NULL. */
const char *request_inlined_in(const struct request_names *names, const char *function);
/*
 * Finds a probe. Returns 0, or a negative errno and sets *err: -ESRCH if the program does not have its
 * function at all, -ENOENT if that is only inlined, or -ENOTSUP if its code is not as expected or a required
 * value is unknown.
 */
int request_point_find(const struct target *target, const struct request_probe *probe,
		       const struct request_names *names, bool all_values, struct request_point *point,
		       struct error *err);
/* Whether the probe applies to the target's release. */
bool request_probe_is_for(const struct target *target, const struct request_probe *probe);

#endif
