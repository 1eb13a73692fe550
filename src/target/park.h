/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the callers of runtime.gopark tell the tracer beside the wait reason, which is all that a g keeps. */
#ifndef GOTRACE_TARGET_PARK_H
#define GOTRACE_TARGET_PARK_H

/* The reason that the tracer is given with this wait reason (NULL: of no known one); "unspecified" if there
 * are several. */
const char *park_block_reason(const char *wait_reason);

#endif
