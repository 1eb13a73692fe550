/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/symbol/depth_amd64.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "code/isa/written_x86.h"
#include "code/isa/x86.h"
#include "util/array.h"

/* Values of frame.sp. */
enum { NOT_KNOWN = 0, OUTERMOST = -1 };

enum {
	VISITED = 1,
	START = 2,  /* a function begins here: something calls it */
	SWITCH = 4, /* a jump through a table, to code of the same function */
	TARGET = 8, /* of a jump */
};

/* Where the caller's registers are before an instruction, in words. The CFA is the caller's stack pointer. */
struct depth_frame {
	int32_t sp;     /* from the stack pointer up to the CFA, or NOT_KNOWN or OUTERMOST */
	int16_t bp;     /* from rbp up to the CFA, while rbp is the frame pointer; 0 = it is not */
	uint16_t saved; /* the caller's rbp is at CFA - 8 * saved; 0 = it is in rbp */
};

/* An instruction, at the offset of its first byte. */
struct depth_place {
	struct depth_frame frame;
	uint8_t length, flags;
};

struct depth_branch {
	size_t to;
	struct depth_frame frame;
};

struct branches {
	struct depth_branch *list;
	size_t n, capacity;
};

struct depth_scan {
	const uint8_t *code;
	size_t size;
	struct depth_place *places;
	struct branches jumps;   /* still to be followed */
	struct branches behind;  /* a call that may not return: followed when no jump is left */
	struct branches visited; /* since the latest guess */
	struct budget *budget;
	bool wrong; /* a function returns without its return address */
	bool oom;
};

static const struct depth_frame at_entry = {.sp = 1};

/* --- what an instruction does to the frame --- */

static void depth_grow(struct depth_frame *frame, int64_t bytes)
{
	int64_t words = frame->sp + bytes / 8;

	frame->sp = bytes % 8 || !frame->sp || words < 1 || words > UNWIND_OFFSET_MAX ? NOT_KNOWN
										      : (int32_t)words;
}

/* Sets the stack pointer to rbp + bytes. */
static void set_from_bp(struct depth_frame *frame, int64_t bytes)
{
	frame->sp = frame->bp;
	depth_grow(frame, -bytes);
}

static bool is_at_sp(const struct x86_insn *insn)
{
	return insn->mod != 3 && (insn->rm & 7) == 4 && !(insn->rex & 3) && insn->sib == 0x24;
}

/* The distance of the word that a memory operand at rsp + disp names from the CFA; 0 = unknown. */
static uint16_t word_named(const struct depth_frame *frame, const struct x86_insn *insn)
{
	int64_t words = frame->sp - insn->disp / 8;

	return frame->sp > 0 && is_at_sp(insn) && insn->disp % 8 == 0 && words > 0 &&
			       words <= (int64_t)UNWIND_RBP_LAST
		       ? (uint16_t)words
		       : 0;
}

static void depth_push(struct depth_frame *frame, bool is_bp)
{
	depth_grow(frame, 8);
	if (is_bp && !frame->saved && !frame->bp && frame->sp > 0 && frame->sp <= (int32_t)UNWIND_RBP_LAST)
		frame->saved = (uint16_t)frame->sp;
}

static void depth_pop(struct depth_frame *frame, bool is_bp)
{
	if (is_bp) {
		frame->bp = 0;
		if (frame->saved == frame->sp)
			frame->saved = 0;
	}
	depth_grow(frame, -8);
}

static void depth_move(struct depth_frame *frame, unsigned to, unsigned from)
{
	if (to == X86_RBP)
		frame->bp =
			from == X86_RSP && frame->sp > 0 && frame->sp <= INT16_MAX ? (int16_t)frame->sp : 0;
	else if (to == X86_RSP && from == X86_RBP)
		set_from_bp(frame, 0);
	else if (to == X86_RSP)
		frame->sp = NOT_KNOWN;
}

