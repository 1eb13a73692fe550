/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Functions that each processor implements for code.h, jumps.h and regions.h, which describe them. */
#ifndef GOTRACE_CODE_ISA_CODE_OPS_H
#define GOTRACE_CODE_ISA_CODE_OPS_H

#include "code/isa/code.h"
#include "code/isa/jumps.h"
#include "code/isa/regions.h"

struct code_ops {
	int (*prologue)(const struct code *code, size_t *offset);
	int (*probe_insn)(const struct code *code, size_t offset, struct probe_insn *insn);
	bool (*is_breakpoint)(const uint8_t *live);
	int (*calls)(const struct code *code, uint64_t callee, struct call_site *sites, int max);
	int (*flag)(const struct code *code, uint64_t *flag);
	int (*flag_checks)(const struct code *code, uint64_t flag, size_t *offsets, int max);
	int (*references)(const struct code *code, struct reference *references, int max);
	int (*slice_result)(const struct code *code, size_t jump, struct value_place *base,
			    struct value_place *added);
	int (*receiver)(const struct code *code, uint64_t callee, uint64_t *variable);
	int (*jump_after)(const struct code *code, size_t call, uint32_t words, size_t *offset);
	int (*region_start)(const struct code *code, struct start_region *start);
	enum region_use (*region_next_use)(const struct code *text, uint64_t noop, size_t *at, size_t *use,
					   size_t *jump);
};

extern const struct code_ops code_ops_x86, code_ops_arm64;

/* Functions defined in other files of the processor's implementation. */
int x86_slice_result(const struct code *code, size_t jump, struct value_place *base,
		     struct value_place *added);
int x86_receiver(const struct code *code, uint64_t callee, uint64_t *variable);
int x86_jump_after(const struct code *code, size_t call, uint32_t words, size_t *offset);
int x86_region_start(const struct code *code, struct start_region *start);
enum region_use x86_region_next_use(const struct code *text, uint64_t noop, size_t *at, size_t *use,
				    size_t *jump);
int arm64_slice_result(const struct code *code, size_t jump, struct value_place *base,
		       struct value_place *added);
int arm64_receiver(const struct code *code, uint64_t callee, uint64_t *variable);
int arm64_jump_after(const struct code *code, size_t call, uint32_t words, size_t *offset);
int arm64_region_start(const struct code *code, struct start_region *start);
enum region_use arm64_region_next_use(const struct code *text, uint64_t noop, size_t *at, size_t *use,
				      size_t *jump);

#endif
