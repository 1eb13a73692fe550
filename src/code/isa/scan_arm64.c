/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/isa/scan_arm64.h"

bool arm64_at(const struct code *code, size_t offset, struct arm64_insn *insn)
{
	return offset < code->size && arm64_decode(code->bytes + offset, code->size - offset, insn);
}

uint64_t arm64_leads_to(const struct code *code, size_t offset, const struct arm64_insn *insn)
{
	return code->address + offset + (uint64_t)insn->imm;
}

static bool arm64_scan_has(uint32_t set, uint8_t reg)
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
	bool known = arm64_scan_has(places->known, insn->rn);
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

	if (!accesses || insn->before || insn->after || insn->rn == ARM64_SP ||
	    !arm64_scan_has(places->known, insn->rn))
		return false;
	*address = places->at[insn->rn] + (uint64_t)insn->imm;
	return true;
}
