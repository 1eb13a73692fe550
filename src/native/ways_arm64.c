/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "native/ways_arm64.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_CODE = 4 << 20,  /* of one function, bytes */
	MAX_JUMPS = 1 << 18, /* of one function */
	LOOK_BACK = 12,      /* instructions between what computes a jump's target and the jump */
	PROLOGUE = 8,        /* instructions in which a frame is made */
};

struct piece {
	uint64_t start, size;
	const uint8_t *bytes;
};

struct jump {
	uint64_t from, to;
	uint8_t condition; /* 0 = none, else 1 + its code; NO_CONDITION_CODE: of a register */
	bool again;        /* to the entry, with the frame taken down: the function calls itself */
};

#define NO_CONDITION_CODE 0xff

struct walk {
	const struct ways_code *code;
	struct piece pieces[WAYS_PIECES];
	unsigned npieces;
	struct jump *jumps;
	unsigned njumps, capacity;
	struct ways *ways;
	struct error *err;
};

static int refuse(const struct walk *walk, uint64_t address, const char *why)
{
	return error_set(walk->err, ENOTSUP, "%s at 0x%" PRIx64, why, address);
}

static bool is_inside(const struct walk *walk, uint64_t address)
{
	for (unsigned i = 0; i < walk->npieces; i++) {
		if (address - walk->pieces[i].start < walk->pieces[i].size)
			return true;
	}
	return false;
}

static int add_piece(struct walk *walk, uint64_t start, uint64_t end)
{
	struct piece *piece = &walk->pieces[walk->npieces];

	if (is_inside(walk, start))
		return 0;
	if (walk->npieces == WAYS_PIECES || end <= start || end - start > MAX_CODE || start % 4)
		return refuse(walk, start, "its code is in too many parts, or too large,");
	*piece = (struct piece){.start = start, .size = (end - start) & ~3ull};
	piece->bytes = walk->code->bytes(walk->code->ctx, start, piece->size);
	if (!piece->bytes || !piece->size)
		return refuse(walk, start, "the file does not have its code");
	walk->npieces++;
	return 0;
}

static uint32_t word_at(const struct piece *piece, uint64_t at)
{
	uint32_t word;

	memcpy(&word, piece->bytes + at, sizeof(word));
	return word;
}

static int add_end(struct walk *walk, uint64_t address, uint8_t condition)
{
	struct ways *ways = walk->ways;

	if (ways->n == WAYS_ENDS)
		return refuse(walk, address, "it returns from too many places, one of them");
	ways->ends[ways->n++] = (struct way){.address = address, .condition = condition};
	return 0;
}

static int add_jump(struct walk *walk, uint64_t from, int64_t distance, uint8_t condition)
{
	if (walk->njumps == walk->capacity) {
		unsigned more = walk->capacity ? 2 * walk->capacity : 64;
		struct jump *grown = more <= MAX_JUMPS ? realloc(walk->jumps, more * sizeof(*grown)) : NULL;

		if (!grown)
			return error_set(walk->err, ENOMEM, "it has too many jumps");
		walk->jumps = grown;
		walk->capacity = more;
	}
	walk->jumps[walk->njumps++] =
		(struct jump){.from = from, .to = from + (uint64_t)distance, .condition = condition};
	return 0;
}

/* --- one instruction after the other: Arm ARM, C4.1 and C6.2 --- */

/* `size` bits of the word from bit `from` on, signed, in words. */
static int64_t distance_in(uint32_t word, unsigned from, unsigned size)
{
	return ((int64_t)(int32_t)(word << (32 - from - size)) >> (32 - size)) * 4;
}

/* add of two 64-bit registers, the second extended or shifted: what follows a load from a switch's table. */
static bool is_scaled_sum(uint32_t word)
{
	return (word & 0xffe00000) == 0x8b200000 || ((word & 0xff200000) == 0x8b000000 && word & 0xfc00);
}

/* ldr of a 64-bit register from a table. */
static bool is_load_index(uint32_t word)
{
	return (word & 0xffe00c00) == 0xf8600800;
}

