/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The functions of C and C++ programs whose calls become user regions and tasks (--region, --task). Looks
 * them up in the files that a process has mapped, and finds the places to probe.
 */
#ifndef GOTRACE_NATIVE_FUNCTIONS_H
#define GOTRACE_NATIVE_FUNCTIONS_H

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
	int fd;       /* the file; the kernel gets it as /proc/self/fd/N */
	uint8_t site; /* SITE_FUNCTION_BEGIN or _END */
	struct function_probe *probes;
	unsigned n;
	size_t capacity;
};

/* What the probes of a function's copy read of its arguments, and what the values are called. */
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
	char report[4096]; /* of --requests, a line each: '+' traced, '!' not completely, '-' not there */
};

/*
 * Looks for the functions in the files that the process has mapped, its executable first. With pid 0, looks
 * in the file `exe` that is about to be started and, if FILE is a path, in that. Returns 0, and the caller
 * frees the plan; or -ENOENT if there is no function of the name (err has similar names), -EEXIST if there
 * are several, -ENOTSUP if the exits of one cannot be found, -EINVAL, -ESRCH or -ENOMEM.
 */
int functions_plan(pid_t pid, const char *exe, const struct function_want *wanted, unsigned n,
		   struct function_plan *plan, struct error *err);
void functions_free(struct function_plan *plan);
/* Used to build plans: adds a probe in the file fd, of which the plan keeps a duplicate. */
int function_plan_add(struct function_plan *plan, int fd, uint8_t site, uint64_t offset, uint64_t cookie,
		      struct error *err);
/* The register of a value_rule's place, for users. */
const char *function_place_name(uint8_t place);
/* Adds what to read. Returns its number for FUNCTION_READS(), or -ENOSPC or -ENOMEM. */
int function_plan_read(struct function_plan *plan, const struct function_values *values, struct error *err);
/* The name of the regions that represent its calls: the function's name without the FILE part. */
const char *functions_shown(const struct function_want *want);
/* The length of that name without a list of values. The function's number counts from 1. */
size_t functions_shown_len(const struct function_plan *plan, uint32_t number);
/* Writes LOG_FUNCTIONs, and LOG_VALUES of those whose arguments are read. Call it before the first record of
 * a probe. */
int functions_log(const struct function_plan *plan, log_sink sink, void *ctx);

#endif
