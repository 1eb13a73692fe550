/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "native/ways.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "target/x86.h"

enum {
	MAX_CODE = 4 << 20,  /* of one function, bytes */
	MAX_JUMPS = 1 << 18, /* of one function */
	LOOK_BACK = 12,      /* instructions between the load of a jump's target and the jump */
	PROLOGUE = 24,       /* instructions that are looked at for a good place to begin */
	RETURN_ADDRESS = 8,  /* what a call puts on the stack */
};

struct piece {
	uint64_t start, size;
	const uint8_t *bytes;
	uint8_t *begins; /* a byte for each of the code's: 1 = an instruction begins */
};

struct jump { /* to a fixed place */
	uint64_t from, to;
	uint8_t condition; /* 0 = none, else 1 + its code; NO_CONDITION_CODE: one that has none */
	bool again;        /* to the entry, with the frame taken down: the function calls itself */
};

#define NO_CONDITION_CODE 0xff /* loop, jrcxz */

struct walk {
	const struct ways_code *code;
	struct piece pieces[WAYS_PIECES];
	unsigned npieces;
	struct jump *jumps;
	unsigned njumps, capacity;
	struct ways *ways;
	struct error *err;
	bool has_table; /* a switch: not all targets of jumps are known */
};

static int refuse(const struct walk *walk, uint64_t address, const char *why)
{
	return error_set(walk->err, ENOTSUP, "%s at 0x%" PRIx64, why, address);
}

static const struct piece *piece_of(const struct walk *walk, uint64_t address)
{
	for (unsigned i = 0; i < walk->npieces; i++) {
		const struct piece *piece = &walk->pieces[i];

		if (address - piece->start < piece->size)
			return piece;
	}
	return NULL;
}

static int add_piece(struct walk *walk, uint64_t start, uint64_t end)
{
	struct piece *piece = &walk->pieces[walk->npieces];

	if (piece_of(walk, start))
		return 0;
	if (walk->npieces == WAYS_PIECES || end <= start || end - start > MAX_CODE)
		return refuse(walk, start, "its code is in too many parts, or too large,");
	*piece = (struct piece){.start = start, .size = end - start};
	piece->bytes = walk->code->bytes(walk->code->ctx, start, piece->size);
	if (!piece->bytes)
		return refuse(walk, start, "the file does not have its code");
	piece->begins = calloc(1, piece->size);
	if (!piece->begins)
		return error_set(walk->err, ENOMEM, "out of memory");
	walk->npieces++;
	return 0;
}

/* The kernel refuses to probe what has these prefixes (arch/x86/kernel/uprobes.c, Linux 6.18). */
static bool is_refused(const uint8_t *bytes, const struct x86_insn *insn)
{
	for (unsigned i = 0; i < insn->length; i++) {
		switch (bytes[i]) {
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0xf0:
			return true;
		case 0x64:
		case 0x65:
		case 0x66:
		case 0x67:
		case 0xf2:
		case 0xf3:
			continue;
		default:
			return false;
		}
	}
	return false;
}

static int add_end(struct walk *walk, uint64_t address, uint8_t condition)
{
	struct ways *ways = walk->ways;

	if (ways->n == WAYS_ENDS)
		return refuse(walk, address, "it returns from too many places, one of them");
	ways->ends[ways->n++] =
		(struct way){.address = address, .distance = RETURN_ADDRESS, .condition = condition};
	return 0;
}

static int add_jump(struct walk *walk, const struct jump *jump)
{
	if (walk->njumps == walk->capacity) {
		unsigned more = walk->capacity ? 2 * walk->capacity : 64;
		struct jump *grown = more <= MAX_JUMPS ? realloc(walk->jumps, more * sizeof(*grown)) : NULL;

		if (!grown)
			return error_set(walk->err, ENOMEM, "it has too many jumps");
		walk->jumps = grown;
		walk->capacity = more;
	}
	walk->jumps[walk->njumps++] = *jump;
	return 0;
}

/* --- jumps to where a register or memory says --- */

