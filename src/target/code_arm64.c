/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Code of arm64, as Go 1.22 to 1.26 make it (cmd/internal/obj/arm64/obj7.go, cmd/compile/internal/arm64).
 *
 * Which instructions are probed: those that the kernel simulates, for all
 * others cost a second exception to step them elsewhere (Linux 6.12, 6.18
 * arch/arm64/kernel/probes/decode-insn.c: b, bl, b.cond, cbz, tbz, br, ret,
 * adr, literal loads). What makes a frame (str, stp) is none of them, so a
 * function is probed at the `b.ls` of its stack check, before that: arguments
 * are in registers, x30 is the return address, x29 the caller's frame. If the
 * stack has to grow the function begins anew, and comes by again: the flags
 * tell at the first time, and the program leaves it (bpf/go.bpf.h, comes_again).
 */
#include "target/code_arm64.h"

#include <errno.h>
#include <string.h>

/* stacksplit: up to seven instructions for a huge frame. */
#define MAX_PROLOGUE 10

bool arm64_at(const struct code *code, size_t offset, struct arm64_insn *insn)
{
	return offset < code->size && arm64_decode(code->bytes + offset, code->size - offset, insn);
}

uint64_t arm64_leads_to(const struct code *code, size_t offset, const struct arm64_insn *insn)
{
	return code->address + offset + (uint64_t)insn->imm;
}

static bool has(uint32_t set, uint8_t reg)
{
	return set >> reg & 1;
}

static void hold(struct arm64_places *places, uint8_t reg, uint64_t address, bool variable)
{
	places->at[reg] = address;
	places->known |= 1u << reg;
	if (variable)
		places->variable |= 1u << reg;
}

void arm64_follow(struct arm64_places *places, const struct code *code, size_t offset,
		  const struct arm64_insn *insn)
{
	uint64_t pc = code->address + offset, from = places->at[insn->rn];
	bool known = has(places->known, insn->rn);
	uint32_t changes = arm64_changes(insn) | 1u << ARM64_SP;

	places->known &= ~changes;
	places->variable &= ~changes;
	if (insn->op == ARM64_ADRP)
		hold(places, insn->rd, (pc & ~0xfffull) + (uint64_t)insn->imm, false);
	else if (insn->op == ARM64_ADR)
		hold(places, insn->rd, pc + (uint64_t)insn->imm, true);
	else if (insn->op == ARM64_ADD && known && insn->rd != ARM64_SP)
		hold(places, insn->rd, from + (uint64_t)insn->imm, true);
}

bool arm64_accessed(const struct arm64_places *places, const struct arm64_insn *insn, uint64_t *address)
{
	bool accesses = (insn->op >= ARM64_LOAD && insn->op <= ARM64_STORE_RELEASE) &&
			insn->op != ARM64_LOAD_INDEX && insn->op != ARM64_STORE_INDEX;

	if (!accesses || insn->before || insn->after || insn->rn == ARM64_SP || !has(places->known, insn->rn))
		return false;
	*address = places->at[insn->rn] + (uint64_t)insn->imm;
	return true;
}

/* --- prologues --- */

/* `str x30, [sp, #-N]!`, or for a big frame `sub x20, sp, #N`, behind which x29 and x30 are stored. */
static bool makes_frame(const struct arm64_insn *insn)
{
	if (insn->op == ARM64_STORE)
		return insn->rd == ARM64_LR && insn->rn == ARM64_SP && insn->before;
	return insn->op == ARM64_SUB && insn->rn == ARM64_SP && insn->rd == 20;
}

/* Loading the guard, computing where the frame would end, comparing. */
static bool may_precede_jump(const struct arm64_insn *insn)
{
	return (insn->op == ARM64_LOAD && insn->rn == ARM64_G) || insn->op == ARM64_SUB ||
	       insn->op == ARM64_CMP || insn->op == ARM64_CMP_REG || insn->op == ARM64_MOVE ||
	       insn->op == ARM64_CONSTANT || insn->op == ARM64_OTHER || insn->op == ARM64_B_COND;
}

