/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* For messages: where a stack is, in one line. Pure. */
#ifndef GOTRACE_PIPELINE_PLACE_H
#define GOTRACE_PIPELINE_PLACE_H

#include "symbol/frame.h"
#include "util/strtab.h"

struct place_text {
	char text[360]; /* "" = nothing is known */
};

/*
 * "main.fetch (fetch.go:42) in sync.(*Mutex).Lock", "consume in read: read(3: pipe)": the program's own
 * function, what it called, and the system call with its file. A stack without a function of the program is
 * named by its innermost function outside of Go's runtime, "[interrupt: disk]" too. Names are printable.
 */
struct place_text place_of(const struct strtab *strings, const struct frame *frames, int n);

#endif