struct past { /* the last instructions, newest first */
	struct x86_insn insns[LOOK_BACK];
	uint64_t addresses[LOOK_BACK];
	unsigned n;
};

static void remember(struct past *past, const struct x86_insn *insn, uint64_t address)
{
	memmove(&past->insns[1], &past->insns[0], (LOOK_BACK - 1) * sizeof(*insn));
	memmove(&past->addresses[1], &past->addresses[0], (LOOK_BACK - 1) * sizeof(address));
	past->insns[0] = *insn;
	past->addresses[0] = address;
	if (past->n < LOOK_BACK)
		past->n++;
}

static bool has_index(const struct x86_insn *insn)
{
	return insn->mod != 3 && (insn->rm & 7) == 4 &&
	       ((insn->sib >> 3 & 7) != 4 || (insn->rex & 2)); /* 4 without REX.X is none */
}

/*
 * Where a table begins that memory operand `insn` takes an entry of:
 * table(,%reg,8), or a base that `lea table(%rip), %base` has set.
 */
static bool table_of(const struct x86_insn *insn, const struct past *past, uint64_t *table)
{
	uint8_t base = (insn->sib & 7) | (insn->rex & 1 ? 8 : 0);

	if (!has_index(insn))
		return false;
	*table = (uint64_t)(int64_t)insn->disp;
	if (insn->mod == 0 && (insn->sib & 7) == 5)
		return true;
	for (unsigned i = 0; i < past->n; i++) {
		const struct x86_insn *lea = &past->insns[i];

		if (lea->map != X86_ONE || lea->opcode != 0x8d || lea->reg != base)
			continue;
		*table += past->addresses[i] + lea->length + (uint64_t)(int64_t)lea->disp;
		return lea->rip_relative;
	}
	return false;
}

/* Whether a table of addresses is a switch's: 1; or one of functions: 0; -1 if that cannot be told. */
static int is_switch(const struct walk *walk, const struct x86_insn *insn, const struct past *past)
{
	uint64_t table, first;

	if (!table_of(insn, past, &table) || !walk->code->pointer(walk->code->ctx, table, &first))
		return -1;
	return piece_of(walk, first) != NULL;
}

/* The last write to a register, if it is of the two kinds that make a jump's target. */
static const struct x86_insn *source_of(const struct past *past, uint8_t reg)
{
	for (unsigned i = 0; i < past->n; i++) {
		const struct x86_insn *insn = &past->insns[i];

		if (insn->map != X86_ONE || !insn->has_modrm)
			continue;
		if (insn->opcode == 0x01 && insn->mod == 3 && insn->rm == reg)
			return insn; /* add %other, %reg */
		if ((insn->opcode == 0x03 || insn->opcode == 0x8b) && insn->reg == reg)
			return insn; /* add, mov memory, %reg */
	}
	return NULL;
}

/*
 * `jmp *%reg` with no frame: a switch adds a distance from its table to the
 * table's address (code that may lie anywhere), or loads an address from one.
 */
static int judge_register(const struct walk *walk, const struct x86_insn *insn, const struct past *past)
{
	const struct x86_insn *source = source_of(past, insn->rm);

	if (!source)
		return 0;
	if (source->opcode != 0x8b)
		return 1;
	return has_index(source) ? is_switch(walk, source, past) : 0;
}

/* Returns 1 if the function goes on where it leads, 0 if it is a call in place of a return, -1 if unknown. */
static int stays_inside(const struct walk *walk, const struct x86_insn *insn, const struct past *past,
			int64_t distance)
{
	if (distance != WAYS_UNKNOWN && distance != RETURN_ADDRESS)
		return insn->rip_relative ? -1 : 1;
	if (insn->rip_relative)
		return 0; /* through the GOT */
	if (insn->mod == 3) {
		int inside = judge_register(walk, insn, past);

		return distance == WAYS_UNKNOWN && inside == 0 ? -1 : inside;
	}
	if (has_index(insn))
		return is_switch(walk, insn, past);
	return distance == WAYS_UNKNOWN ? -1 : 0;
}

