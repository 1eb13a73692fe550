/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/isa/field_access.h"

#include "code/isa/scan_arm64.h"
#include "code/isa/scan_x86.h"

/* --- x86-64 --- */

/* The size of an operand that prefixes decide. */
static uint8_t operand_size(const struct x86_insn *insn)
{
	return insn->rex & 8 ? 8 : insn->operand16 ? 2 : 4;
}

struct use_of_memory {
	uint8_t use, size, words;
};

static struct use_of_memory one(unsigned use, unsigned size)
{
	return (struct use_of_memory){.use = (uint8_t)use, .size = (uint8_t)size, .words = 1};
}

static const struct use_of_memory none = {.use = 0};

/* Intel SDM volume 2, appendix A.3: the one-byte map. */
static struct use_of_memory use_by_one_byte(const struct x86_insn *insn)
{
	const unsigned both = USE_LOAD | USE_STORE;
	uint8_t op = insn->opcode, reg = insn->reg & 7;
	/* Bit 0 of the opcode distinguishes 8-bit operands in all groups below. */
	uint8_t size = op & 1 ? operand_size(insn) : 1;

	if (op < 0x40) /* add, or, adc, sbb, and, sub, xor, cmp */
		return one(op >= 0x38 || op & 2 ? USE_LOAD : both, size);
	switch (op) {
	case 0x63: /* movsxd */
		return one(USE_LOAD, 4);
	case 0x69: /* imul */
	case 0x6b:
	case 0x84: /* test */
	case 0x85:
	case 0x8a: /* mov */
	case 0x8b:
		return one(USE_LOAD, op == 0x8a ? 1 : size);
	case 0x80:
	case 0x81:
	case 0x83: /* the same eight operations with a constant; 7 is cmp */
		return one(reg == 7 ? USE_LOAD : both, size);
	case 0x86: /* xchg */
	case 0x87:
	case 0xc0: /* shifts */
	case 0xc1:
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
		return one(both, size);
	case 0x88: /* mov */
	case 0x89:
	case 0xc6:
	case 0xc7:
		return one(USE_STORE, size);
	case 0x8d: /* lea */
		return one(USE_ADDRESS, 0);
	case 0xf6: /* test, test, not, neg, mul, imul, div, idiv */
	case 0xf7:
		return one(reg == 2 || reg == 3 ? both : USE_LOAD, size);
	case 0xfe: /* inc, dec */
		return one(both, 1);
	case 0xff: /* inc, dec, call, callf, jmp, jmpf, push */
		return reg < 2 ? one(both, size) : one(USE_LOAD, 8);
	default:
		return none;
	}
}

/* Appendix A.3: the two-byte map. SSE moves of 16 bytes clear or copy two words. */
static struct use_of_memory use_by_two_bytes(const struct x86_insn *insn)
{
	const struct use_of_memory load_two = {USE_LOAD, 8, 2}, store_two = {USE_STORE, 8, 2};
	uint8_t op = insn->opcode;

	if (op >= 0x40 && op <= 0x4f) /* cmovcc */
		return one(USE_LOAD, operand_size(insn));
	if (op >= 0x90 && op <= 0x9f) /* setcc */
		return one(USE_STORE, 1);
	switch (op) {
	case 0x10: /* movups, movss, movsd */
		return insn->repeat ? one(USE_LOAD, insn->repeat == 0xf3 ? 4 : 8) : load_two;
	case 0x11:
		return insn->repeat ? one(USE_STORE, insn->repeat == 0xf3 ? 4 : 8) : store_two;
	case 0x28: /* movaps */
	case 0x6f: /* movdqu, movdqa */
		return load_two;
	case 0x29:
	case 0x7f:
		return store_two;
	case 0xa3: /* bt */
	case 0xaf: /* imul */
		return one(USE_LOAD, operand_size(insn));
	case 0xb0: /* cmpxchg, xadd */
	case 0xc0:
		return one(USE_LOAD | USE_STORE, 1);
	case 0xab: /* bts, btr, btc */
	case 0xb3:
	case 0xbb:
	case 0xb1:
	case 0xc1:
		return one(USE_LOAD | USE_STORE, operand_size(insn));
	case 0xba: /* bt, bts, btr, btc with a constant */
		return one((insn->reg & 7) == 4 ? USE_LOAD : USE_LOAD | USE_STORE, operand_size(insn));
	case 0xb6: /* movzx, movsx */
	case 0xbe:
		return one(USE_LOAD, 1);
	case 0xb7:
	case 0xbf:
		return one(USE_LOAD, 2);
	default:
		return none;
	}
}