static void write_sp(struct depth_frame *frame, const struct x86_insn *insn)
{
	bool immediate = x86_is_one(insn, 0x81) || x86_is_one(insn, 0x83);

	if (immediate && (insn->reg & 7) == 5) /* sub */
		depth_grow(frame, insn->imm);
	else if (immediate && (insn->reg & 7) == 0) /* add */
		depth_grow(frame, -insn->imm);
	else if (x86_is_one(insn, 0x8d) && is_at_sp(insn)) /* lea */
		depth_grow(frame, -insn->disp);
	else if (x86_is_one(insn, 0x8d) && insn->rm == X86_RBP && insn->has_disp)
		set_from_bp(frame, insn->disp);
	else
		frame->sp = NOT_KNOWN;
}

/* xor %ebp, %ebp: the ABI's mark of the outermost frame (System V ABI for x86-64, 3.4.1), if the caller's rbp
 * was not saved before. */
static bool clears_bp(const struct x86_insn *insn)
{
	return (x86_is_one(insn, 0x31) || x86_is_one(insn, 0x33)) && insn->mod == 3 && insn->reg == X86_RBP &&
	       insn->rm == X86_RBP;
}

static void follow_moves(struct depth_frame *frame, const struct x86_insn *insn)
{
	bool stores = x86_is_one(insn, 0x89), loads = x86_is_one(insn, 0x8b);
	uint16_t named = insn->reg == X86_RBP ? word_named(frame, insn) : 0;

	if (stores && insn->mod == 3) {
		depth_move(frame, insn->rm, insn->reg);
	} else if (loads && insn->mod == 3) {
		depth_move(frame, insn->reg, insn->rm);
	} else if (stores && named && !frame->saved && !frame->bp) {
		frame->saved = named;
	} else if (!stores) {
		if (x86_written(insn) == X86_RSP)
			write_sp(frame, insn);
		if (x86_written(insn) == X86_RBP)
			frame->bp = 0;
		if (loads && named && named == frame->saved)
			frame->saved = 0;
	}
}

static void depth_follow(struct depth_frame *frame, const struct x86_insn *insn)
{
	uint8_t op = insn->opcode, low = (insn->opcode & 7) | (insn->rex & 1 ? 8 : 0);
	bool one = insn->map == X86_ONE && !insn->vex, group5 = one && op == 0xff && (insn->reg & 7) == 6;
	bool pops = one && (op & 0xf8) == 0x58;

	if (frame->sp == OUTERMOST)
		return;
	if (clears_bp(insn) && !frame->saved && !frame->bp)
		frame->sp = OUTERMOST;
	else if (one && insn->operand16 && op >= 0x50 && op <= 0x6a)
		frame->sp = NOT_KNOWN;
	else if (x86_is_push(insn) || (one && (op == 0x68 || op == 0x6a)) || group5)
		depth_push(frame, x86_is_push(insn) && low == X86_RBP);
	else if (pops && low != X86_RSP)
		depth_pop(frame, low == X86_RBP);
	else if (pops || (one && (op == 0x8f || op == 0xc8)))
		frame->sp = NOT_KNOWN;
	else if (one && op == 0xc9) { /* leave */
		set_from_bp(frame, 0);
		frame->saved = 0;
		frame->bp = 0;
		depth_grow(frame, -8);
	} else
		follow_moves(frame, insn);
}

/* --- where it goes on --- */

static bool insn_is_return(const struct x86_insn *insn)
{
	return x86_is_one(insn, 0xc3) || x86_is_one(insn, 0xc2);
}

static bool insn_is_end(const struct x86_insn *insn)
{
	if (insn->map == X86_0F)
		return insn->opcode == 0x0b; /* ud2 */
	return insn_is_return(insn) || x86_is_one(insn, 0xcc) || x86_is_one(insn, 0xf4);
}

static bool insn_is_indirect_call(const struct x86_insn *insn)
{
	return x86_is_one(insn, 0xff) && (insn->reg & 7) == 2;
}

static bool insn_is_jump(const struct x86_insn *insn)
{
	return x86_is_one(insn, 0xe9) || x86_is_one(insn, 0xeb);
}

static bool insn_is_table_jump(const struct x86_insn *insn)
{
	return x86_is_one(insn, 0xff) && (insn->reg & 7) == 4;
}

static void add_branch(struct depth_scan *scan, struct branches *branches, size_t to,
		       struct depth_frame frame)
{
	if (array_grow(&branches->list, &branches->capacity, branches->n + 1, sizeof(*branches->list)))
		scan->oom = true;
	else
		branches->list[branches->n++] = (struct depth_branch){to, frame};
}

