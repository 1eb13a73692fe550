/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Finds a Go program's functions by name, for probes on their calls. Addresses are link-time addresses. */
#ifndef GOTRACE_TARGET_FUNCTION_H
#define GOTRACE_TARGET_FUNCTION_H

#include "target/target.h"

struct target_function {
	const char *name; /* owned by the function table */
	uint64_t entry, end;
	/*
	 * Where a call begins: after the stack check, because a function that grows its stack starts again.
	 */
	uint64_t begin;
	uint8_t condition; /* of the jump at `begin`, if that is the stack check's: 1 + the condition code
			      that means "large enough" */
};

/*
 * Finds a function by its full name (net/http.(*conn).serve), or by an end of the name that is unique
 * (conn).serve). Returns 0; -ENOENT, with err saying that it is only inlined, or naming similar functions; or
 * -EEXIST if several functions match.
 */
int target_function(const struct target *target, const char *name, struct target_function *found,
		    struct error *err);

/* `size` bytes of code, owned by the target; NULL if they are not all in the file. */
const uint8_t *target_function_bytes(const struct target *target, uint64_t address, size_t size);
/* Reads a pointer in the file's data, as it is when loaded at the link-time address. */
bool target_function_pointer(const struct target *target, uint64_t address, uint64_t *to);
/* As functab_sp_delta. */
int target_function_delta(const struct target *target, uint64_t address, uint32_t *delta);
/* File offset of code at the address; false if it is not in the file. */
bool target_function_offset(const struct target *target, uint64_t address, uint64_t *offset);

#endif