static int take_indirect(struct walk *walk, const struct x86_insn *insn, const struct past *past,
			 uint64_t address)
{
	int inside = stays_inside(walk, insn, past, walk->code->distance(walk->code->ctx, address));

	if (inside < 0)
		return refuse(walk, address, "it cannot be told whether it goes on or ends with the jump");
	if (inside == 0)
		return add_end(walk, address, 0);
	walk->has_table = true;
	return 0;
}

/* --- one instruction after the other --- */

static bool is_return(const struct x86_insn *insn)
{
	return insn->map == X86_ONE && !insn->vex && (insn->opcode == 0xc3 || insn->opcode == 0xc2);
}

static bool is_jump_indirect(const struct x86_insn *insn)
{
	return insn->map == X86_ONE && insn->opcode == 0xff && (insn->reg & 7) == 4;
}

/* What leaves in ways that compilers do not use: far returns and jumps, returns from interrupts. */
static bool is_strange(const struct x86_insn *insn)
{
	if (insn->map == X86_0F && !insn->vex)
		return insn->opcode == 0x07 || insn->opcode == 0x35; /* sysret, sysexit */
	if (insn->map != X86_ONE)
		return false;
	if (insn->opcode == 0xff)
		return (insn->reg & 7) == 5;
	return insn->opcode == 0xca || insn->opcode == 0xcb || insn->opcode == 0xcf;
}

static int take_relative(struct walk *walk, const struct x86_insn *insn, uint64_t address)
{
	struct jump jump = {.from = address};

	if (insn->map == X86_ONE && insn->opcode == 0xe8)
		return 0;
	jump.to = address + insn->length + (uint64_t)insn->imm;
	if (x86_is_jcc(insn))
		jump.condition = 1 + (insn->opcode & 0xf);
	else if (insn->map != X86_ONE || (insn->opcode != 0xe9 && insn->opcode != 0xeb))
		jump.condition = NO_CONDITION_CODE;
	return add_jump(walk, &jump);
}

static int take(struct walk *walk, const struct x86_insn *insn, const struct past *past, uint64_t address)
{
	if (is_return(insn))
		return add_end(walk, address, 0);
	if (is_strange(insn))
		return refuse(walk, address, "an instruction that leaves it in an unusual way");
	if (is_jump_indirect(insn))
		return take_indirect(walk, insn, past, address);
	return insn->relative ? take_relative(walk, insn, address) : 0;
}

static int scan_piece(struct walk *walk, unsigned number)
{
	const struct piece *piece = &walk->pieces[number];
	struct past past = {.n = 0};
	struct x86_insn insn;
	int rc = 0;

	for (uint64_t at = 0; at < piece->size && rc == 0; at += insn.length) {
		const uint8_t *bytes = piece->bytes + at;
		unsigned ends = walk->ways->n;

		if (!x86_decode(bytes, piece->size - at, &insn))
			return refuse(walk, piece->start + at, "an instruction that is not known");
		piece->begins[at] = 1;
		/* Libraries jump around a lock prefix where there is but one thread. */
		if (bytes[0] == 0xf0 && insn.length > 1)
			piece->begins[at + 1] = 1;
		rc = take(walk, &insn, &past, piece->start + at);
		if (walk->ways->n > ends && is_refused(bytes, &insn))
			return refuse(walk, piece->start + at, "the kernel cannot probe the instruction");
		remember(&past, &insn, piece->start + at);
	}
	return rc;
}

/* --- what instructions do --- */

static bool is_push(const struct x86_insn *insn)
{
	return insn->map == X86_ONE && !insn->vex && (insn->opcode & 0xf8) == 0x50;
}

/* push, jcc, jmp, call, nop: a probe there costs a tenth (arch/x86/kernel/uprobes.c, Linux 6.18). */
static bool is_emulated(const struct x86_insn *insn)
{
	if (insn->map == X86_ONE && !insn->vex) {
		uint8_t op = insn->opcode;

		if (is_push(insn))
			return insn->length == 1 || (insn->length == 2 && insn->rex == 0x41);
		if (op == 0xe8 || op == 0xe9)
			return insn->length == 5;
		if (op == 0xeb)
			return insn->length == 2;
		if (op == 0x90)
			return insn->length == 1;
	}
	return x86_is_jcc(insn);
}

