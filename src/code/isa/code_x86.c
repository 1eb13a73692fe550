/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* x86-64 code. */
#include "code/isa/code_ops.h"
#include "code/isa/scan_x86.h"

#include <errno.h>
#include <string.h>

/* Opcodes of the one-byte map. */
enum {
	OP_STORE8 = 0x88,
	OP_STORE = 0x89,
	OP_LOAD8 = 0x8a,
	OP_LOAD = 0x8b,
	OP_LEA = 0x8d,
	OP_TEST8 = 0x84,
	OP_TEST = 0x85,
	OP_GROUP1_8 = 0x80, /* with an 8-bit immediate; reg 7 is cmp */
	OP_GROUP1 = 0x83,   /* with a sign-extended 8-bit immediate, on 16, 32 or 64 bits */
	OP_MOVSXD = 0x63,
	OP_MOV_IMM_RM = 0xc7,
};

/*
 * The stack check of a big frame has seven instructions (Go 1.26 cmd/internal/obj/x86/obj6.go, stacksplit).
 */
#define MAX_PROLOGUE 10

/* Instructions of a stack check: cmp, lea, mov, sub, jcc. */
static bool may_precede_push(const struct x86_insn *insn)
{
	return x86_is_jcc(insn) || x86_is_one(insn, 0x39) || x86_is_one(insn, 0x3b) ||
	       x86_is_one(insn, 0x81) || x86_is_one(insn, 0x83) || x86_is_one(insn, 0x29) ||
	       x86_is_one(insn, 0x2b) || x86_is_one(insn, OP_LEA) || x86_is_one(insn, OP_LOAD) ||
	       x86_is_one(insn, OP_STORE);
}

/* jbe, short or near */
static bool is_jbe(const struct x86_insn *insn)
{
	return x86_is_jcc(insn) && (insn->opcode & 0xf) == 6;
}

/* `sub $N, %rsp; mov %rbp, size(%rsp)`; for 128 bytes, `add $-128`. */
static bool x86_makes_frame(const struct code *code, size_t at, size_t *size)
{
	struct x86_insn insn;
	bool makes;

	makes = x86_next(code, &at, &insn) > 0 && (x86_is_one(&insn, 0x81) || x86_is_one(&insn, 0x83)) &&
		insn.mod == 3 && insn.rm == X86_RSP && (insn.reg == 5 || insn.reg == 0) &&
		x86_next(code, &at, &insn) > 0 && x86_is_one(&insn, OP_STORE) && insn.mod != 3 &&
		insn.reg == X86_RBP && (insn.rm & 7) == X86_RSP && insn.disp >= 0;
	*size = makes ? (size_t)insn.disp : 0;
	return makes;
}

static int x86_prologue(const struct code *code, size_t *offset)
{
	struct x86_insn insn;
	size_t at = 0, before = 0, size;

	for (int i = 0; i < MAX_PROLOGUE && x86_next(code, &at, &insn) > 0; i++) {
		if (x86_is_push_rbp(&insn) || (is_jbe(&insn) && x86_makes_frame(code, at, &size))) {
			*offset = before;
			return 0;
		}
		if (!may_precede_push(&insn))
			break;
		before = at;
	}
	return -ENOENT;
}

int code_stack_jump(const struct code *code, size_t *offset)
{
	struct x86_insn insn;
	size_t at = 0, before = 0, push;

	if (code->arm64 || x86_prologue(code, &push))
		return -ENOENT;
	while (at < push && x86_next(code, &at, &insn) > 0) {
		if (at == push && is_jbe(&insn)) {
			*offset = before;
			return 0;
		}
		before = at;
	}
	return -ENOENT;
}

int code_frame(const struct code *code, size_t *size)
{
	struct x86_insn insn;
	size_t at;

	if (x86_makes_frame(code, 0, size))
		return 0;
	if (x86_prologue(code, &at) || x86_next(code, &at, &insn) <= 0)
		return -ENOENT;
	if (is_jbe(&insn) && x86_makes_frame(code, at, size))
		return 0;
	if (x86_next(code, &at, &insn) <= 0 || !x86_is_one(&insn, OP_STORE) || insn.mod != 3 ||
	    insn.reg != X86_RSP || insn.rm != X86_RBP || x86_next(code, &at, &insn) <= 0)
		return -ENOENT;
	/* sub, or `add $-128` for 128 bytes, which is shorter; anything else: the function has no locals. */
	*size = 0;
	if ((x86_is_one(&insn, 0x81) || x86_is_one(&insn, 0x83)) && insn.mod == 3 && insn.rm == X86_RSP) {
		int64_t bytes = insn.reg == 5 ? insn.imm : -insn.imm;

		if ((insn.reg != 5 && insn.reg != 0) || bytes < 0)
			return -ENOENT;
		*size = (size_t)bytes;
	}
	return 0;
}

