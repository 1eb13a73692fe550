/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Names for code that the process generates, where it writes them to a file for perf
 * (code/symbol/perf_map.h). */
#ifndef GOTRACE_TARGET_NAMES_JIT_H
#define GOTRACE_TARGET_NAMES_JIT_H

#include <stdbool.h>
#include <sys/types.h>

#include "code/elf/text.h"

struct native_jit;

/* True if the process seems to have such a file. Reads nothing of it, and does not wait for its file system.
 */
bool native_jit_is_named(pid_t pid);

/* root: the target's root directory, not owned. Opens nothing yet. NULL when out of memory. */
struct native_jit *native_jit_new(pid_t pid, int root);
void native_jit_free(struct native_jit *jit);
/*
 * Makes the draft that of this address alone. Reads what the process has appended to the file since, but at
 * most for 1/JIT_PART of the time. False, and nothing changes, if the file has no name for the address.
 */
#define JIT_PART 10
bool native_jit_frame(struct native_jit *jit, uint64_t address, struct symbol_draft *draft);

#endif
