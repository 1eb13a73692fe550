/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the files that read x86-64 code share. */
#ifndef GOTRACE_TARGET_CODE_X86_H
#define GOTRACE_TARGET_CODE_X86_H

#include "target/code_sets.h"
#include "target/x86.h"

/* Decodes the instruction at *at and moves on; 1, 0 at the end, or -EBADMSG if it is not known. */
int code_next(const struct code *code, size_t *at, struct x86_insn *insn);

#endif