static int prologue(const struct code *code, size_t *offset)
{
	struct arm64_insn insn;

	for (size_t at = 0; at < MAX_PROLOGUE * ARM64_LENGTH && arm64_at(code, at, &insn);
	     at += ARM64_LENGTH) {
		bool check = insn.op == ARM64_B_COND && insn.condition == ARM64_LS;

		if (check || (at == 0 && makes_frame(&insn))) {
			*offset = at;
			return 0;
		}
		if (!may_precede_jump(&insn))
			break;
	}
	return -ENOENT;
}

static int probe_insn(const struct code *code, size_t offset, struct probe_insn *probed)
{
	struct arm64_insn insn;

	if (!arm64_at(code, offset, &insn))
		return -ENOENT;
	*probed = (struct probe_insn){.length = ARM64_LENGTH};
	if (insn.op == ARM64_B_COND)
		probed->kind = "b.cond";
	else if (insn.op == ARM64_BL)
		probed->kind = "bl";
	else if (arm64_is_conditional(&insn))
		probed->kind = insn.op <= ARM64_CBNZ ? "cbz" : "tbz";
	else if (offset == 0 && makes_frame(&insn)) /* stepped: of few functions, rarely called */
		probed->kind = insn.op == ARM64_STORE ? "str" : "sub";
	return probed->kind ? 0 : -ENOENT;
}

/* UPROBES_BRK_IMM (Linux arch/arm64/include/asm/brk-imm.h): brk #5 */
static bool is_breakpoint(const uint8_t *live)
{
	static const uint8_t brk[] = {0xa0, 0x00, 0x20, 0xd4};

	return memcmp(live, brk, sizeof(brk)) == 0;
}

/* --- calls --- */

/* Ends a stretch of code that runs from its first instruction to its last. */
static bool leaves_line(const struct arm64_insn *insn)
{
	return insn->op >= ARM64_B;
}

struct constants {
	int64_t of[ARM64_REGISTERS];
};

static void follow_constants(struct constants *constants, const struct arm64_insn *insn)
{
	uint32_t changes = leaves_line(insn) ? UINT32_MAX : arm64_changes(insn);
	int64_t moved = insn->rm == ARM64_SP ? 0 : constants->of[insn->rm];

	for (unsigned i = 0; i < ARM64_REGISTERS; i++) {
		if (changes >> i & 1)
			constants->of[i] = CONSTANT_UNKNOWN;
	}
	if (insn->op == ARM64_CONSTANT)
		constants->of[insn->rd] = insn->imm;
	else if (insn->op == ARM64_MOVE)
		constants->of[insn->rd] = moved;
}

static int calls(const struct code *code, uint64_t callee, struct call_site *sites, int max)
{
	struct constants constants;
	struct arm64_insn insn;
	int n = 0;

	for (unsigned i = 0; i < ARM64_REGISTERS; i++)
		constants.of[i] = CONSTANT_UNKNOWN;
	for (size_t at = 0; arm64_at(code, at, &insn); at += ARM64_LENGTH) {
		if (insn.op == ARM64_BL && arm64_leads_to(code, at, &insn) == callee) {
			if (n < max)
				sites[n] = (struct call_site){
					.offset = at,
					.args = {constants.of[0], constants.of[1], constants.of[2]},
				};
			n++;
		}
		follow_constants(&constants, &insn);
	}
	return n;
}

/* --- checks if the tracer is on --- */

/* A variable has been loaded that a jump may be about. */
struct check {
	bool loaded;
	uint8_t reg;
	uint64_t address;
};

/* `cbz`, `cbnz` of the whole register (1.22: a generation), or `tbz`, `tbnz` of its lowest bit (a bool). */
static bool decides(const struct arm64_insn *insn, const struct check *check)
{
	return check->loaded && insn->op >= ARM64_CBZ && insn->op <= ARM64_TBNZ && insn->rd == check->reg &&
	       insn->bit == 0;
}