/* The general register that it writes; -1 = none, -2 = not known. */
static int written(const struct x86_insn *insn)
{
	uint8_t op = insn->opcode;
	int rm = insn->mod == 3 ? insn->rm : -1;

	if (insn->vex)
		return -1; /* BMI's results are never the stack pointer */
	if (insn->map == X86_0F) {
		if (op == 0x1e || op == 0x1f || op == 0x18)
			return -1;
		if ((op >= 0x40 && op <= 0x4f) || op == 0xaf || (op >= 0xb6 && op <= 0xbf && op != 0xba))
			return insn->reg;
		if (op >= 0x90 && op <= 0x9f)
			return rm;
		/* SSE; those that write a general register take no stack pointer */
		if ((op >= 0x10 && op <= 0x17) || (op >= 0x28 && op <= 0x2f) || (op >= 0x51 && op <= 0x76) ||
		    op == 0x7e || op == 0x7f || op == 0xc6 || op >= 0xd0)
			return -1;
		return -2;
	}
	if (insn->map != X86_ONE)
		return -2;
	if (op < 0x40) {
		if (op >= 0x38)
			return -1; /* cmp */
		return (op & 7) < 2 ? rm : (op & 7) < 4 ? insn->reg : X86_RAX;
	}
	if (op >= 0xb0 && op <= 0xbf)
		return (op & 7) | (insn->rex & 1 ? 8 : 0);
	switch (op) {
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0x8a:
	case 0x8b:
	case 0x8d:
		return insn->reg;
	case 0x80:
	case 0x81:
	case 0x83:
		return (insn->reg & 7) == 7 ? -1 : rm;
	case 0x84:
	case 0x85:
	case 0xa8:
	case 0xa9:
		return -1;
	case 0x88:
	case 0x89:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xc7:
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
		return rm;
	case 0x98:
	case 0x99:
		return X86_RDX;
	case 0xf6:
	case 0xf7:
		return (insn->reg & 7) < 2 ? -1 : (insn->reg & 7) < 4 ? rm : X86_RDX;
	default:
		return -2;
	}
}

/* `sub $n, %rsp`: how much; else 0. */
static uint32_t room_made(const struct x86_insn *insn)
{
	bool sub = insn->map == X86_ONE && !insn->vex && (insn->opcode == 0x81 || insn->opcode == 0x83) &&
		   (insn->reg & 7) == 5 && insn->mod == 3 && insn->rm == X86_RSP && (insn->rex & 8);

	return sub && insn->imm > 0 && insn->imm < 1 << 16 && insn->imm % 8 == 0 ? (uint32_t)insn->imm : 0;
}

/* --- where the jumps lead --- */

/* Whether the function makes its frame at once: then whoever jumps to its entry without one calls it. */
static bool makes_frame(const struct walk *walk)
{
	const struct piece *piece = &walk->pieces[0];
	struct x86_insn insn;

	for (uint64_t at = 0; at < piece->size; at += insn.length) {
		if (!x86_decode(piece->bytes + at, piece->size - at, &insn))
			return false;
		if (is_push(&insn) || room_made(&insn))
			return true;
		if (is_emulated(&insn) || written(&insn) == -2)
			return false;
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
		return refuse(walk, jump->from, "a jump that is not known");
	return add_end(walk, jump->from, jump->condition);
}

static int settle_jump(struct walk *walk, struct jump *jump)
{
	int64_t distance = walk->code->distance(walk->code->ctx, jump->from);
	struct ways_range range;

	if (piece_of(walk, jump->to)) {
		jump->again =
			jump->to == walk->pieces[0].start && distance == RETURN_ADDRESS && makes_frame(walk);
		return jump->again ? end_by_jump(walk, jump) : 0;
	}
	if (walk->code->part(walk->code->ctx, jump->to, &range))
		return add_piece(walk, range.start, range.end);
	if (distance == WAYS_UNKNOWN)
		return refuse(walk, jump->from, "it cannot be told whether it goes on or ends with the jump");
	if (distance == RETURN_ADDRESS)
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
		if (scanned < walk->npieces) {
			rc = scan_piece(walk, scanned++);
			continue;
		}
		rc = settle_jump(walk, &walk->jumps[settled]);
		settled++;
	}
	return rc;
}

