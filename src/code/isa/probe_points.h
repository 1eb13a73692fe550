/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The probe points of a compiled function: the instruction at which a probe sees each call begin exactly
 * once, and those at which it sees each call end exactly once. Pure functions; the bytes are untrusted input;
 * all addresses are link-time addresses.
 */
#ifndef GOTRACE_CODE_ISA_PROBE_POINTS_H
#define GOTRACE_CODE_ISA_PROBE_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

enum { PROBE_POINTS_PIECES = 16, PROBE_POINTS_ENDS = 1024 };

struct code_range {
	uint64_t start, end;
};

/* A file with code, and the file's information about the code. */
struct code_source {
	bool arm64; /* else x86-64 */
	void *ctx;  /* passed to all callbacks */
	/* `size` bytes at the address; NULL if they are not all in the file. */
	const uint8_t *(*bytes)(void *ctx, uint64_t address, size_t size);
	/*
	 * x86-64 only. Gets the pointer that is in memory at this address once the file is loaded, as an
	 * address in the file; 0 if it points elsewhere. Returns false if the file does not determine it.
	 */
	bool (*pointer)(void *ctx, uint64_t address, uint64_t *to);
	/*
	 * Distance in bytes from the stack pointer before the instruction at this address to the caller's
	 * stack pointer after the call (.eh_frame); DISTANCE_BY_FRAME if it is relative to another register;
	 * or DISTANCE_UNKNOWN.
	 */
	int64_t (*distance)(void *ctx, uint64_t address);
	/*
	 * Gets the part of this function that contains the address, if it was split off and has a symbol of
	 * its own.
	 */
	bool (*part)(void *ctx, uint64_t address, struct code_range *range);
	/* Gets the range of code with an .eh_frame entry that contains the address. */
	bool (*range)(void *ctx, uint64_t address, struct code_range *range);
};

#define DISTANCE_BY_FRAME (-1)
#define DISTANCE_UNKNOWN  (-2)

struct probe_point {
	uint64_t address;
	uint32_t distance; /* from the stack pointer there to the caller's, bytes */
	uint8_t condition; /* 0 = always, else 1 + the condition code of the jump at this address */
};

struct probe_points {
	struct probe_point begin;
	bool ends_there; /* the call also ends at `begin`: the function is one instruction long */
	struct probe_point ends[PROBE_POINTS_ENDS];
	unsigned n; /* number of ends; 0 without ends_there: the function never returns */
	/* Registers that the code before `begin` may have changed, one bit per register number. */
	uint32_t written;
	/*
	 * The function's first instruction, where no register has been changed; address 0 if it cannot be
	 * probed. Such a probe may cost ten times as much.
	 */
	struct probe_point first;
};

/*
 * Finds the probe points of the function in the range, which begins with its entry. A jump out of the range
 * while the frame exists leads to a part without a symbol, whose range is added. A jump after the frame is
 * removed ends the call, because its target returns to the caller. Returns 0; -ENOTSUP, with the reason in
 * err, if an instruction or the target of a jump is unknown, or if calls cannot be distinguished from a loop;
 * or -ENOMEM.
 */
int probe_points_find(const struct code_source *source, struct code_range range, struct probe_points *points,
		      struct error *err);

#endif
