/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Probe points in x86-64 code: the machine-dependent part of the search. */
#include <string.h>

#include "code/isa/probe_walk.h"
#include "code/isa/written_x86.h"
#include "code/isa/x86.h"

enum {
	LOOKBACK_INSNS = 12, /* instructions between the load of a jump's target and the jump */
	PROLOGUE = 24,       /* instructions searched for a cheap probe point */
	RETURN_ADDRESS = 8,  /* size on the stack */
};

/* The kernel refuses to probe instructions with these prefixes (arch/x86/kernel/uprobes.c, Linux 6.18). */
static bool x86_walk_is_refused(const uint8_t *bytes, const struct x86_insn *insn)
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

/* --- indirect jumps --- */

struct past { /* the previous instructions, newest first */
	struct x86_insn insns[LOOKBACK_INSNS];
	uint64_t addresses[LOOKBACK_INSNS];
	unsigned n;
};

static void x86_past_remember(struct past *past, const struct x86_insn *insn, uint64_t address)
{
	memmove(&past->insns[1], &past->insns[0], (LOOKBACK_INSNS - 1) * sizeof(*insn));
	memmove(&past->addresses[1], &past->addresses[0], (LOOKBACK_INSNS - 1) * sizeof(address));
	past->insns[0] = *insn;
	past->addresses[0] = address;
	if (past->n < LOOKBACK_INSNS)
		past->n++;
}

static bool has_index(const struct x86_insn *insn)
{
	return insn->mod != 3 && (insn->rm & 7) == 4 &&
	       ((insn->sib >> 3 & 7) != 4 || (insn->rex & 2)); /* 4 without REX.X means no index */
}

/*
 * Finds the table from which memory operand `insn` takes an entry: table(,%reg,8), or a base set by `lea
 * table(%rip), %base`.
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

/* Whether a table of addresses belongs to a switch (1) or is a table of functions (0); -1 if unclear. */
static int x86_walk_is_switch(const struct probe_walk *walk, const struct x86_insn *insn,
			      const struct past *past)
{
	uint64_t table, first;

	if (!table_of(insn, past, &table) || !walk->source->pointer(walk->source->ctx, table, &first))
		return -1;
	return walk_piece_of(walk, first) != NULL;
}

/* The last write to a register, if it is of one of the two kinds that compute a jump's target. */
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
 * `jmp *%reg` without a frame. A switch adds a distance from its table to the table's address
 * (position-independent code), or loads an address from the table.
 */
static int classify_register_jump(const struct probe_walk *walk, const struct x86_insn *insn,
				  const struct past *past)
{
	const struct x86_insn *source = source_of(past, insn->rm);

	if (!source)
		return 0;
	if (source->opcode != 0x8b)
		return 1;
	return has_index(source) ? x86_walk_is_switch(walk, source, past) : 0;
}

/* Returns 1 if the jump stays in the function, 0 if it is a tail call, -1 if unknown. */
static int stays_inside(const struct probe_walk *walk, const struct x86_insn *insn, const struct past *past,
			int64_t distance)
{
	if (distance != DISTANCE_UNKNOWN && distance != RETURN_ADDRESS)
		return insn->rip_relative ? -1 : 1;
	if (insn->rip_relative)
		return 0; /* through the GOT */
	if (insn->mod == 3) {
		int inside = classify_register_jump(walk, insn, past);

		return distance == DISTANCE_UNKNOWN && inside == 0 ? -1 : inside;
	}
	if (has_index(insn))
		return x86_walk_is_switch(walk, insn, past);
	return distance == DISTANCE_UNKNOWN ? -1 : 0;
}

static int x86_walk_take_indirect(struct probe_walk *walk, const struct x86_insn *insn,
				  const struct past *past, uint64_t address)
{
	int inside = stays_inside(walk, insn, past, walk->source->distance(walk->source->ctx, address));

	if (inside < 0)
		return walk_refuse(walk, address, "it is unclear whether the jump stays in the function");
	if (inside == 0)
		return walk_add_end(walk, address, 0);
	walk->has_table = true;
	return 0;
}

/* --- instructions --- */