static int x86_calls(const struct code *code, uint64_t callee, struct call_site *sites, int max)
{
	int64_t constants[X86_REGISTERS];
	struct x86_insn insn;
	size_t at = 0, before = 0;
	int n = 0, rc;

	x86_forget_constants(constants);
	while ((rc = x86_next(code, &at, &insn)) > 0) {
		if (x86_is_call(&insn) && x86_named(code, at, insn.imm) == callee) {
			if (n < max)
				sites[n] = (struct call_site){
					.offset = before,
					.end = at,
					.args = {constants[X86_RAX], constants[X86_RBX], constants[X86_RCX]},
				};
			n++;
		}
		x86_follow_constants(constants, &insn);
		before = at;
	}
	return rc < 0 ? rc : n;
}

int code_guards(const struct code *code, uint64_t callee, int64_t first, size_t *offsets, int max)
{
	int64_t constants[X86_REGISTERS];
	struct x86_insn insn;
	size_t at = 0, before = 0, jump = 0;
	bool guarded = false;
	int n = 0, rc;

	x86_forget_constants(constants);
	while ((rc = x86_next(code, &at, &insn)) > 0) {
		if (guarded && x86_is_call(&insn) && x86_named(code, at, insn.imm) == callee &&
		    constants[X86_RAX] == first) {
			if (n < max)
				offsets[n] = jump;
			n++;
		}
		if (x86_leaves_line(&insn))
			guarded = x86_is_jcc(&insn);
		if (x86_is_jcc(&insn))
			jump = before;
		x86_follow_constants(constants, &insn);
		before = at;
	}
	return rc < 0 ? rc : n;
}

/* cmpb $0, variable */
static bool compares_byte(const struct x86_insn *insn)
{
	return x86_is_one(insn, OP_GROUP1_8) && insn->reg == 7 && insn->rip_relative && insn->imm == 0;
}

/* mov variable, register (8 bytes) */
static bool x86_loads_word(const struct x86_insn *insn)
{
	return x86_is_one(insn, OP_LOAD) && insn->rip_relative && insn->rex & 8;
}

/*
 * Progress of a check of the flag: nothing seen, the word in a register (up to Go 1.10 the byte; in 1.11 its
 * address), or compared, so that a conditional jump must follow.
 */
enum { BASE_REGISTER = 15 };

struct x86_flag_check {
	enum { CHECK_NONE, CHECK_LOADED, CHECK_LOADED_BYTE, CHECK_ADDRESS, CHECK_COMPARED } step;
	uint8_t reg;
	uint64_t address;
};

/*
 * Code of a plugin reaches the executable's variables through a table of their addresses: `mov slot, %r15`,
 * then a use of an offset from %r15, which that code keeps for this purpose (-dynlink; Go 1.22 to 1.27
 * cmd/internal/obj/x86/obj6.go, rewriteToUseGot). Returns the instruction's offset from the variable's base,
 * or -1.
 */
static int64_t offset_from_base(const struct x86_flag_check *check, const struct x86_insn *insn)
{
	bool through = check->step == CHECK_LOADED && check->reg == BASE_REGISTER;

	return through && insn->has_modrm && insn->mod != 3 && !insn->rip_relative &&
			       insn->rm == BASE_REGISTER && insn->disp >= 0 && insn->disp < FLAG_OFFSETS
		       ? insn->disp
		       : -1;
}

/*
 * Follows a use of a variable whose base has been loaded. Returns false if the instruction is none. The
 * result is FLAG_BY_TABLE().
 */
