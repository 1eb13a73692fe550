/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The kind of sync lock that a goroutine waits for, by the function that waits. */
#ifndef GOTRACE_CODE_SYMBOL_LOCK_KIND_H
#define GOTRACE_CODE_SYMBOL_LOCK_KIND_H

#include "rawlog/awaited.h"
#include "code/symbol/symbol.h"
#include "util/strtab.h"

/* frames: the stack of the wait, leaf first, with or without the runtime's own frames. */
enum lock_kind lock_kind_of(const struct strtab *strings, const struct frame *frames, int n);

#endif
