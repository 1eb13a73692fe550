/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Functions of a Go program by their names, for probes on their calls. Addresses are link-time ones. */
#ifndef GOTRACE_TARGET_FUNCTION_H
#define GOTRACE_TARGET_FUNCTION_H

#include "target/target.h"

struct target_function {
	const char *name; /* the function table's */
	uint64_t entry, end;
	/* Where its calls begin: behind the check of the stack's room, for a function that has to make room
	 * begins anew. */
	uint64_t begin;
	uint8_t condition; /* of the jump there, if it is that check's: 1 + the code that holds if there is
			      room */
};

/*
 * By its full name (net/http.(*conn).serve), or by an end of it that no other has (conn).serve). -ENOENT: err
 * says if it is only inlined, or names some that are near; -EEXIST: several have it.
 */
int target_function(const struct target *target, const char *name, struct target_function *found,
		    struct error *err);

/* `size` bytes of code, or NULL if they are not all in the file. The target's. */
const uint8_t *target_function_bytes(const struct target *target, uint64_t address, size_t size);
/* A pointer in the file's data, as it is when loaded where it was linked. */
bool target_function_pointer(const struct target *target, uint64_t address, uint64_t *to);
/* As functab_sp_delta. */
int target_function_delta(const struct target *target, uint64_t address, uint32_t *delta);
/* Where the code is in the file; false if it is not there. */
bool target_function_offset(const struct target *target, uint64_t address, uint64_t *offset);

#endif
