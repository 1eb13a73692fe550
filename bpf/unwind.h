/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How the caller of a native frame is found: the tables that user space makes from .eh_frame, the lookup in
 * them, and one step of a walk. Both sides compile this code, so that walks in the kernel and in user space
 * agree.
 *
 * Only the access to tables and stack differs. The includer defines these functions after including this
 * header, with its own meaning of `where`; they return NULL or false if an element does not exist:
 *   const struct unwind_mapping *unwind_mapping_at(void *where, uint32_t i);
 *   const struct unwind_page *unwind_page_at(void *where, uint32_t i);
 *   const struct unwind_row *unwind_row_at(void *where, uint32_t i);
 *   bool unwind_read(void *where, uint64_t address, uint64_t *word);
 * Then it includes bpf/unwind_step.h.
 */
#ifndef GOTRACE_UNWIND_H
#define GOTRACE_UNWIND_H

#include "bpf/record.h"

/*
 * The rule for an instruction, in 32 bits: how to compute the CFA (the caller's stack pointer after the call
 * returns; the return address is at CFA - 8), and where the caller's rbp is saved. System V ABI for x86-64,
 * 3.2.2 and 3.7.
 */
enum unwind_kind {
	UNWIND_NONE = 0,     /* not known: the walk ends as broken */
	UNWIND_END = 1,      /* the outermost frame: _start, clone3 */
	UNWIND_SP = 2,       /* CFA = rsp + offset */
	UNWIND_BP = 3,       /* CFA = rbp + offset */
	UNWIND_BP_DEREF = 4, /* CFA = *(rbp + offset): the function realigned the stack */
	UNWIND_SP_DEREF = 5, /* CFA = *(rsp + offset) + 8: the same in assembly */
	UNWIND_PLT = 6,      /* CFA = rsp + 8, or rsp + 16 from byte `offset` of a 16-byte entry on */
	UNWIND_SIGNAL = 7,   /* a ucontext is at rsp: the context that the signal interrupted */
	UNWIND_CHAIN = 8,    /* no tables: rbp is the frame pointer */
	UNWIND_NOWHERE = 9,  /* no code is mapped at this address */
	/* as UNWIND_SP, but the return address is in unwind_regs.link: vfork, arm64's leaves */
	UNWIND_SP_LINK = 10,
	/*
	 * arm64, where the return address may be anywhere; in a "pair" it is right above the caller's x29.
	 * The field that locates rbp in other rules is a number of words, n.
	 */
	UNWIND_SP_PAIR = 11,  /* CFA = sp + offset; the pair is at CFA - 8 * n */
	UNWIND_SP_FRAME = 12, /* CFA = sp + offset; the pair is at sp + 8 * n */
	UNWIND_FP_FRAME = 13, /* CFA = x29 + offset; the pair is at x29 + 8 * n */
	/* CFA = sp + offset; the return address is at CFA - 8 * n, x29 is the caller's own */
	UNWIND_SP_ALONE = 14,
	/* CFA = sp + offset; n's lower half is for the return address, its upper half for x29 */
	UNWIND_SP_APART = 15,
};

#define UNWIND_APART(ra, fp) ((uint32_t)(ra) | (uint32_t)(fp) << 5)
#define UNWIND_APART_RA(n)   ((n)&31u)
#define UNWIND_APART_FP(n)   ((n) >> 5)

#define UNWIND_RBP_SAME    0u
#define UNWIND_RBP_LAST    1022u /* 1 to this: at CFA - 8 * value */
#define UNWIND_RBP_AT_RBP  1023u /* at *rbp, if it cannot be given relative to the CFA */
#define UNWIND_OFFSET_BITS 18    /* in words */
#define UNWIND_OFFSET_MAX  ((1 << (UNWIND_OFFSET_BITS - 1)) - 1)

#define UNWIND_KIND(rule)   ((rule)&15u)
#define UNWIND_RBP(rule)    ((rule) >> 4 & 1023u)
#define UNWIND_OFFSET(rule) ((int32_t)(rule) >> 14) /* PLT: bytes; else words */
#define UNWIND_RULE(kind, rbp, offset)                                                                       \
	((uint32_t)(kind) | (uint32_t)(rbp) << 4 | (uint32_t)(int32_t)(offset) << 14)

/* Applies from `start` to the next row's start. Sorted by start within a module. */
struct unwind_row {
	uint32_t start; /* bytes from the module's base */
	uint32_t rule;
};

/* The rows of a page of code: the one in effect at its beginning, and those that begin in it. */
#define UNWIND_PAGE_SHIFT 8u
#define UNWIND_PAGE       (1u << UNWIND_PAGE_SHIFT)
#define UNWIND_PAGE_ROWS  (UNWIND_PAGE + 1u) /* at most: a row could begin at every byte */
struct unwind_page {
	uint32_t first, count; /* index into all rows, and number */
};

/* Executable mapping of a process. Sorted by start within a list. */
struct unwind_mapping {
	uint64_t start, end;
	uint64_t base;  /* what the module's rows are relative to; at most 4 GiB below end */
	uint32_t page;  /* index of the base's page in all pages */
	uint32_t pages; /* 0: unknown code (generated at run time), which ends a walk; UNWIND_CHAINED */
};

/* All of the mapping is code that keeps frame pointers. */
#define UNWIND_CHAINED 0xffffffffu

/* A list of mappings, of one process or of several that were forked without an exec. */
struct unwind_space { /* written atomically */
	uint32_t first;
	uint16_t count;
	uint16_t version; /* changes whenever the rule of an address may have changed */
};

#define UNWIND_MAPPINGS_A_SPACE 4096u /* at most; further ones are left out */

struct unwind_regs {
	uint64_t ip; /* a return address, or the next instruction's address plus 1 */
	uint64_t sp, bp;
	/* Possible return address of a leaf: amd64's rdi in a system call, arm64's x30; 0: not known. */
	uint64_t link;
};

/* gregs[REG_RBP], [REG_RSP] and [REG_RIP] in struct ucontext_t (glibc
 * sysdeps/unix/sysv/linux/x86/sys/ucontext.h; the kernel's struct sigcontext). */
#define UNWIND_UCONTEXT_RBP 120u
#define UNWIND_UCONTEXT_RSP 160u
#define UNWIND_UCONTEXT_RIP 168u

/* The same for arm64's signal frame: siginfo has 128 bytes, uc_mcontext.regs is at offset 184 of the ucontext
 * (arch/arm64/kernel/signal.c, struct rt_sigframe; arch/arm64/include/uapi/asm/sigcontext.h). */
#define UNWIND_ARM64_X29 544u
#define UNWIND_ARM64_X30 552u
#define UNWIND_ARM64_SP  560u
#define UNWIND_ARM64_PC  568u

#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
#define UNWIND_IS_ARM64 1
/* Return addresses may be signed, in the bits above the 48 of an address (Arm ARM, D8.8). */
#define UNWIND_ADDRESS(word) ((word)&0xffffffffffffull)
#define UNWIND_CODE_SHIFT    2 /* instructions are words */
#else
#define UNWIND_IS_ARM64   0
#define UNWIND_CODE_SHIFT 0
#endif

/*
 * Go calls C on another stack (runtime.asmcgocall), above the goroutine's stack to which the frame pointers
 * lead back: goroutine stacks are in an arena from 0xc000000000 on, threads' stacks at the upper end of
 * memory.
 */
#define UNWIND_STACKS_APART (1ull << 30)

enum unwind_result {
	UNWIND_MORE,
	UNWIND_WHOLE,  /* this frame is the outermost */
	UNWIND_BROKEN, /* its caller cannot be found */
};

#endif