static bool is_return(const struct x86_insn *insn)
{
	return insn->map == X86_ONE && !insn->vex && (insn->opcode == 0xc3 || insn->opcode == 0xc2);
}

static bool is_jump_indirect(const struct x86_insn *insn)
{
	return insn->map == X86_ONE && insn->opcode == 0xff && (insn->reg & 7) == 4;
}

/* Jumps and returns that compilers do not use: far ones, and returns from interrupts. */
static bool is_unsupported_transfer(const struct x86_insn *insn)
{
	if (insn->map == X86_0F && !insn->vex)
		return insn->opcode == 0x07 || insn->opcode == 0x35; /* sysret, sysexit */
	if (insn->map != X86_ONE)
		return false;
	if (insn->opcode == 0xff)
		return (insn->reg & 7) == 5;
	return insn->opcode == 0xca || insn->opcode == 0xcb || insn->opcode == 0xcf;
}

static int take_relative(struct probe_walk *walk, const struct x86_insn *insn, uint64_t address)
{
	struct code_jump jump = {.from = address};

	if (insn->map == X86_ONE && insn->opcode == 0xe8)
		return 0;
	jump.to = address + insn->length + (uint64_t)insn->imm;
	if (x86_is_jcc(insn))
		jump.condition = 1 + (insn->opcode & 0xf);
	else if (insn->map != X86_ONE || (insn->opcode != 0xe9 && insn->opcode != 0xeb))
		jump.condition = NO_CONDITION_CODE;
	return walk_add_jump(walk, &jump);
}

static int x86_walk_take(struct probe_walk *walk, const struct x86_insn *insn, const struct past *past,
			 uint64_t address)
{
	if (is_return(insn))
		return walk_add_end(walk, address, 0);
	if (is_unsupported_transfer(insn))
		return walk_refuse(walk, address,
				   "an instruction returns or jumps in a way that gotrace does not follow");
	if (is_jump_indirect(insn))
		return x86_walk_take_indirect(walk, insn, past, address);
	return insn->relative ? take_relative(walk, insn, address) : 0;
}

static int x86_walk_scan_piece(struct probe_walk *walk, const struct code_piece *piece)
{
	struct past past = {.n = 0};
	struct x86_insn insn;
	int rc = 0;

	for (uint64_t at = 0; at < piece->size && rc == 0; at += insn.length) {
		const uint8_t *bytes = piece->bytes + at;
		unsigned ends = walk->points->n;

		if (!x86_decode(bytes, piece->size - at, &insn))
			return walk_refuse(walk, piece->start + at, "unknown instruction");
		piece->begins[at] = 1;
		/* Libraries jump past a lock prefix if there is only one thread. */
		if (bytes[0] == 0xf0 && insn.length > 1)
			piece->begins[at + 1] = 1;
		rc = x86_walk_take(walk, &insn, &past, piece->start + at);
		if (walk->points->n > ends && x86_walk_is_refused(bytes, &insn))
			return walk_refuse(walk, piece->start + at,
					   "the kernel cannot probe the instruction");
		x86_past_remember(&past, &insn, piece->start + at);
	}
	return rc;
}

/* --- effects of instructions --- */

/*
 * The kernel turns a probe on a five-byte nop into a call (Linux 6.18, arch/x86/kernel/uprobes.c,
 * arch_uprobe_optimize), which writes below the stack pointer. At the entry this is harmless. Later, a leaf
 * function may have variables there (the red zone, System V ABI for x86-64, 3.2.2).
 */
static bool is_made_call(const struct x86_insn *insn)
{
	bool nop = (insn->map == X86_0F && insn->opcode == 0x1f) ||
		   (insn->map == X86_ONE && insn->opcode == 0x90);

	return nop && !insn->vex && insn->length == 5;
}

/* n of `sub $n, %rsp`; else 0. */
static uint32_t stack_reserved(const struct x86_insn *insn)
{
	bool sub = insn->map == X86_ONE && !insn->vex && (insn->opcode == 0x81 || insn->opcode == 0x83) &&
		   (insn->reg & 7) == 5 && insn->mod == 3 && insn->rm == X86_RSP && (insn->rex & 8);

	return sub && insn->imm > 0 && insn->imm < 1 << 16 && insn->imm % 8 == 0 ? (uint32_t)insn->imm : 0;
}

