/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Names of Rust code. */
#ifndef GOTRACE_CODE_ELF_RUST_H
#define GOTRACE_CODE_ELF_RUST_H

#include <stddef.h>

#include "code/elf/text.h"

/* The function of std that calls a thread's closure, which is mostly inlined in it. */
#define RUST_CLOSURE "__rust_begin_short_backtrace"

/*
 * Demangles a name of rustc: _ZN4core3fmt5write17h0123456789abcdefE, or v0, _RNvNtC4core3fmt5write. Returns
 * the length, or 0 for other names; `readable` is not NUL-terminated.
 */
size_t rust_readable(const char *name, char readable[NATIVE_FUNCTION_MAX]);
/* What the thread waits for, by the readable name of a function and the file that defines it ("": unknown).
 */
enum log_symbol_hint rust_hint(const char *name, size_t len, const char *file, size_t file_len);

#endif
