/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: the walk through a function that finds its probe points. This header and
 * probe_find.c contain what is common to all machines; each machine adds a struct probe_walk_ops.
 */
#ifndef GOTRACE_CODE_ISA_PROBE_WALK_H
#define GOTRACE_CODE_ISA_PROBE_WALK_H

#include "code/isa/probe_points.h"

struct code_piece {
	uint64_t start, size;
	const uint8_t *bytes;
	/* Per byte of the code: 1 where an instruction begins; NULL if all instructions have one length. */
	uint8_t *begins;
};

struct code_jump { /* a jump to a fixed address */
	uint64_t from, to;
	uint8_t condition; /* 0 = none, else 1 + condition code, or NO_CONDITION_CODE */
	bool again;        /* to the entry, after the frame is removed: a recursive tail call */
};

/* A conditional jump that does not test flags: loop and jrcxz; cbz and tbz. */
#define NO_CONDITION_CODE 0xff

struct probe_walk {
	const struct code_source *source;
	const struct probe_walk_ops *ops;
	struct code_piece pieces[PROBE_POINTS_PIECES];
	unsigned npieces;
	struct code_jump *jumps;
	unsigned njumps;
	size_t capacity;
	struct probe_points *points;
	struct error *err;
	bool has_table; /* contains a switch: not all targets of jumps are known */
};

/* Functions that return int return 0, or a negative errno with the reason in walk->err. */
struct probe_walk_ops {
	unsigned alignment; /* of instructions, in bytes */
	/*
	 * Bytes from the stack pointer at a call's begin and end to the caller's stack pointer: the size of
	 * the return address, if that is on the stack.
	 */
	uint32_t return_distance;
	const char *no_condition_code; /* why a call that ends with such a jump is rejected */
	/* Adds a piece's ends and jumps. */
	int (*scan)(struct probe_walk *walk, const struct code_piece *piece);
	/*
	 * Whether the function begins by making its frame: then a jump to its entry without a frame is a
	 * call.
	 */
	bool (*makes_frame)(const struct probe_walk *walk);
	/* Sets points->begin. Called when no jump except calls leads to the entry. */
	int (*choose_begin)(struct probe_walk *walk);
};

extern const struct probe_walk_ops probe_walk_x86, probe_walk_arm64;

/* Sets err to the reason followed by the address. Returns -ENOTSUP. */
int walk_refuse(const struct probe_walk *walk, uint64_t address, const char *why);
/* The piece that contains the address, or NULL. */
const struct code_piece *walk_piece_of(const struct probe_walk *walk, uint64_t address);
/* Adds the code in the range, unless it was added before. */
int walk_add_piece(struct probe_walk *walk, uint64_t start, uint64_t end);
/* condition: as in struct probe_point. */
int walk_add_end(struct probe_walk *walk, uint64_t address, uint8_t condition);
int walk_add_jump(struct probe_walk *walk, const struct code_jump *jump);
/* Whether a jump other than a call leads into [first, last]. */
bool walk_is_jumped_to(const struct probe_walk *walk, uint64_t first, uint64_t last);
void walk_free(struct probe_walk *walk);

#endif
