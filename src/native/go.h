/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Go's code in a process that is seen as threads: its own function table is there in stripped programs, too.
 */
#ifndef GOTRACE_NATIVE_GO_H
#define GOTRACE_NATIVE_GO_H

#include <stdbool.h>
#include <sys/types.h>

#include "native/text.h"

struct native_go;

/* NULL if the process's executable is no Go program that can be read, or memory is short. */
struct native_go *native_go_new(pid_t pid);
void native_go_free(struct native_go *go);
/* Adds the frames of a return address, innermost first. False if it is not in Go's code. */
bool native_go_frames(struct native_go *go, uint64_t ret_pc, struct symbol_draft *draft);

#endif
