/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Request probes as wanted functions, passed from the command line to the inspector. */
#ifndef GOTRACE_TARGET_FUNCTIONS_REQUEST_WANTS_H
#define GOTRACE_TARGET_FUNCTIONS_REQUEST_WANTS_H

#include "target/functions/functions.h"
#include "target/request_presets.h"

#define MAX_REQUEST_PROBES 80u

struct request_wants {
	char names[MAX_REQUEST_PROBES][32]; /* "http.server/2", with "+" appended for --request-values */
	unsigned n;
};

/* Checks a list of request groups. Returns 0 or -EINVAL. */
int request_list_check(const char *list, struct error *err);
/*
 * Appends the probes of the groups in `list` ("http,sql" or "auto") to the *n functions in `wanted`, and
 * updates *n. Their texts point into `wants`. Returns 0, -EINVAL, or -E2BIG if there are more than
 * MAX_FUNCTIONS.
 */
int request_wants_add(struct request_wants *wants, const char *list, bool all_values,
		      struct function_want wanted[MAX_FUNCTIONS], unsigned *n, struct error *err);
/* Returns the request probe that a wanted function names, or NULL if it names none. */
const struct request_probe *request_wanted(const struct function_want *want,
					   const struct request_preset **preset, bool *all_values);

#endif
