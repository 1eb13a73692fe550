/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the files that read arm64 code share. */
#ifndef GOTRACE_TARGET_CODE_ARM64_H
#define GOTRACE_TARGET_CODE_ARM64_H

#include "target/arm64.h"
#include "target/code_sets.h"

/* Addresses that registers hold: adrp has put a page there, and add may have made a variable of it. */
struct arm64_places {
	uint64_t at[ARM64_REGISTERS];
	uint32_t known;    /* a bit for each */
	uint32_t variable; /* the same: not just a page */
};

/* Takes in what the instruction at the offset does. */
void arm64_follow(struct arm64_places *places, const struct code *code, size_t offset,
		  const struct arm64_insn *insn);
/* The address that a load or a store with a distance goes to; false if it is not known. */
bool arm64_accessed(const struct arm64_places *places, const struct arm64_insn *insn, uint64_t *address);
/* Decodes the instruction at the offset; false at the end. */
bool arm64_at(const struct code *code, size_t offset, struct arm64_insn *insn);
/* Where a jump or call at the offset leads. */
uint64_t arm64_leads_to(const struct code *code, size_t offset, const struct arm64_insn *insn);

#endif
