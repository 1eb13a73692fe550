/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: one profile as folded stacks. */
#ifndef GOTRACE_EXPORT_FOLD_H
#define GOTRACE_EXPORT_FOLD_H

#include "export/profile.h"
#include "trace/wire/buffer.h"

/* Appends lines `root;...;leaf N`. N > 0 is in us; for CPU samples, their number. Equal lines may repeat.
 * Returns 0 or -ENOMEM. */
int fold(const struct profiles *ps, const struct profile *profile, struct buffer *out);

#endif
