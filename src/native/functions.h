/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The functions of C and C++ programs whose calls are to become user regions
 * and tasks (--region, --task): looked up in the files that a process has
 * mapped, and the places to probe in them.
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
	const char *text; /* the caller's */
	enum log_function_kind kind;
};

#define MAX_FUNCTIONS 256u

struct function_probe {
	uint64_t offset; /* in the file */
	uint64_t cookie; /* FUNCTION_COOKIE */
};

/* Probes in one file, all of them for one site. */
struct function_probes {
	int fd;       /* the file; /proc/self/fd/N is its path for the kernel */
	uint8_t site; /* SITE_FUNCTION_BEGIN or _END */
	struct function_probe *probes;
	unsigned n, capacity;
};

struct function_plan {
	struct function_want wanted[MAX_FUNCTIONS]; /* a function's number is its index + 1 */
	unsigned nwanted;
	struct function_probes *lists;
	unsigned nlists;
};

/*
 * Looks for the functions in the files that the process has mapped, first in
 * its executable; with pid 0 in the file `exe` that is about to be started,
 * and for FILE a path, there. -ENOENT if there is none of the name (err names
 * some that are near), -EEXIST if there are several, -ENOTSUP if the ways out
 * of one cannot be found, -EINVAL, -ESRCH, -ENOMEM. The plan is to be freed when this
 * returns 0.
 */
int functions_plan(pid_t pid, const char *exe, const struct function_want *wanted, unsigned n,
		   struct function_plan *plan, struct error *err);
void functions_free(struct function_plan *plan);
/* For those who make plans: a probe in the file fd, of which the plan keeps a descriptor of its own. */
int function_plan_add(struct function_plan *plan, int fd, uint8_t site, uint64_t offset, uint64_t cookie,
		      struct error *err);
/* What the regions are called that stand for its calls: the name, without the file that it was looked for
 * in. */
const char *functions_shown(const struct function_want *want);
/* LOG_FUNCTIONs: before the first record of a probe. */
int functions_log(const struct function_plan *plan, log_sink sink, void *ctx);

#endif
