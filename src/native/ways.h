/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The ways into and out of a compiled function: where a probe sees each call
 * once when it begins, and once when it is over. Pure; a stranger controls the
 * bytes; all addresses are link-time ones.
 */
#ifndef GOTRACE_NATIVE_WAYS_H
#define GOTRACE_NATIVE_WAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

enum { WAYS_PIECES = 16, WAYS_ENDS = 1024 };

struct ways_range {
	uint64_t start, end;
};

/* What the file tells of its code. */
struct ways_code {
	void *ctx;
	/* `size` bytes at the address, or NULL if they are not all in the file. */
	const uint8_t *(*bytes)(void *ctx, uint64_t address, size_t size);
	/*
	 * Where the pointer in memory at the address points when the file is loaded: an address of the
	 * file's, 0 = elsewhere. False if the file does not tell.
	 */
	bool (*pointer)(void *ctx, uint64_t address, uint64_t *to);
	/*
	 * How far the stack pointer that the caller will have is above the one right before the instruction
	 * at this address runs, in bytes (.eh_frame); WAYS_FRAME if it hangs on another register;
	 * WAYS_UNKNOWN.
	 */
	int64_t (*distance)(void *ctx, uint64_t address);
	/* If the address is in a part that was split off this function and has a name of its own: that part.
	 */
	bool (*part)(void *ctx, uint64_t address, struct ways_range *range);
	/* The range of code (.eh_frame) that an address is in. */
	bool (*range)(void *ctx, uint64_t address, struct ways_range *range);
};

#define WAYS_FRAME   (-1)
#define WAYS_UNKNOWN (-2)

struct way { /* a place to probe */
	uint64_t address;
	uint32_t distance; /* of the caller's stack pointer from the one there, bytes */
	uint8_t condition; /* 0 = always, else 1 + the condition code of the jump there */
};

struct ways {
	struct way begin;
	bool ends_there; /* where it begins it ends, too: a function of one instruction */
	struct way ends[WAYS_ENDS];
	unsigned n; /* 0 and not ends_there: it never returns */
};

/*
 * Finds the ways of the function in the range, which begins with its entry. A
 * jump out of it with the frame still standing leads to a part of it that has
 * no name (then that part's range is taken in); one with the frame taken down
 * ends the call: whoever is jumped to returns to the caller. -ENOTSUP if an instruction is not known, or it
 * cannot be told where a jump leads, or calls cannot be told from a loop; err says which.
 */
int ways_find(const struct ways_code *code, struct ways_range range, struct ways *ways, struct error *err);

#endif
