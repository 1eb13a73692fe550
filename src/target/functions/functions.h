/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The functions of C and C++ programs whose calls become user regions and tasks (--region, --task). Looks
 * them up in the files that a process has mapped, and finds the places to probe.
 */
#ifndef GOTRACE_TARGET_FUNCTIONS_FUNCTIONS_H
#define GOTRACE_TARGET_FUNCTIONS_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "rawlog/rawlog.h"
#include "util/error.h"

/* As the user gives it: FUNC or FILE:FUNC. */
struct function_want {
	const char *text; /* owned by the caller */
	enum log_function_kind kind;
};

#define MAX_FUNCTIONS 256u

struct function_probe {
	uint64_t offset; /* in the file */
	uint64_t cookie; /* FUNCTION_COOKIE */
};

/* Probes of one site in one file. */
struct function_probes {
	int fd;       /* the file; passed to the kernel as /proc/self/fd/N */
	uint8_t site; /* SITE_FUNCTION_BEGIN or _END */
	struct function_probe *probes;
	unsigned n;
	size_t capacity;
};

/* What a probe of one copy of a function reads of its arguments, and the names of the values. */
struct function_values {
	struct value_rules rules;
	uint32_t number; /* of the function */
	uint8_t site;    /* SITE_FUNCTION_BEGIN or _END */
	char labels[VALUES_MAX][VALUE_LABEL_MAX];
};

struct function_plan {
	struct function_want wanted[MAX_FUNCTIONS]; /* a function's number is its index + 1 */
	unsigned nwanted;
	struct function_probes *lists;
	unsigned nlists;
	struct function_values *values; /* FUNCTION_VALUES(cookie) is an index + 1 */
	unsigned nvalues;
	/* for --requests, one line per preset: '+' traced, '!' incomplete or left out, '-' absent */
	char report[4096];
};

/*
 * Looks up the functions in the files that the process has mapped, its executable first. With pid 0, searches
 * the file `exe`, which is about to be started, and FILE if that is a path. On success, returns 0, and the
 * caller frees the plan with functions_free(). Otherwise returns -ENOENT if a name is unknown (err lists
 * similar names), -EEXIST if it is ambiguous, -ENOTSUP if a function's exits cannot be found, -EINVAL, -ESRCH
 * or -ENOMEM.
 */
int functions_plan(pid_t pid, const char *exe, const struct function_want *wanted, unsigned n,
		   struct function_plan *plan, struct error *err);
void functions_free(struct function_plan *plan);
/* Adds a probe in the file fd, of which the plan keeps a duplicate. Returns 0 or -ENOMEM. */
int function_plan_add(struct function_plan *plan, int fd, uint8_t site, uint64_t offset, uint64_t cookie,
		      struct error *err);
/* The name of the register in a value_rule's place, for messages. */
const char *function_place_name(uint8_t place);
/* Adds a set of values to read. Returns its number for FUNCTION_READS(), -ENOSPC or -ENOMEM. */
int function_plan_read(struct function_plan *plan, const struct function_values *values, struct error *err);
/* Returns the name of the regions that represent calls: the text without FILE. */
const char *functions_shown(const struct function_want *want);
/* Returns the length of that name without a list of values. `number` counts functions from 1. */
size_t functions_shown_len(const struct function_plan *plan, uint32_t number);
/*
 * Writes a LOG_FUNCTION for each function, and LOG_VALUES if its arguments are read. Must be called before
 * the first record of a probe. Returns 0 or the sink's error.
 */
int functions_log(const struct function_plan *plan, log_sink sink, void *ctx);

#endif