static bool follow_base(struct x86_flag_check *check, const struct x86_insn *insn)
{
	int64_t offset = offset_from_base(check, insn);
	bool byte = insn->map == X86_0F && !insn->vex && insn->opcode == 0xb6;

	if (offset < 0)
		return false;
	if (x86_is_one(insn, OP_GROUP1_8) && insn->reg == 7 && insn->imm == 0)
		check->step = CHECK_COMPARED;
	else if (byte || (x86_is_one(insn, OP_LOAD) && insn->rex & 8))
		check->step = byte ? CHECK_LOADED_BYTE : CHECK_LOADED;
	else
		return false;
	check->reg = insn->reg;
	check->address = FLAG_BY_TABLE(check->address, offset);
	return true;
}

/* movzbl variable, register */
static bool loads_byte(const struct x86_insn *insn)
{
	return insn->map == X86_0F && !insn->vex && insn->opcode == 0xb6 && insn->rip_relative;
}

/* test register, register; cmp $0, register (bytes) */
static bool compares_loaded_byte(const struct x86_insn *insn, uint8_t reg)
{
	if (insn->mod != 3 || insn->rm != reg)
		return false;
	return (x86_is_one(insn, OP_TEST8) && insn->reg == reg) ||
	       (x86_is_one(insn, OP_GROUP1_8) && insn->reg == 7 && insn->imm == 0);
}

/* cmpb $0, (register) */
static bool compares_at(const struct x86_insn *insn, uint8_t reg)
{
	return x86_is_one(insn, OP_GROUP1_8) && insn->reg == 7 && insn->imm == 0 && insn->mod == 0 &&
	       !insn->rip_relative && insn->rm == reg && (reg & 7) != X86_RSP;
}

/* The second instruction of a check whose first one has loaded the flag, or its address, into a register. */
static bool completes(const struct x86_flag_check *check, const struct x86_insn *insn)
{
	switch (check->step) {
	case CHECK_LOADED:
		return x86_is_one(insn, OP_TEST) && insn->mod == 3 && insn->reg == check->reg &&
		       insn->rm == check->reg;
	case CHECK_LOADED_BYTE:
		return compares_loaded_byte(insn, check->reg);
	case CHECK_ADDRESS:
		return compares_at(insn, check->reg);
	default:
		return false;
	}
}

static void x86_follow_check(struct x86_flag_check *check, const struct code *code, size_t after,
			     const struct x86_insn *insn)
{
	if (x86_is_nop(insn))
		return;
	if (follow_base(check, insn))
		return;
	if (compares_byte(insn)) {
		check->step = CHECK_COMPARED;
		check->address = x86_named(code, after, insn->disp);
	} else if (x86_loads_word(insn) || loads_byte(insn) ||
		   (x86_is_one(insn, OP_LEA) && insn->rip_relative)) {
		check->step = x86_loads_word(insn) ? CHECK_LOADED
			      : loads_byte(insn)   ? CHECK_LOADED_BYTE
						   : CHECK_ADDRESS;
		check->reg = insn->reg;
		check->address = x86_named(code, after, insn->disp);
	} else if (completes(check, insn)) {
		check->step = CHECK_COMPARED;
	} else {
		check->step = CHECK_NONE;
	}
}

static int x86_flag(const struct code *code, uint64_t *variable)
{
	struct x86_flag_check check = {.step = CHECK_NONE};
	struct x86_insn insn;
	size_t at = 0;

	while (x86_next(code, &at, &insn) > 0) {
		if (x86_is_jcc(&insn) && check.step == CHECK_COMPARED) {
			*variable = check.address;
			return 0;
		}
		x86_follow_check(&check, code, at, &insn);
	}
	return -ENOENT;
}

static int x86_flag_checks(const struct code *code, uint64_t variable, size_t *offsets, int max)
{
	struct x86_flag_check check = {.step = CHECK_NONE};
	struct x86_insn insn;
	size_t at = 0, before = 0;
	int n = 0, rc;

	while ((rc = x86_next(code, &at, &insn)) > 0) {
		if (x86_is_jcc(&insn) && check.step == CHECK_COMPARED && check.address == variable) {
			if (n < max)
				offsets[n] = before;
			n++;
		}
		x86_follow_check(&check, code, at, &insn);
		before = at;
	}
	return rc < 0 ? rc : n;
}

static uint8_t use_of(const struct x86_insn *insn)
{
	if (x86_is_one(insn, OP_LEA))
		return USE_ADDRESS;
	if (x86_is_one(insn, OP_GROUP1) && insn->reg == 7 && insn->imm == 0 && !(insn->rex & 8))
		return USE_LOAD | USE_IS_ZERO;
	return x86_is_one(insn, OP_STORE) || x86_is_one(insn, OP_STORE8) ? USE_STORE : USE_LOAD;
}