/* A store, comparison, branch or hint, whose lowest bits name no register that it writes. */
static bool writes_none(uint32_t word)
{
	bool store = (word & 0x0a000000) == 0x08000000 && !(word & 0x00400000);

	return store || (word & 0x1c000000) == 0x14000000 || (word & 0x7f00001f) == 0x7100001f ||
	       (word & 0x7f20001f) == 0x6b00001f;
}

/*
 * A jump to where a register says. With the frame standing it is a switch's.
 * Without one it may be: then the sum of a base and what a table held was
 * computed right before. A plain load or move is of a function's address; what
 * comes from a table by its index could be either.
 */
static int take_indirect(struct walk *walk, const struct piece *piece, uint64_t at, unsigned reg)
{
	uint64_t address = piece->start + at;
	int64_t distance = walk->code->distance(walk->code->ctx, address);

	if (distance > 0)
		return 0;
	if (distance)
		return refuse(walk, address, "it cannot be told whether it goes on or ends with the jump");
	for (unsigned i = 1; i <= LOOK_BACK && at >= 4 * i; i++) {
		uint32_t word = word_at(piece, at - 4 * i);

		if ((word & 31) != reg || writes_none(word))
			continue;
		if (is_scaled_sum(word))
			return 0;
		if (is_load_index(word))
			return refuse(walk, address,
				      "it cannot be told whether it is a switch or a call: the jump");
		break;
	}
	return add_end(walk, address, 0);
}

static int take(struct walk *walk, const struct piece *piece, uint64_t at)
{
	uint64_t address = piece->start + at;
	uint32_t word = word_at(piece, at);

	if ((word & 0xfffffc1f) == 0xd65f0000) /* ret */
		return add_end(walk, address, 0);
	if ((word & 0xfffffc1f) == 0xd61f0000) /* br */
		return take_indirect(walk, piece, at, word >> 5 & 31);
	if ((word & 0xfe000000) == 0xd6000000 && (word & 0x00200000) == 0 &&
	    (word & 0xfffffc1f) != 0xd63f0000)
		return refuse(walk, address, "an instruction that leaves it in an unusual way");
	if ((word & 0xfffffbff) == 0xd65f0bff) /* retaa, retab */
		return refuse(walk, address, "the kernel cannot probe the instruction");
	if ((word & 0xfc000000) == 0x14000000) /* b */
		return add_jump(walk, address, distance_in(word, 0, 26), 0);
	if ((word & 0xff000000) == 0x54000000) /* b.cond */
		return add_jump(walk, address, distance_in(word, 5, 19), 1 + (word & 15));
	if ((word & 0x7e000000) == 0x34000000) /* cbz, cbnz */
		return add_jump(walk, address, distance_in(word, 5, 19), NO_CONDITION_CODE);
	if ((word & 0x7e000000) == 0x36000000) /* tbz, tbnz */
		return add_jump(walk, address, distance_in(word, 5, 14), NO_CONDITION_CODE);
	return 0;
}

static int scan_piece(struct walk *walk, unsigned number)
{
	const struct piece *piece = &walk->pieces[number];
	int rc = 0;

	for (uint64_t at = 0; at < piece->size && rc == 0; at += 4)
		rc = take(walk, piece, at);
	return rc;
}

/* --- where the jumps lead --- */

/* stp or str with a new stack pointer, or sub sp: whoever jumps to the entry of such a function calls it. */
static bool makes_frame(const struct walk *walk)
{
	const struct piece *piece = &walk->pieces[0];

	for (uint64_t at = 0; at < 4 * PROLOGUE && at < piece->size; at += 4) {
		uint32_t word = word_at(piece, at);

		if ((word & 0xffc003e0) == 0xa98003e0 || (word & 0xffe00fe0) == 0xf8000fe0 ||
		    (word & 0xff8003ff) == 0xd10003ff)
			return true;
	}
	return false;
}

/* What compilers take for unreachable they may let jump right behind the end. */
static bool is_nowhere(const struct walk *walk, uint64_t address)
{
	for (unsigned i = 0; i < walk->npieces; i++) {
		if (address == walk->pieces[i].start + walk->pieces[i].size)
			return true;
	}
	return false;
}

