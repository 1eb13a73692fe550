/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Texts of a release's reasons: from its binaries, or for older releases those that later came to mean the
 * same.
 */
#ifndef GOTRACE_TARGET_REASONS_H
#define GOTRACE_TARGET_REASONS_H

#include "target/layout.h"

/* A table that the runtime has (not REASON_PARK). Never NULL; may be empty. */
const struct reasons *release_reasons(const struct release *release, enum log_reason_table table);
/* Number of a text in a table; 0 if it is not there. In REASON_WAIT no reason has the number 0. */
unsigned reasons_index(const struct reasons *reasons, const char *text, size_t len);

#endif