static void follow_check(struct check *check, struct arm64_places *places, const struct code *code, size_t at,
			 const struct arm64_insn *insn)
{
	uint64_t address;
	bool one = insn->op == ARM64_LOAD || insn->op == ARM64_LOAD_ACQUIRE;

	if (one && arm64_accessed(places, insn, &address))
		*check = (struct check){.loaded = true, .reg = insn->rd, .address = address};
	else if (leaves_line(insn) || has(arm64_changes(insn), check->reg))
		check->loaded = false;
	arm64_follow(places, code, at, insn);
}

static int flag(const struct code *code, uint64_t *variable)
{
	struct arm64_places places = {.known = 0};
	struct check check = {.loaded = false};
	struct arm64_insn insn;

	for (size_t at = 0; arm64_at(code, at, &insn); at += ARM64_LENGTH) {
		if (decides(&insn, &check)) {
			*variable = check.address;
			return 0;
		}
		follow_check(&check, &places, code, at, &insn);
	}
	return -ENOENT;
}

/*
 * Which registers hold the flag's address, along forward jumps, too: in a long
 * function (1.22: sweep) it is made once and used far behind.
 */
#define MAX_JUMPS 512

struct holders {
	uint64_t variable;
	uint32_t now; /* a bit for each register */
	bool cut;     /* the instruction before goes on elsewhere */
	bool inner;   /* only a jump back leads here (the body of a loop): now is what it leaves alone */
	int n;
	struct {
		size_t to;
		uint32_t held; /* on all ways there */
	} jumps[MAX_JUMPS];
};

static void note_jump(struct holders *holders, size_t to)
{
	for (int i = 0; i < holders->n; i++) {
		if (holders->jumps[i].to == to) {
			holders->jumps[i].held &= holders->now;
			return;
		}
	}
	if (holders->n < MAX_JUMPS) {
		holders->jumps[holders->n].to = to;
		holders->jumps[holders->n++].held = holders->now;
	}
}

static void arrive(struct holders *holders, size_t at)
{
	if (holders->cut) {
		holders->now = UINT32_MAX;
		holders->inner = true;
	}
	for (int i = 0; i < holders->n; i++) {
		if (holders->jumps[i].to == at) {
			holders->now &= holders->jumps[i].held;
			holders->inner = false;
		}
	}
}

static void follow_holders(struct holders *holders, const struct arm64_places *places, size_t at,
			   const struct arm64_insn *insn)
{
	bool jumps = arm64_is_conditional(insn) || insn->op == ARM64_B;

	holders->cut = insn->op == ARM64_B || insn->op == ARM64_BR || insn->op == ARM64_RET;
	if (jumps && insn->imm > 0 && !holders->inner)
		note_jump(holders, at + (size_t)insn->imm);
	if (jumps)
		return;
	holders->now &= ~arm64_changes(insn);
	if (insn->op == ARM64_ADD && has(places->variable, insn->rd) &&
	    places->at[insn->rd] == holders->variable)
		holders->now |= 1u << insn->rd;
}

static bool loads_held(const struct holders *holders, const struct arm64_insn *insn)
{
	return (insn->op == ARM64_LOAD || insn->op == ARM64_LOAD_ACQUIRE) && insn->imm == 0 &&
	       !holders->inner && has(holders->now, insn->rn);
}

static int flag_checks(const struct code *code, uint64_t variable, size_t *offsets, int max)
{
	struct holders holders = {.variable = variable};
	struct arm64_places places = {.known = 0};
	struct check check = {.loaded = false};
	struct arm64_insn insn;
	int n = 0;

	for (size_t at = 0; arm64_at(code, at, &insn); at += ARM64_LENGTH) {
		bool held;

		arrive(&holders, at);
		held = loads_held(&holders, &insn);
		if (decides(&insn, &check) && check.address == variable) {
			if (n < max)
				offsets[n] = at;
			n++;
		}
		follow_check(&check, &places, code, at, &insn);
		if (held)
			check = (struct check){.loaded = true, .reg = insn.rd, .address = variable};
		follow_holders(&holders, &places, at, &insn);
	}
	return n;
}

/* --- variables --- */

