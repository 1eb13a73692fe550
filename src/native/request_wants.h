/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The probes of requests as functions that are wanted: between the command line and the inspector. */
#ifndef GOTRACE_NATIVE_REQUEST_WANTS_H
#define GOTRACE_NATIVE_REQUEST_WANTS_H

#include "native/functions.h"
#include "target/request_presets.h"

#define MAX_REQUEST_PROBES 64u

struct request_wants {
	char names[MAX_REQUEST_PROBES][32]; /* "http.server/2", and a plus for --request-values */
	unsigned n;
};

/* Whether it is such a list. Returns 0 or -EINVAL. */
int request_list_check(const char *list, struct error *err);
/*
 * Adds the probes of the groups in this list, "http,sql" or "auto", to the wanted functions, of which there
 * are *n and at most MAX_FUNCTIONS. Returns 0, -EINVAL, or -E2BIG.
 */
int request_wants_add(struct request_wants *wants, const char *list, bool all_values,
		      struct function_want wanted[MAX_FUNCTIONS], unsigned *n, struct error *err);
/* The probe that a wanted function is; NULL: it is none. */
const struct request_probe *request_wanted(const struct function_want *want,
					   const struct request_preset **preset, bool *all_values);

#endif
