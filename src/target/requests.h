/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Where the probes of request presets are in a Go program, and what they read. */
#ifndef GOTRACE_TARGET_REQUESTS_H
#define GOTRACE_TARGET_REQUESTS_H

#include "symbol/inlined.h"
#include "target/request_presets.h"
#include "target/target.h"
#include "target/type_descriptors.h"

/* All that presets name, found at once. */
struct request_names {
	struct type_field *fields; /* in the order of the presets' tables */
	unsigned nfields;
	struct inlined_name *functions; /* one for each probe, in the same order */
	unsigned nfunctions;
};

struct request_point {
	uint64_t address;  /* link-time */
	uint32_t distance; /* from the stack pointer there to the caller's, bytes */
	uint8_t condition; /* as in struct probe_point */
	struct value_rules rules;
	const char *roles[VALUES_MAX];  /* of the values */
	uint32_t hashes[REQUEST_TYPES]; /* of REQUEST_TYPE; the first is not 0 if there is one */
};

/* Looks for fields, and for inlined functions. Returns 0 or -ENOMEM; free in any case. */
int request_names_find(const struct target *target, struct request_names *names);
void request_names_free(struct request_names *names);
/* A function that has a copy of this function's code, so that a probe does not see all calls. NULL: none. */
const char *request_inlined_in(const struct request_names *names, const char *function);
/*
 * Finds a probe. Returns 0; -ESRCH if the program does not have its function at all, -ENOENT if that is only
 * inlined, or -ENOTSUP: it has not what is expected, or a value that pairs begin and end is not known. err
 * says why.
 */
int request_point_find(const struct target *target, const struct request_probe *probe,
		       const struct request_names *names, bool all_values, struct request_point *point,
		       struct error *err);
/* Whether the probe is for this release. */
bool request_probe_is_for(const struct target *target, const struct request_probe *probe);

#endif