static uint8_t x86_insn_size(const struct x86_insn *insn)
{
	if (x86_is_one(insn, OP_MOVSXD))
		return 4;
	if (x86_is_one(insn, OP_LOAD) || x86_is_one(insn, OP_STORE) || x86_is_one(insn, OP_GROUP1))
		return insn->rex & 8 ? 8 : 4;
	return 0;
}

static int x86_references(const struct code *code, struct reference *found, int max)
{
	struct x86_insn insn;
	size_t at = 0, before = 0;
	int n = 0, rc;

	for (; (rc = x86_next(code, &at, &insn)) > 0; before = at) {
		if (!insn.rip_relative)
			continue;
		if (n < max)
			found[n] = (struct reference){
				.address = x86_named(code, at, insn.disp),
				.offset = (uint32_t)before,
				.use = use_of(&insn),
				.size = x86_insn_size(&insn),
			};
		n++;
	}
	return rc < 0 ? rc : n;
}

/* Origin of a register's value, as far as thread-local storage needs it. */
struct origin {
	bool constant;
	int64_t value;
	uint64_t got; /* address that it was loaded from, 0 = none */
};

static void follow_origin(struct origin origins[X86_REGISTERS], const struct code *code, size_t after,
			  const struct x86_insn *insn)
{
	if (x86_is_one(insn, OP_MOV_IMM_RM) && insn->mod == 3)
		origins[insn->rm] = (struct origin){.constant = true, .value = insn->imm};
	else if (x86_loads_word(insn))
		origins[insn->reg] = (struct origin){.got = x86_named(code, after, insn->disp)};
	else if (insn->has_modrm)
		origins[insn->mod == 3 && !x86_is_one(insn, OP_LOAD) ? insn->rm : insn->reg] =
			(struct origin){0};
}

/* mov to or from fs:disp32, or fs:(register) */
static bool uses_tls(const struct x86_insn *insn)
{
	return insn->fs && (x86_is_one(insn, OP_LOAD) || x86_is_one(insn, OP_STORE)) && insn->mod == 0 &&
	       !insn->rip_relative;
}

int code_tls(const struct code *code, int64_t *offset, uint64_t *got)
{
	struct origin origins[X86_REGISTERS] = {{.constant = false}};
	struct x86_insn insn;
	size_t at = 0;

	*got = 0;
	while (x86_next(code, &at, &insn) > 0) {
		if (!uses_tls(&insn)) {
			follow_origin(origins, code, at, &insn);
			continue;
		}
		if ((insn.rm & 7) == X86_RSP) {
			/* absolute displacement, without base and index */
			*offset = insn.disp;
			return insn.sib == 0x25 ? 0 : -ENOENT;
		}
		*offset = origins[insn.rm].value;
		*got = origins[insn.rm].got;
		return origins[insn.rm].constant ? 0 : -ENOENT;
	}
	return -ENOENT;
}

/* Accepts only instructions that the kernel emulates (arch/x86/kernel/uprobes.c). */
static int x86_probe_insn(const struct code *code, size_t offset, struct probe_insn *probed)
{
	struct x86_insn insn;

	if (offset >= code->size || !x86_decode(code->bytes + offset, code->size - offset, &insn))
		return -ENOENT;
	*probed = (struct probe_insn){.length = insn.length};
	if (x86_is_push_rbp(&insn))
		probed->kind = "push";
	else if (x86_is_call(&insn))
		probed->kind = "call";
	else if (x86_is_jcc(&insn))
		probed->kind = "jcc";
	return probed->kind ? 0 : -ENOENT;
}

static bool x86_is_breakpoint(const uint8_t *live)
{
	return live[0] == 0xcc;
}

const struct code_ops code_ops_x86 = {
	.prologue = x86_prologue,
	.probe_insn = x86_probe_insn,
	.is_breakpoint = x86_is_breakpoint,
	.calls = x86_calls,
	.flag = x86_flag,
	.flag_checks = x86_flag_checks,
	.references = x86_references,
	.slice_result = x86_slice_result,
	.receiver = x86_receiver,
	.jump_after = x86_jump_after,
	.region_start = x86_region_start,
	.region_next_use = x86_region_next_use,
};
