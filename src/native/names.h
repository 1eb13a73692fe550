/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names for the addresses of native code: stands in the way of the log and
 * puts LOG_SYMBOL before the first stack with an address, while the process
 * and its files are there to be asked.
 */
#ifndef GOTRACE_NATIVE_NAMES_H
#define GOTRACE_NATIVE_NAMES_H

#include <sys/types.h>

#include "rawlog/rawlog.h"
#include "util/map64.h"

/*
 * Opens the files that the process has mapped as code. `*names` is freed with
 * names_free. -ESRCH, -EPERM, -ENOMEM.
 */
int names_new(pid_t pid, log_sink sink, void *ctx, void **names, struct error *err);
/*
 * A log_sink: hands everything on to the sink given above. May take some
 * seconds where a large program's debug information is first needed. Debug files
 * that cannot be used are told on standard error, one line each. Not for several threads at once.
 */
int names_put(void *names, const struct log_record *record);
/* Of several that share `told`, empty at first and not owned, one tells a line about a debug file. */
void names_tell_once(void *names, struct map64 *told);
void names_free(void *names);

#endif