/* Follows a jump. One to a function takes the place of a call and a return: the return address is on top. */
static void branch_to(struct depth_scan *scan, const struct x86_insn *insn, size_t next,
		      struct depth_frame frame)
{
	size_t to = next + (size_t)insn->imm;

	if (to >= scan->size || x86_is_call(insn))
		return;
	scan->wrong |= (scan->places[to].flags & START) && frame.sp > at_entry.sp;
	if (!(scan->places[to].flags & (VISITED | START)))
		add_branch(scan, &scan->jumps, to, frame);
}

/* Returns the length of the padding at an offset, or 0 if there is none. What is not decoded is padding, too.
 */
static size_t padding_length(const struct depth_scan *scan, size_t at)
{
	size_t begin = at;
	struct x86_insn insn;

	for (; at < scan->size; at += insn.length) {
		if (!x86_decode(scan->code + at, scan->size - at, &insn))
			insn.length = 1;
		else if (!x86_is_nop(&insn) && !x86_is_one(&insn, 0xcc))
			break;
	}
	return at - begin;
}

/* Compilers align loops with padding, which a jump enters, and functions. */
static bool is_target_behind(const struct depth_scan *scan, size_t at)
{
	at += padding_length(scan, at);
	return at < scan->size && (scan->places[at].flags & TARGET);
}

/* Follows straight-line code. */
static void visit_line(struct depth_scan *scan, size_t at, struct depth_frame frame)
{
	bool first = true, called = false;

	while (at < scan->size && budget_step(scan->budget)) {
		struct depth_place *place = &scan->places[at];
		struct x86_insn insn;

		/* Behind a call that does not return, the next function begins. */
		if ((place->flags & VISITED) || (!first && (place->flags & START)) ||
		    !x86_decode(scan->code + at, scan->size - at, &insn))
			return;
		if (called && (place->flags & TARGET)) {
			add_branch(scan, &scan->behind, at, frame);
			return;
		}
		if (called && x86_is_nop(&insn) && !is_target_behind(scan, at))
			return;
		add_branch(scan, &scan->visited, at, frame);
		first = false;
		called = x86_is_call(&insn) || insn_is_indirect_call(&insn);
		place->frame = frame;
		place->length = insn.length;
		place->flags |= VISITED;
		at += insn.length;
		if (insn.relative)
			branch_to(scan, &insn, at, frame);
		if (insn_is_table_jump(&insn) && frame.sp > at_entry.sp)
			place->flags |= SWITCH;
		scan->wrong |= insn_is_return(&insn) && frame.sp > at_entry.sp;
		if (insn_is_end(&insn) || insn_is_jump(&insn) || insn_is_table_jump(&insn))
			return;
		if (!insn.relative)
			depth_follow(&frame, &insn);
	}
}

static void visit_branches(struct depth_scan *scan, struct branches *branches)
{
	while (branches->n && !scan->oom && !scan->budget->spent) {
		struct depth_branch branch = branches->list[--branches->n];

		visit_line(scan, branch.to, branch.frame);
		if (branches != &scan->jumps)
			visit_branches(scan, &scan->jumps);
	}
}

static void visit_from(struct depth_scan *scan, size_t at, struct depth_frame frame)
{
	scan->wrong = false;
	scan->visited.n = 0;
	visit_line(scan, at, frame);
	visit_branches(scan, &scan->jumps);
}

/* Visits code of which nothing says what its frame is. */
static void visit_guess(struct depth_scan *scan, size_t at, struct depth_frame frame)
{
	visit_from(scan, at, frame);
	for (size_t i = 0; i < scan->visited.n && scan->wrong; i++)
		scan->places[scan->visited.list[i].to].flags &= (uint8_t) ~(VISITED | SWITCH);
}

/* Finds what jumps lead to. In code that is not decoded in step there may be too many. */
static void find_targets(struct depth_scan *scan)
{
	struct x86_insn insn;

	for (size_t at = 0; at < scan->size && budget_step(scan->budget); at += insn.length) {
		size_t to;

		if (!x86_decode(scan->code + at, scan->size - at, &insn)) {
			insn.length = 1;
			continue;
		}
		to = at + insn.length + (size_t)insn.imm;
		if (insn.relative && to < scan->size && insn.imm) /* call 0 is for the address */
			scan->places[to].flags |= x86_is_call(&insn) ? START : TARGET;
	}
}

