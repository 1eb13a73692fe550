/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names for the addresses of native code. A filter in front of the log: inserts a LOG_SYMBOL before the first
 * stack with an address, while the process and its files still exist.
 */
#ifndef GOTRACE_TARGET_NAMES_NAMES_H
#define GOTRACE_TARGET_NAMES_NAMES_H

#include <sys/types.h>

#include "rawlog/rawlog.h"
#include "util/budget.h"
#include "util/map64.h"

/* Memory for the symbols and the debug information of all files. */
#define NAMES_BYTES (320ull << 20)

/* State shared by several instances: messages already shown, memory, CPU time, and time for new programs. */
struct names_limits {
	struct map64 reported;
	struct budget budget;
	uint64_t earned_ns;       /* when CPU time was last added */
	int64_t search_budget_ns; /* time left for opening the files of new programs; below 0 = overdrawn */
	uint64_t search_refilled_ns; /* when that time was last added */
};

void names_limits_init(struct names_limits *limits);
/*
 * Returns true if there is time to open the files of one more program. Otherwise prints a message on standard
 * error, once.
 */
bool names_may_search(struct names_limits *limits);
/* Charges ns nanoseconds for opening the files of a program. */
void names_charge_search(struct names_limits *limits, uint64_t ns);

/*
 * Opens the files that the process has mapped as code. Free `*names` with names_free(). Returns 0, -ESRCH,
 * -EPERM or -ENOMEM.
 */
int names_new(pid_t pid, log_sink sink, void *ctx, void **names, struct error *err);
/*
 * A log_sink: passes everything on to the sink given above. May take some seconds when a large program's
 * debug information is first needed. Debug files that cannot be used are reported on standard error, one line
 * each. Not thread-safe.
 */
int names_put(void *names, const struct log_record *record);
/* Uses `limits`, which is not owned, instead of the instance's own state. Call it right after names_new(). */
void names_set_limits(void *names, struct names_limits *limits);
void names_free(void *names);

#endif
