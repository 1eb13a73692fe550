/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A stack frame as stored in a trace. */
#ifndef GOTRACE_CODE_SYMBOL_FRAME_H
#define GOTRACE_CODE_SYMBOL_FRAME_H

#include <stdint.h>

struct frame {
	uint64_t pc;   /* unique for each inlined frame at a machine PC, as in traces of Go's tracer */
	uint32_t func; /* string id */
	uint32_t file;
	uint32_t line;
};

#define MAX_FRAMES 128 /* limit of the trace formats */

#endif
