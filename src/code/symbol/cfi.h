/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Types for call frame information (DWARF 5, 6.4) of .eh_frame and .debug_frame, shared by the code that
 * reads it, runs its programs and makes rows of it. Everything in a section is untrusted.
 */
#ifndef GOTRACE_CODE_SYMBOL_CFI_H
#define GOTRACE_CODE_SYMBOL_CFI_H

#include "code/symbol/ehframe.h"

#define CFI_CIES 256u /* cache of parsed CIEs, including those that cannot be parsed */

/*
 * DWARF register numbers: System V ABI for x86-64, figure 3.36; DWARF for the Arm 64-bit Architecture, 4.1.
 */
struct cfi_registers {
	uint32_t fp, sp, ra;
	uint32_t link; /* where a leaf may keep its return address; on arm64 that is ra itself */
};

extern const struct cfi_registers cfi_amd64, cfi_arm64;

struct cfi_reader {
	const uint8_t *at, *end;
	bool bad; /* an access past the end was attempted */
};

/* Where a register of the caller is saved. */
enum cfi_place { CFI_SAME, CFI_AT_CFA, CFI_AT_RBP, CFI_IN_LINK, CFI_UNDEFINED, CFI_UNSUPPORTED };

struct cfi_saved {
	enum cfi_place place;
	int64_t offset; /* CFI_AT_CFA */
};

enum cfa_kind { CFA_REGISTER, CFA_RBP_DEREF, CFA_RSP_DEREF, CFA_PLT, CFA_UCONTEXT, CFA_UNSUPPORTED };

struct cfi_state {
	enum cfa_kind kind;
	uint32_t reg;
	int64_t offset;
	struct cfi_saved fp, ra; /* frame pointer and return address of the caller */
};

struct cfi_cie {
	size_t offset; /* in its section; SIZE_MAX: empty slot */
	bool bad;      /* cannot be parsed */
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_register;
	uint8_t encoding; /* DW_EH_PE_* of addresses in FDEs */
	bool has_sizes;   /* augmentation z */
	bool is_signal;   /* S */
	struct cfi_reader program;
	struct cfi_state initial;
};

/* An FDE: describes one function. */
struct cfi_fde {
	uint64_t start, end;
	size_t cie; /* offset of its CIE */
	struct cfi_reader program;
};

struct cfi_section {
	const struct ehframe_section *bytes;
	const struct cfi_registers *registers;
	bool is_debug;         /* .debug_frame */
	struct budget *budget; /* NULL: no limit */
	struct cfi_cie cies[CFI_CIES];
	size_t cie_bytes_left; /* bytes that may still be parsed as CIEs */
	struct cfi_fde *fdes;
	size_t n, capacity;
	size_t damaged;
};

#endif
