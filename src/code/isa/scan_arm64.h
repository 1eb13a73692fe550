/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: scans arm64 code instruction by instruction. */
#ifndef GOTRACE_CODE_ISA_SCAN_ARM64_H
#define GOTRACE_CODE_ISA_SCAN_ARM64_H

#include "code/isa/arm64.h"
#include "code/isa/code.h"

/*
 * Known addresses in registers: adrp puts the address of a page there, and add may turn it into that of a
 * variable.
 */
struct arm64_places {
	uint64_t at[ARM64_REGISTERS];
	uint32_t known;    /* one bit per register */
	uint32_t variable; /* one bit per register: a variable's address, not just a page's */
};

/* Updates the places for the instruction at the offset. */
void arm64_follow(struct arm64_places *places, const struct code *code, size_t offset,
		  const struct arm64_insn *insn);
/* The address of a load or store with an immediate offset; false if it is unknown. */
bool arm64_accessed(const struct arm64_places *places, const struct arm64_insn *insn, uint64_t *address);
/* Decodes the instruction at the offset; false at the end of the code. */
bool arm64_at(const struct code *code, size_t offset, struct arm64_insn *insn);
/* Target of the jump or call at the offset. */
uint64_t arm64_leads_to(const struct code *code, size_t offset, const struct arm64_insn *insn);

#endif