static int end_by_jump(struct walk *walk, const struct jump *jump)
{
	if (jump->condition == NO_CONDITION_CODE)
		return refuse(walk, jump->from, "it ends with a jump that depends on a register,");
	return add_end(walk, jump->from, jump->condition);
}

static int settle_jump(struct walk *walk, struct jump *jump)
{
	int64_t distance = walk->code->distance(walk->code->ctx, jump->from);
	struct ways_range range;

	if (is_inside(walk, jump->to)) {
		jump->again = jump->to == walk->pieces[0].start && !distance && makes_frame(walk);
		return jump->again ? end_by_jump(walk, jump) : 0;
	}
	if (walk->code->part(walk->code->ctx, jump->to, &range))
		return add_piece(walk, range.start, range.end);
	if (distance == WAYS_UNKNOWN)
		return refuse(walk, jump->from, "it cannot be told whether it goes on or ends with the jump");
	if (!distance)
		return end_by_jump(walk, jump);
	if (walk->code->range(walk->code->ctx, jump->to, &range))
		return add_piece(walk, range.start, range.end);
	if (is_nowhere(walk, jump->to))
		return 0;
	return refuse(walk, jump->from, "it cannot be told where it goes on after the jump");
}

/* Each new piece has jumps of its own. */
static int scan_all(struct walk *walk)
{
	unsigned scanned = 0, settled = 0;
	int rc = 0;

	while (rc == 0 && (scanned < walk->npieces || settled < walk->njumps)) {
		if (scanned < walk->npieces)
			rc = scan_piece(walk, scanned++);
		else
			rc = settle_jump(walk, &walk->jumps[settled++]);
	}
	return rc;
}

/* --- where a call begins --- */

/* What the kernel does not probe (arch/arm64/kernel/probes/decode-insn.c), or might not: exclusive accesses,
 * exceptions, what is done to the system but for hints and reading its registers. */
static bool is_refused(uint32_t word)
{
	bool system = (word & 0xffc00000) == 0xd5000000, hint = (word & 0xfffff01f) == 0xd503201f,
	     reads = (word & 0xfff00000) == 0xd5300000;

	return (word & 0x3f000000) == 0x08000000 || (word & 0xff000000) == 0xd4000000 ||
	       (system && !hint && !reads);
}

static int find_begin(struct walk *walk)
{
	const struct piece *piece = &walk->pieces[0];

	for (unsigned i = 0; i < walk->njumps; i++) {
		if (!walk->jumps[i].again && walk->jumps[i].to == piece->start)
			return refuse(walk, piece->start,
				      "calls cannot be told from its loop, which begins with it,");
	}
	if (is_refused(word_at(piece, 0)))
		return refuse(walk, piece->start, "the kernel cannot probe its first instruction");
	walk->ways->begin = (struct way){.address = piece->start};
	return 0;
}

/* The kernel does not promise an order of two programs at one place: there one must do for both. */
static int part_ends(struct walk *walk)
{
	struct ways *ways = walk->ways;
	unsigned kept = 0;

	for (unsigned i = 0; i < ways->n; i++) {
		struct way *end = &ways->ends[i];

		if (end->address != ways->begin.address) {
			ways->ends[kept++] = *end;
			continue;
		}
		if (end->condition)
			return refuse(walk, end->address, "it begins with a jump that may end it");
		ways->ends_there = true;
	}
	ways->n = kept;
	return 0;
}

int ways_arm64_find(const struct ways_code *code, struct ways_range range, struct ways *ways,
		    struct error *err)
{
	struct walk walk = {.code = code, .ways = ways, .err = err};
	int rc;

	*ways = (struct ways){.n = 0};
	rc = add_piece(&walk, range.start, range.end);
	if (rc == 0)
		rc = scan_all(&walk);
	if (rc == 0)
		rc = find_begin(&walk);
	if (rc == 0)
		rc = part_ends(&walk);
	free(walk.jumps);
	return rc;
}
