/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Finds a Go program's functions by name, for probes on their calls. Addresses are link-time addresses. */
#ifndef GOTRACE_TARGET_FUNCTION_H
#define GOTRACE_TARGET_FUNCTION_H

#include "target/target.h"

struct target_function {
	const char *name; /* owned by the function table */
	uint64_t entry, end;
	/* Where a call begins: after the stack check, because growing the stack restarts the function. */
	uint64_t begin;
	/* 1 + the condition code for "large enough" if the jump at `begin` is the stack check's, else 0. */
	uint8_t condition;
};

/*
 * Finds a function by its full name ("net/http.(*conn).serve") or by a unique end of it ("conn).serve").
 * Returns 0; -ENOENT, with err saying that it is only inlined, or naming similar functions; or -EEXIST if
 * several functions match.
 */
int target_function(const struct target *target, const char *name, struct target_function *found,
		    struct error *err);

/* Returns `size` bytes of code, owned by the target, or NULL if they are not all in the file. */
const uint8_t *target_function_bytes(const struct target *target, uint64_t address, size_t size);
/* Reads a pointer from the file's data, with its value when loaded at the link-time address. */
bool target_function_pointer(const struct target *target, uint64_t address, uint64_t *to);
/* Same as functab_sp_delta(), but with a link-time address. */
int target_function_delta(const struct target *target, uint64_t address, uint32_t *delta);
/* Gets the file offset of code at the address. Returns false if it is not in the file. */
bool target_function_offset(const struct target *target, uint64_t address, uint64_t *offset);

#endif
