/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Names of native code for the log: building a LOG_SYMBOL, demangling, hints from names. Pure. */
#ifndef GOTRACE_CODE_ELF_TEXT_H
#define GOTRACE_CODE_ELF_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rawlog/rawlog.h"

#define NATIVE_FUNCTION_MAX 512  /* bytes of a function's name; a longer one is cut and ends in "..." */
#define NATIVE_FILE_MAX     1024 /* bytes of a file's path */

/* The payload of a LOG_SYMBOL. */
struct symbol_draft {
	_Alignas(8) struct log_symbol head;
	uint8_t frames[SYMBOL_DEPTH *
		       (sizeof(struct log_symbol_frame) + NATIVE_FUNCTION_MAX + NATIVE_FILE_MAX)];
	uint32_t size;                     /* of the payload */
	uint32_t begins[SYMBOL_DEPTH + 1]; /* offset of each frame in frames; then the end */
};

void draft_begin(struct symbol_draft *draft, uint64_t pc);
/* Adds a frame, innermost first; file may be NULL. Demangles the name. Does nothing beyond SYMBOL_DEPTH. */
void draft_add(struct symbol_draft *draft, const char *function, const char *file, uint32_t line);
/*
 * Sets the hint from the functions' names. If the function that a std::thread runs is inlined into
 * std::thread's own frames, only that function is kept. `libc`: the code is in the C library; some of its
 * names also occur elsewhere.
 */
void draft_finish(struct symbol_draft *draft, bool libc);

bool draft_outermost_is(const struct symbol_draft *draft, const char *beginning);

/*
 * Demangles a name of C++ or Rust. Copies other names, and those too long to be sane, without a symbol
 * version. Returns the length; `readable` is not NUL-terminated.
 */
size_t native_readable(const char *name, char readable[NATIVE_FUNCTION_MAX]);
enum log_symbol_hint native_hint(const char *readable, size_t len, bool libc);

#endif
