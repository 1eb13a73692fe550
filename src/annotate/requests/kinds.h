/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kinds of requests, and the functions at which they begin and end. The names of a function's values in
 * the log give their roles (target/request_presets.h), so nothing here knows functions or releases.
 */
#ifndef GOTRACE_ANNOTATE_REQUESTS_KINDS_H
#define GOTRACE_ANNOTATE_REQUESTS_KINDS_H

#include "rawlog/rawlog.h"
#include "util/strtab.h"

/* Replaces SQL texts when there are too many. */
#define OTHER_STATEMENTS "(other statements)"

enum { OUTER = 2 }; /* presets whose requests may contain one */

/* The differences between presets, by their names in the log. */
struct preset_kind {
	const char *name;
	const char *first;   /* first word of a request's name; NULL: the method */
	const char *other;   /* replaces names when there are too many */
	const char *unnamed; /* name of a request without a path */
	/* Another preset: a request that begins during one of these is the same request. */
	const char *part_of[OUTER];
	bool statement;         /* the name is a statement, whose first word is the method */
	bool one_per_goroutine; /* a goroutine has one at a time: if another is open, its end was lost */
	bool implicit_200;      /* a status of 0 means 200 */
	bool newest;            /* an end without a key belongs to the request that began last */
};

/* What a value of a record says. */
enum request_role {
	ROLE_NONE,
	ROLE_KEY,
	ROLE_KEYS,
	ROLE_DONE,
	ROLE_FAILED,
	ROLE_METHOD,
	ROLE_PATH,
	ROLE_HOST,
	ROLE_QUERY,
	ROLE_ROUTE,
	ROLE_SUBROUTE,
	ROLE_STATUS,
	ROLE_CODE,
	ROLE_ERROR,
	ROLE_TRACE,
	ROLE_TRACE2,
	ROLE_TYPE,
	ROLE_PREPARED,
	ROLE_ROWS,
	ROLE_MATCHED,
	ROLES
};

/* A function that is part of a preset. */
struct request_function {
	const struct preset_kind *kind; /* NULL: not known */
	uint32_t preset;                /* string id of its name */
	uint8_t roles[VALUES_MAX];      /* enum request_role, by place in the record */
	unsigned types[2];              /* values to compare that of ROLE_TYPE with */
};

struct request_functions {
	struct request_function *all; /* by number */
	size_t n;
};

/* Takes a LOG_FUNCTION. Returns false when out of memory. Numbers above a limit are ignored. */
bool request_functions_learn(struct request_functions *functions, struct strtab *strings,
			     const struct log_function *function);
/* Takes a LOG_VALUES. */
void request_functions_learn_values(struct request_functions *functions, const struct log_values *values);
/* Returns NULL if no request begins or ends there. */
const struct request_function *request_functions_find(const struct request_functions *functions,
						      uint64_t number);

#endif