static size_t length_at(const struct depth_scan *scan, size_t at)
{
	struct x86_insn insn;

	return x86_decode(scan->code + at, scan->size - at, &insn) ? insn.length : 1;
}

static bool ends_at(const struct depth_scan *scan, size_t at)
{
	struct x86_insn insn;

	return x86_decode(scan->code + at, scan->size - at, &insn) &&
	       (insn_is_end(&insn) || insn_is_jump(&insn) || insn_is_table_jump(&insn));
}

/*
 * What nothing calls or jumps to is reached through pointers, and is a function, or through the table of a
 * switch before it. What something jumps to that is not known yet is passed over, up to its end, unless
 * `all`.
 */
static void visit_rest(struct depth_scan *scan, bool all)
{
	struct depth_frame frame = at_entry;
	bool passing = false;
	size_t length;

	for (size_t at = 0; at < scan->size && !scan->oom && !scan->budget->spent; at += length) {
		struct depth_place *place = &scan->places[at];
		bool visited = place->flags & VISITED;

		if (place->flags & START)
			frame = at_entry;
		passing = !visited && (passing || (!all && (place->flags & TARGET)));
		length = visited || passing ? 0 : padding_length(scan, at);
		if (length)
			continue;
		if (!visited && !passing && frame.sp > at_entry.sp)
			visit_guess(scan, at, frame);
		if (!(place->flags & VISITED) && !passing)
			visit_from(scan, at, at_entry);
		if (place->flags & SWITCH)
			frame = place->frame;
		passing = passing && !ends_at(scan, at);
		length = length_at(scan, at);
	}
}

static void visit_code(struct depth_scan *scan)
{
	for (size_t at = 0; at < scan->size; at++) {
		if ((scan->places[at].flags & (START | VISITED)) == START)
			visit_from(scan, at, at_entry);
	}
	for (int all = 0; all < 2; all++) {
		visit_rest(scan, all);
		visit_branches(scan, &scan->behind);
	}
}

/* --- rules --- */

static uint32_t rule_of(const struct depth_frame *frame)
{
	if (frame->sp == OUTERMOST)
		return UNWIND_RULE(UNWIND_END, 0, 0);
	if (frame->sp != NOT_KNOWN)
		return UNWIND_RULE(UNWIND_SP, frame->saved, frame->sp);
	return frame->bp ? UNWIND_RULE(UNWIND_BP, frame->saved, frame->bp) : UNWIND_NONE;
}

static int add_rules(const struct depth_scan *scan, struct ehframe_spans *spans, uint64_t address)
{
	size_t length;
	int rc = 0;

	for (size_t at = 0; at < scan->size && rc == 0; at += length) {
		const struct depth_place *place = &scan->places[at];
		uint32_t rule = place->flags & VISITED ? rule_of(&place->frame) : UNWIND_NONE;

		length = place->flags & VISITED ? place->length : 1;
		if (rule != UNWIND_NONE)
			rc = ehframe_spans_add(spans, address + at, address + at + length, rule);
	}
	return rc;
}

int depth_amd64_add(struct ehframe_spans *spans, const uint8_t *code, size_t size, uint64_t address,
		    const struct depth_starts *starts, struct budget *budget)
{
	struct depth_scan scan = {.code = code, .size = size, .budget = budget};
	int rc = 0;

	if (size > DEPTH_CODE_MAX)
		return 0;
	scan.places = calloc(size + 1, sizeof(*scan.places));
	if (!scan.places)
		return -ENOMEM;
	find_targets(&scan);
	for (size_t i = 0; i < starts->n; i++) {
		if (starts->list[i] - address < size)
			scan.places[starts->list[i] - address].flags |= START;
	}
	visit_code(&scan);
	if (scan.oom)
		rc = -ENOMEM;
	else if (!budget->spent)
		rc = add_rules(&scan, spans, address);
	free(scan.jumps.list);
	free(scan.behind.list);
	free(scan.visited.list);
	free(scan.places);
	return rc;
}