struct listing {
	struct reference *all;
	int n, max;
	int fresh;         /* what the instruction before has made an address of, -1 = nothing */
	uint8_t register_; /* that holds the address, or, if `word`, the word that was loaded */
	bool word;
};

static void list(struct listing *listing, uint64_t address, uint8_t use, uint8_t size)
{
	if (listing->n < listing->max)
		listing->all[listing->n] = (struct reference){.address = address, .use = use, .size = size};
	listing->n++;
}

static bool is_load(const struct arm64_insn *insn)
{
	return insn->op == ARM64_LOAD || insn->op == ARM64_LOAD_PAIR || insn->op == ARM64_LOAD_ACQUIRE;
}

/*
 * A load or a store through an address that was made just for it is no use of
 * that address; but a store that others see at once is on x86-64 an exchange
 * through one (StorepNoWB), and those who look for variables count on it.
 */
static void list_access(struct listing *listing, const struct arm64_insn *insn, uint64_t address)
{
	uint8_t use = is_load(insn) ? USE_LOAD : USE_STORE;
	bool pair = insn->op == ARM64_LOAD_PAIR || insn->op == ARM64_STORE_PAIR;

	if (insn->op == ARM64_STORE_RELEASE)
		use |= USE_ADDRESS;
	if (listing->fresh >= 0 && !listing->word && listing->register_ == insn->rn)
		listing->n = listing->fresh;
	list(listing, address, use, insn->size);
	if (pair)
		list(listing, address + insn->size, use, insn->size);
}

/* `cbz w`, `cbnz w`, `cmp w, #0` of the word that was loaded right before. */
static bool compares_word(const struct listing *listing, const struct arm64_insn *insn)
{
	uint8_t reg = insn->op == ARM64_CMP ? insn->rn : insn->rd;

	return listing->word && !insn->wide && reg == listing->register_ &&
	       (insn->op == ARM64_CBZ || insn->op == ARM64_CBNZ || (insn->op == ARM64_CMP && insn->imm == 0));
}

static void list_uses(struct listing *listing, const struct arm64_places *places, const struct code *code,
		      size_t at, const struct arm64_insn *insn)
{
	uint64_t address;
	bool makes = insn->op == ARM64_ADR ||
		     (insn->op == ARM64_ADD && insn->rd != ARM64_SP && has(places->known, insn->rn));

	if (insn->op == ARM64_NOP)
		return;
	if (compares_word(listing, insn) && listing->fresh < listing->max)
		listing->all[listing->fresh].use |= USE_IS_ZERO;
	if (makes) {
		address = insn->op == ARM64_ADR ? arm64_leads_to(code, at, insn)
						: places->at[insn->rn] + (uint64_t)insn->imm;
		list(listing, address, USE_ADDRESS, 0);
	} else if (arm64_accessed(places, insn, &address)) {
		list_access(listing, insn, address);
	} else {
		listing->fresh = -1;
		listing->word = false;
		return;
	}
	listing->fresh = listing->n - 1;
	listing->register_ = insn->rd;
	listing->word = !makes && is_load(insn) && insn->size == 4 && insn->op != ARM64_LOAD_PAIR;
	if (!makes && !listing->word)
		listing->fresh = -1;
}

static int references(const struct code *code, struct reference *found, int max)
{
	struct listing listing = {.all = found, .max = max, .fresh = -1};
	struct arm64_places places = {.known = 0};
	struct arm64_insn insn;

	for (size_t at = 0; arm64_at(code, at, &insn); at += ARM64_LENGTH) {
		list_uses(&listing, &places, code, at, &insn);
		arm64_follow(&places, code, at, &insn);
	}
	return listing.n;
}

const struct code_set code_set_arm64 = {
	.prologue = prologue,
	.probe_insn = probe_insn,
	.is_breakpoint = is_breakpoint,
	.calls = calls,
	.flag = flag,
	.flag_checks = flag_checks,
	.references = references,
	.slice_result = arm64_slice_result,
	.receiver = arm64_receiver,
	.region_start = arm64_region_start,
	.region_next_use = arm64_region_next_use,
};