/* See probe_walk_ops.makes_frame. */
static bool x86_walk_makes_frame(const struct probe_walk *walk)
{
	const struct code_piece *piece = &walk->pieces[0];
	struct x86_insn insn;

	for (uint64_t at = 0; at < piece->size; at += insn.length) {
		if (!x86_decode(piece->bytes + at, piece->size - at, &insn))
			return false;
		if (x86_is_push(&insn) || stack_reserved(&insn))
			return true;
		if (x86_is_emulated(&insn) || x86_written(&insn) == X86_WRITES_UNKNOWN)
			return false;
	}
	return false;
}

/* --- where a call begins --- */

/* What an attach cookie can hold (FUNCTION_COOKIE): 16 bits of words. */
#define DISTANCE_MAX (0xffffu * 8)

/*
 * Finds the first instruction that the kernel emulates, if all instructions before it run exactly once, in
 * sequence. If the code contains a jump table, this is certain only for a push, because it makes the frame.
 * *first is the first instruction that can be probed at all.
 */
static bool find_cheap(const struct probe_walk *walk, struct probe_point *begin, struct probe_point *first)
{
	const struct code_piece *piece = &walk->pieces[0];
	uint64_t at = 0;
	struct x86_insn insn;

	for (unsigned i = 0; i < PROLOGUE && at < piece->size; i++, at += insn.length) {
		uint32_t bytes;
		int reg;

		if (!x86_decode(piece->bytes + at, piece->size - at, &insn))
			return false;
		begin->address = piece->start + at;
		if (!first->address && !x86_walk_is_refused(piece->bytes + at, &insn) &&
		    (at == 0 || !is_made_call(&insn)))
			*first = *begin;
		if (x86_is_emulated(&insn)) {
			return !walk->has_table || x86_is_push(&insn);
		}
		bytes = stack_reserved(&insn);
		begin->distance += bytes;
		reg = x86_written(&insn);
		if (reg == X86_WRITES_UNKNOWN || (reg == X86_RSP && !bytes) || begin->distance > DISTANCE_MAX)
			return false;
	}
	return false;
}

static uint32_t written_before(const struct probe_walk *walk, uint64_t address)
{
	const struct code_piece *piece = &walk->pieces[0];
	struct x86_insn insn;
	uint32_t mask = 0;

	for (uint64_t at = 0; piece->start + at < address; at += insn.length) {
		if (!x86_decode(piece->bytes + at, piece->size - at, &insn))
			return X86_ALL_REGISTERS;
		mask |= x86_written_mask(&insn);
	}
	return mask;
}

static bool x86_walk_is_end(const struct probe_points *points, uint64_t address)
{
	for (unsigned i = 0; i < points->n; i++) {
		if (points->ends[i].address == address)
			return true;
	}
	return false;
}

static int x86_walk_choose_begin(struct probe_walk *walk)
{
	uint64_t start = walk->pieces[0].start;
	struct probe_point entry = {.address = start, .distance = RETURN_ADDRESS}, cheap = entry;
	struct probe_point first = {.address = 0};

	if (find_cheap(walk, &cheap, &first) && !walk_is_jumped_to(walk, start, cheap.address) &&
	    !x86_walk_is_end(walk->points, cheap.address))
		entry = cheap;
	else if (first.address && !walk_is_jumped_to(walk, start, first.address))
		entry = first;
	else
		return walk_refuse(walk, start, "the kernel cannot probe its first instruction");
	walk->points->begin = entry;
	walk->points->written = written_before(walk, entry.address);
	if (first.address == start && !x86_walk_is_end(walk->points, start))
		walk->points->first = first;
	return 0;
}

const struct probe_walk_ops probe_walk_x86 = {
	.alignment = 1,
	.return_distance = RETURN_ADDRESS,
	.no_condition_code = "it ends with an unknown kind of jump",
	.scan = x86_walk_scan_piece,
	.makes_frame = x86_walk_makes_frame,
	.choose_begin = x86_walk_choose_begin,
};
