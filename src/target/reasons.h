/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The texts of a release's reasons: those that its binaries have, and for older ones those that came to mean
 * the same. */
#ifndef GOTRACE_TARGET_REASONS_H
#define GOTRACE_TARGET_REASONS_H

#include "target/layout.h"

/* One of the tables that the runtime has (not REASON_PARK). Never NULL; may be empty. */
const struct reasons *release_reasons(const struct release *release, enum log_reason_table table);
/* The number of a text in a table; 0 if it is not there, which is no reason's number in REASON_WAIT. */
unsigned reasons_index(const struct reasons *reasons, const char *text, size_t len);

#endif