/* Whether the operand is at a displacement from one register, without an index. */
static bool is_relative_to_register(const struct x86_insn *insn)
{
	if (!insn->has_modrm || insn->mod == 3 || insn->rip_relative || insn->fs)
		return false;
	if ((insn->rm & 7) != X86_RSP)
		return true;
	/* r12 as a base needs a SIB byte, as the stack pointer does. */
	return insn->sib == 0x24 && insn->rm != X86_RSP;
}

/* `add $imm, %reg` of 64 bits: without optimisation, Go's compiler computes the address of a field so. */
static bool adds_to_register(const struct x86_insn *insn)
{
	if (!(insn->rex & 8))
		return false;
	if (x86_is_one(insn, 0x05)) /* to %rax */
		return true;
	return (x86_is_one(insn, 0x81) || x86_is_one(insn, 0x83)) && insn->mod == 3 && (insn->reg & 7) == 0 &&
	       insn->rm != X86_RSP;
}

static int next_x86(const struct code *code, size_t *at, struct field_access *access)
{
	struct x86_insn insn;
	size_t before = *at;
	int rc;

	for (; (rc = x86_next(code, at, &insn)) > 0; before = *at) {
		struct use_of_memory found = none;

		if (adds_to_register(&insn)) {
			*access = (struct field_access){.offset = before,
							.displacement = (int32_t)insn.imm,
							.use = USE_ADDRESS,
							.words = 1};
			return 1;
		}
		if (insn.vex || x86_is_nop(&insn) || !is_relative_to_register(&insn))
			continue;
		if (insn.map == X86_ONE)
			found = use_by_one_byte(&insn);
		else if (insn.map == X86_0F)
			found = use_by_two_bytes(&insn);
		if (!found.use)
			continue;
		*access = (struct field_access){.offset = before,
						.displacement = insn.disp,
						.use = found.use,
						.size = found.size,
						.words = found.words};
		return 1;
	}
	return rc;
}

/* --- arm64 --- */

static uint8_t use_by_arm64(const struct arm64_insn *insn)
{
	switch (insn->op) {
	case ARM64_LOAD:
	case ARM64_LOAD_PAIR:
	case ARM64_LOAD_ACQUIRE:
		return USE_LOAD;
	case ARM64_STORE:
	case ARM64_STORE_PAIR:
	case ARM64_STORE_RELEASE:
		return USE_STORE;
	case ARM64_ADD: /* atomic instructions and those of acquire and release have no displacement */
		return insn->wide ? USE_ADDRESS : 0;
	default:
		return 0;
	}
}

/*
 * The part of a displacement that does not fit a load or store: the instruction before adds it to the
 * linker's register, R27 (Go 1.22 to 1.27 cmd/internal/obj/arm64/asm7.go, REGTMP).
 */
static int64_t far_displacement(const struct code *code, size_t at, const struct arm64_insn *insn)
{
	struct arm64_insn add;

	if (insn->rn != 27 || at < ARM64_LENGTH || !arm64_at(code, at - ARM64_LENGTH, &add) ||
	    add.op != ARM64_ADD || add.rd != insn->rn || !add.wide)
		return 0;
	return add.imm;
}

static int next_arm64(const struct code *code, size_t *at, struct field_access *access)
{
	struct arm64_insn insn;

	while (arm64_at(code, *at, &insn)) {
		size_t before = *at;
		uint8_t use = use_by_arm64(&insn);
		bool is_pair = insn.op == ARM64_LOAD_PAIR || insn.op == ARM64_STORE_PAIR;

		*at += ARM64_LENGTH;
		if (!use || insn.rn == ARM64_SP || insn.before || insn.after)
			continue;
		*access = (struct field_access){
			.offset = before,
			.displacement = (int32_t)(insn.imm + far_displacement(code, before, &insn)),
			.use = use,
			.size = use == USE_ADDRESS ? 0 : insn.size,
			.words = is_pair ? 2 : 1};
		return 1;
	}
	return 0;
}

int code_next_field(const struct code *code, size_t *at, struct field_access *access)
{
	return code->arm64 ? next_arm64(code, at, access) : next_x86(code, at, access);
}

bool field_access_is(const struct field_access *access, int32_t displacement, uint8_t size, unsigned uses)
{
	if (!(access->use & uses))
		return false;
	if (access->use == USE_ADDRESS)
		return access->displacement == displacement;
	return access->size == size && (access->displacement == displacement ||
					(access->words == 2 && access->displacement == displacement - size));
}