/* Data among the code, and code that is not what it looks like, would be jumped into at odd places. */
static int check_jumps(const struct walk *walk)
{
	for (unsigned i = 0; i < walk->njumps; i++) {
		const struct piece *to = piece_of(walk, walk->jumps[i].to);

		if (to && !to->begins[walk->jumps[i].to - to->start])
			return refuse(walk, walk->jumps[i].from, "a jump into the middle of an instruction");
	}
	return 0;
}

/* --- where a call begins --- */

static bool is_jumped_to(const struct walk *walk, uint64_t first, uint64_t last)
{
	for (unsigned i = 0; i < walk->njumps; i++) {
		if (!walk->jumps[i].again && walk->jumps[i].to >= first && walk->jumps[i].to <= last)
			return true;
	}
	return false;
}

/*
 * The first instruction that the kernel emulates, if everything before it is
 * run once, and in a row. With a jump table among the code only a push is sure
 * to be run once, for it makes the frame. *first gets the first one that can
 * be probed at all.
 */
static bool find_cheap(const struct walk *walk, struct way *begin, struct way *first)
{
	const struct piece *piece = &walk->pieces[0];
	uint64_t at = 0;
	struct x86_insn insn;

	for (unsigned i = 0; i < PROLOGUE && at < piece->size; i++, at += insn.length) {
		uint32_t room;
		int reg;

		if (!x86_decode(piece->bytes + at, piece->size - at, &insn))
			return false;
		begin->address = piece->start + at;
		if (!first->address && !is_refused(piece->bytes + at, &insn))
			*first = *begin;
		if (is_emulated(&insn)) {
			return !walk->has_table || is_push(&insn);
		}
		room = room_made(&insn);
		begin->distance += room;
		reg = written(&insn);
		if (reg == -2 || (reg == X86_RSP && !room))
			return false;
	}
	return false;
}

static bool is_end(const struct ways *ways, uint64_t address)
{
	for (unsigned i = 0; i < ways->n; i++) {
		if (ways->ends[i].address == address)
			return true;
	}
	return false;
}

static int find_begin(struct walk *walk)
{
	const struct piece *piece = &walk->pieces[0];
	struct way entry = {.address = piece->start, .distance = RETURN_ADDRESS}, cheap = entry;
	struct way first = {.address = 0};

	if (is_jumped_to(walk, entry.address, entry.address))
		return refuse(walk, entry.address,
			      "calls cannot be told from its loop, which begins with it,");
	if (find_cheap(walk, &cheap, &first) && !is_jumped_to(walk, entry.address, cheap.address) &&
	    !is_end(walk->ways, cheap.address))
		entry = cheap;
	else if (first.address && !is_jumped_to(walk, entry.address, first.address))
		entry = first;
	else
		return refuse(walk, entry.address, "the kernel cannot probe its first instruction");
	walk->ways->begin = entry;
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

int ways_find(const struct ways_code *code, struct ways_range range, struct ways *ways, struct error *err)
{
	struct walk walk = {.code = code, .ways = ways, .err = err};
	int rc;

	*ways = (struct ways){.n = 0};
	rc = add_piece(&walk, range.start, range.end);
	if (rc == 0)
		rc = scan_all(&walk);
	if (rc == 0)
		rc = check_jumps(&walk);
	if (rc == 0)
		rc = find_begin(&walk);
	if (rc == 0)
		rc = part_ends(&walk);
	for (unsigned i = 0; i < walk.npieces; i++)
		free(walk.pieces[i].begins);
	free(walk.jumps);
	return rc;
}
