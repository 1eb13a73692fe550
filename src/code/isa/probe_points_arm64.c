/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Probe points in arm64 code: the machine-dependent part of the search. */
#include <string.h>

#include "code/isa/arm64.h"
#include "code/isa/probe_walk.h"

enum {
	LOOKBACK_INSNS = 12, /* instructions between the one that computes a jump's target and the jump */
	PROLOGUE = 8,        /* instructions in which the frame is made */
};

static uint32_t arm64_walk_word_at(const struct code_piece *piece, uint64_t at)
{
	uint32_t word;

	memcpy(&word, piece->bytes + at, sizeof(word));
	return word;
}

/* --- instructions: Arm ARM, C4.1 and C6.2 --- */

/*
 * add of two 64-bit registers, the second extended or shifted. In a switch it follows the load from the
 * table.
 */
static bool is_scaled_sum(uint32_t word)
{
	return (word & 0xffe00000) == 0x8b200000 || ((word & 0xff200000) == 0x8b000000 && word & 0xfc00);
}

/* ldr of a 64-bit register from a table. */
static bool is_load_index(uint32_t word)
{
	return (word & 0xffe00c00) == 0xf8600800;
}

/* A store, comparison, branch or hint: its lowest bits do not name a register that it writes. */
static bool writes_none(uint32_t word)
{
	bool store = (word & 0x0a000000) == 0x08000000 && !(word & 0x00400000);

	return store || (word & 0x1c000000) == 0x14000000 || (word & 0x7f00001f) == 0x7100001f ||
	       (word & 0x7f20001f) == 0x6b00001f;
}

/*
 * br. While the frame exists, it is a switch. After the frame is removed it may still be one: then the sum of
 * a base and a table entry was computed directly before. A plain load or move yields a function's address. An
 * indexed load from a table can be either.
 */
static int arm64_walk_take_indirect(struct probe_walk *walk, const struct code_piece *piece, uint64_t at,
				    unsigned reg)
{
	uint64_t address = piece->start + at;
	int64_t distance = walk->source->distance(walk->source->ctx, address);

	if (distance > 0)
		return 0;
	if (distance)
		return walk_refuse(walk, address, "it is unclear whether the jump stays in the function");
	for (unsigned i = 1; i <= LOOKBACK_INSNS && at >= 4 * i; i++) {
		uint32_t word = arm64_walk_word_at(piece, at - 4 * i);

		if ((word & 31) != reg || writes_none(word))
			continue;
		if (is_scaled_sum(word))
			return 0;
		if (is_load_index(word))
			return walk_refuse(walk, address,
					   "it is unclear whether the jump is a switch or a call");
		break;
	}
	return walk_add_end(walk, address, 0);
}

/* retaa, retab */
static bool is_authenticated_return(uint32_t word)
{
	return (word & 0xfffffbff) == 0xd65f0bff;
}

/* Other authenticated jumps, eret, drps. */
static bool is_unusual(uint32_t word)
{
	return (word & 0xfe000000) == 0xd6000000 && !(word & 0x00200000);
}

static int arm64_walk_take(struct probe_walk *walk, const struct code_piece *piece, uint64_t at)
{
	uint64_t address = piece->start + at;
	uint32_t word = arm64_walk_word_at(piece, at);
	struct code_jump jump = {.from = address};
	struct arm64_insn insn;

	arm64_decode(piece->bytes + at, ARM64_LENGTH, &insn);
	jump.to = address + (uint64_t)insn.imm;
	switch (insn.op) {
	case ARM64_RET:
		return walk_add_end(walk, address, 0);
	case ARM64_BR:
		return arm64_walk_take_indirect(walk, piece, at, insn.rn);
	case ARM64_B:
		return walk_add_jump(walk, &jump);
	case ARM64_B_COND:
		jump.condition = 1 + insn.condition;
		return walk_add_jump(walk, &jump);
	case ARM64_CBZ:
	case ARM64_CBNZ:
	case ARM64_TBZ:
	case ARM64_TBNZ:
		jump.condition = NO_CONDITION_CODE;
		return walk_add_jump(walk, &jump);
	case ARM64_BLR:
		return 0;
	default:
		if (is_authenticated_return(word))
			return walk_refuse(walk, address, "the kernel cannot probe the instruction");
		if (is_unusual(word))
			return walk_refuse(
				walk, address,
				"an instruction returns or jumps in a way that gotrace does not follow");
		return 0;
	}
}

static int arm64_walk_scan_piece(struct probe_walk *walk, const struct code_piece *piece)
{
	int rc = 0;

	for (uint64_t at = 0; at < piece->size && rc == 0; at += ARM64_LENGTH)
		rc = arm64_walk_take(walk, piece, at);
	return rc;
}

/* Whether stp or str with a new stack pointer, or sub sp, makes a frame. See probe_walk_ops.makes_frame. */
static bool arm64_walk_makes_frame(const struct probe_walk *walk)
{
	const struct code_piece *piece = &walk->pieces[0];

	for (uint64_t at = 0; at < PROLOGUE * ARM64_LENGTH && at < piece->size; at += ARM64_LENGTH) {
		uint32_t word = arm64_walk_word_at(piece, at);

		if ((word & 0xffc003e0) == 0xa98003e0 || (word & 0xffe00fe0) == 0xf8000fe0 ||
		    (word & 0xff8003ff) == 0xd10003ff)
			return true;
	}
	return false;
}

/* --- where a call begins --- */

/*
 * Instructions that the kernel does not probe (arch/arm64/kernel/probes/decode-insn.c) or may refuse:
 * exclusive accesses, exceptions, system instructions other than hints and reads of system registers.
 */
static bool arm64_walk_is_refused(uint32_t word)
{
	bool system = (word & 0xffc00000) == 0xd5000000, hint = (word & 0xfffff01f) == 0xd503201f,
	     reads = (word & 0xfff00000) == 0xd5300000;

	return (word & 0x3f000000) == 0x08000000 || (word & 0xff000000) == 0xd4000000 ||
	       (system && !hint && !reads);
}

static int arm64_walk_choose_begin(struct probe_walk *walk)
{
	const struct code_piece *piece = &walk->pieces[0];

	if (arm64_walk_is_refused(arm64_walk_word_at(piece, 0)))
		return walk_refuse(walk, piece->start, "the kernel cannot probe its first instruction");
	walk->points->begin = (struct probe_point){.address = piece->start};
	return 0;
}

/* The return address is in a register. */
const struct probe_walk_ops probe_walk_arm64 = {
	.alignment = ARM64_LENGTH,
	.return_distance = 0,
	.no_condition_code = "it ends with a jump to a register",
	.scan = arm64_walk_scan_piece,
	.makes_frame = arm64_walk_makes_frame,
	.choose_begin = arm64_walk_choose_begin,
};
