/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: names of kernel functions, for --kernel-stacks. Kernel addresses do not leave this
 * process: in a trace that is shared, they would defeat the kernel's address randomization. A stack in the
 * log has a number for each function instead (LOG_KERNEL_PC).
 */
#ifndef GOTRACE_CAPTURE_KERNEL_SYMBOLS_H
#define GOTRACE_CAPTURE_KERNEL_SYMBOLS_H

#include <stdio.h>

#include "bpf/record.h"
#include "rawlog/rawlog.h"
#include "util/error.h"

struct kernel_symbols;

/* Reads /proc/kallsyms, some 5 to 15 MB of text. Returns 0, or a negative errno: -EACCES if the kernel hides
 * its addresses. */
int kernel_symbols_open(struct kernel_symbols **symbols, struct error *err);
/* Pure: the same from lines "ADDRESS TYPE NAME [MODULE]". */
int kernel_symbols_parse(struct kernel_symbols **symbols, FILE *lines, struct error *err);
void kernel_symbols_free(struct kernel_symbols *symbols);

/*
 * Replaces the kernel addresses at the start of the stack by numbers, and leaves out the scheduler's own
 * functions and BPF programs. Names that the log does not have yet go to the sink first. Returns 0, -ENOMEM,
 * or the sink's error.
 */
int kernel_symbols_name(struct kernel_symbols *symbols, struct raw_stack *stack, log_sink sink, void *ctx);

/*
 * Reads the kernel stack of a waiting thread from the lines of /proc/PID/task/TID/stack. Writes at most
 * `most` numbers to pcs. Returns how many, -ENOMEM, or the sink's error.
 */
int kernel_symbols_of_lines(struct kernel_symbols *symbols, FILE *lines, uint64_t *pcs, unsigned most,
			    log_sink sink, void *ctx);

#endif
