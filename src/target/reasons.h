/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Texts of a release's reasons: from its binaries, or for older releases the later texts with the same
 * meaning.
 */
#ifndef GOTRACE_TARGET_REASONS_H
#define GOTRACE_TARGET_REASONS_H

#include "target/layout.h"

/* Returns one of the runtime's tables (not REASON_PARK). Never NULL; may be empty. */
const struct reasons *release_reasons(const struct release *release, enum log_reason_table table);
/* Returns the number of a text in a table, or 0 if it is not there. In REASON_WAIT, 0 means no reason. */
unsigned reasons_index(const struct reasons *reasons, const char *text, size_t len);

#endif
