/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Describes in one line, for messages, where a stack is. Pure. */
#ifndef GOTRACE_PIPELINE_PLACE_H
#define GOTRACE_PIPELINE_PLACE_H

#include "code/symbol/frame.h"
#include "util/strtab.h"

struct place_text {
	char text[360]; /* "" = nothing is known */
};

/*
 * The program's own function, the function that it called, and the system call with its file, as in
 * "main.fetch (fetch.go:42) in sync.(*Mutex).Lock" or "consume in read: read(3: pipe)". A stack without a
 * function of the program is named by its innermost function outside Go's runtime, or "[interrupt: disk]".
 * Names are printable.
 */
struct place_text place_of(const struct strtab *strings, const struct frame *frames, int n);

#endif
