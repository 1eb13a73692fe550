/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ways_find (native/ways.h) for code of arm64. Pure; a stranger controls the bytes. */
#ifndef GOTRACE_NATIVE_WAYS_ARM64_H
#define GOTRACE_NATIVE_WAYS_ARM64_H

#include "native/ways.h"

/* As ways_find. Distances are of the stack pointer alone: the return address is in a register. */
int ways_arm64_find(const struct ways_code *code, struct ways_range range, struct ways *ways,
		    struct error *err);

#endif
