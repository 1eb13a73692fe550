/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Names for Go code in a process traced as threads. The function table exists even in stripped programs. */
#ifndef GOTRACE_TARGET_NAMES_GO_H
#define GOTRACE_TARGET_NAMES_GO_H

#include <stdbool.h>
#include <sys/types.h>

#include "code/elf/text.h"

struct native_go;

/* Returns NULL if the process's executable is not a readable Go program, or out of memory. */
struct native_go *native_go_new(pid_t pid);
void native_go_free(struct native_go *go);
/* Adds the frames of a return address, innermost first. False if it is not in Go's code. */
bool native_go_frames(struct native_go *go, uint64_t ret_pc, struct symbol_draft *draft);

#endif
