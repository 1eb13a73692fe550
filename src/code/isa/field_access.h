/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Accesses to memory at a fixed distance from a register, as code makes them to the fields of a struct. They
 * show where a struct's fields are in this program, with or without symbols.
 */
#ifndef GOTRACE_CODE_ISA_FIELD_ACCESS_H
#define GOTRACE_CODE_ISA_FIELD_ACCESS_H

#include "code/isa/code.h"

struct field_access {
	size_t offset;        /* of the instruction */
	int32_t displacement; /* from the register, which is never the stack pointer */
	uint8_t use;          /* enum use: USE_LOAD, USE_STORE or both, or USE_ADDRESS */
	uint8_t size;         /* bytes of each word, 0 for USE_ADDRESS */
	uint8_t words;        /* adjacent words that are accessed at once: 1 or 2 */
};

/*
 * Gets the next access at or after offset *at, and moves *at behind its instruction. Returns 1, 0 at the end,
 * or -EBADMSG if an instruction is unknown (x86-64).
 */
int code_next_field(const struct code *code, size_t *at, struct field_access *access);

/*
 * Whether it accesses, in one of these ways (enum use), a field of this size at this displacement. The size
 * of a field whose address is taken is not known.
 */
bool field_access_is(const struct field_access *access, int32_t displacement, uint8_t size, unsigned uses);

#endif
