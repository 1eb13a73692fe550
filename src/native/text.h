/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Names of native code as they go into the log: a record in the making, demangling, what a name tells. Pure.
 */
#ifndef GOTRACE_NATIVE_TEXT_H
#define GOTRACE_NATIVE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rawlog/rawlog.h"

#define NATIVE_FUNCTION_MAX 512  /* bytes of a function's name; what is longer ends in "..." */
#define NATIVE_FILE_MAX     1024 /* of a file's path */

/* The payload of a LOG_SYMBOL. */
struct symbol_draft {
	_Alignas(8) struct log_symbol head;
	uint8_t frames[SYMBOL_DEPTH *
		       (sizeof(struct log_symbol_frame) + NATIVE_FUNCTION_MAX + NATIVE_FILE_MAX)];
	uint32_t size;                     /* of the payload */
	uint32_t begins[SYMBOL_DEPTH + 1]; /* of each frame, in frames; and the end */
};

void draft_begin(struct symbol_draft *draft, uint64_t pc);
/* Adds a frame, the innermost first; file may be NULL. Names are demangled. Beyond SYMBOL_DEPTH nothing
 * happens. */
void draft_add(struct symbol_draft *draft, const char *function, const char *file, uint32_t line);
/*
 * Sets the hint by the functions' names. Of std::thread's own frames around the
 * function it runs, when they are inlined into one, only that function stays.
 * `libc`: the code is of the C library, whose names others may have, too.
 */
void draft_finish(struct symbol_draft *draft, bool libc);

bool draft_outermost_is(const struct symbol_draft *draft, const char *beginning);

/* Demangles C++; else, and if it is too long to be sane, the name itself without a symbol's version. Returns
 * the length. */
size_t native_readable(const char *name, char readable[NATIVE_FUNCTION_MAX]);
enum log_symbol_hint native_hint(const char *readable, size_t len, bool libc);

#endif
