/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Properties of a function's bytes: its prologue, its calls, the variables it uses. Pure; all addresses are
 * link-time addresses. Each processor has its own implementation (code_x86.c, code_arm64.c). The file's
 * architecture selects it, not that of the machine gotrace runs on.
 */
#ifndef GOTRACE_CODE_ISA_CODE_H
#define GOTRACE_CODE_ISA_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"

struct code { /* code of one function */
	const uint8_t *bytes;
	size_t size;
	uint64_t address;
	bool arm64; /* else x86-64 */
};

/*
 * Finds the instruction at which to probe a function's beginning: arguments, return address and frame pointer
 * are still as the caller left them. Returns 0 or -ENOENT.
 * x86-64: the `push %rbp` that makes the frame, after the stack check if there is one. Up to Go 1.20, where
 * `sub` and `mov` make the frame, the `jbe` of the stack check.
 * arm64: the `b.ls` of the stack check; without a check (go:nosplit), the store that makes the frame.
 */
int code_prologue(const struct code *code, size_t *offset);

/*
 * x86-64 only: finds the `jbe` of the stack check right before the `push %rbp` that makes the frame. Returns
 * 0 or -ENOENT.
 */
int code_stack_jump(const struct code *code, size_t *offset);

/*
 * x86-64 only: gets the distance from the frame pointer down to the stack pointer in the function's body. The
 * frame is made by `push %rbp; mov %rsp, %rbp; sub $N, %rsp`, or up to Go 1.20 by `sub $M, %rsp; mov %rbp,
 * N(%rsp)`.
 */
int code_frame(const struct code *code, size_t *size);

struct probe_insn {
	const char *kind; /* for messages: "push", "call", "jcc" */
	unsigned length;  /* in bytes */
};

/* Describes the instruction at the offset. Returns 0, or -ENOENT if it is not of a kind that is probed. */
int code_probe_insn(const struct code *code, size_t offset, struct probe_insn *insn);
/*
 * Whether these bytes of a live process, the length of one instruction, are a breakpoint set by the kernel.
 */
bool code_is_breakpoint(const struct code *code, const uint8_t *live);

#define CONSTANT_UNKNOWN (-1)

struct call_site {
	size_t offset, end; /* of the call; end is the return address */
	/* First arguments, if constants loaded directly before the call, else CONSTANT_UNKNOWN. */
	int64_t args[3];
};

/* Finds all calls of the function at `callee`. Returns their number (at most max are stored) or -EBADMSG. */
int code_calls(const struct code *code, uint64_t callee, struct call_site *sites, int max);

/*
 * Finds a function's beginning up to Go 1.20, where no push makes a frame: the jump of the stack check, at
 * which arguments and the stack pointer are still the caller's. Returns 0 or -ENOENT.
 */
int code_stack_check(const struct code *code, size_t *offset);
/*
 * As code_calls, for Go up to 1.16. There f(x, y uint32, z uint32) has y and z in the second word on the
 * stack; they are the second and third argument here.
 */
int code_stack_calls(const struct code *code, uint64_t callee, struct call_site *sites, int max);

/* x86-64 only, like all functions up to code_flag(). The function that traces an event, up to Go 1.16. */
struct trace_callee {
	uint64_t own; /* the event's own function, 0 = inlined everywhere */
	uint64_t any; /* runtime.traceEvent(event byte, ...) */
	int event;
};

/*
 * Finds the conditional jumps that decide whether the event is traced. They are directly before the calls, or
 * they jump to the calls if these are at the function's end. Returns their number (at most max are stored) or
 * -EBADMSG.
 */
int code_trace_guards(const struct code *code, const struct trace_callee *callee, size_t *offsets, int max);
/* Finds the call itself. Returns 0, or -ENOENT if there is not exactly one. */
int code_trace_call(const struct code *code, const struct trace_callee *callee, size_t *offset);

/*
 * A flag at this offset from an address that is in a table of the plugin, in the slot at this address. Slots
 * are below 2^38: link-time addresses of a plugin begin at 0.
 */
#define FLAG_OFFSETS                (1 << 24)
#define FLAG_BY_TABLE(slot, offset) (1ull << 63 | (slot) << 24 | (uint64_t)(offset))

/*
 * Finds the variable that shows whether the runtime's own tracer is on. runtime.goexit1 begins with a check
 * of it: in Go 1.22 `mov trace.gen, reg; test; jcc`, later `cmpb $0, trace.enabled; jcc` (arm64: a load and
 * `cbnz` or `tbnz`). Returns 0 or -ENOENT. In a plugin *flag is no address but FLAG_BY_TABLE().
 */
int code_flag(const struct code *code, uint64_t *flag);
/*
 * x86-64 only (Go up to 1.21): finds the conditional jumps directly before calls of the function at `callee`
 * with this constant as the first argument. Only instructions that set up arguments may be in between.
 * Returns their number (at most max are stored) or -EBADMSG.
 */
int code_guards(const struct code *code, uint64_t callee, int64_t first, size_t *offsets, int max);

/*
 * Finds the conditional jumps that check the flag. Returns their number (at most max are stored) or -EBADMSG.
 */
int code_flag_checks(const struct code *code, uint64_t flag, size_t *offsets, int max);

enum use { USE_LOAD = 1, USE_STORE = 2, USE_ADDRESS = 4, USE_IS_ZERO = 8 /* 32 bits, compared with 0 */ };

struct reference { /* a use of a variable at a fixed address */
	uint64_t address;
	uint32_t offset; /* in the code, of the instruction that names it; x86-64 only */
	uint8_t use;     /* enum use */
	uint8_t size;    /* of the access in bytes, 0 = unknown */
};

/* Lists uses of variables in code order. Returns their number (at most max are stored) or -EBADMSG. */
int code_references(const struct code *code, struct reference *references, int max);

/*
 * x86-64 only: gets g's offset from the thread's fs base, from the first instruction that uses it (Go 1.26
 * runtime/asm_amd64.s: gogo, mcall, systemstack). Returns 0 or -ENOENT. If the code loads the offset from
 * memory, *got is that address, else 0.
 */
int code_tls(const struct code *code, int64_t *offset, uint64_t *got);

/*
 * Finds where the function's first two results are at a conditional jump near its end. Follows execution from
 * the jump to the return, as if the flag were zero, i.e. nothing is traced. The first result must be a copy
 * of some value, the second the sum of that value and of `added`. Returns 0 or -ENOENT.
 */
int code_slice_result(const struct code *code, size_t jump, struct value_place *base,
		      struct value_place *added);

/*
 * Gets the variable whose address is the first argument of the first call of the function at `callee`.
 * Returns 0 or -ENOENT.
 */
int code_receiver(const struct code *code, uint64_t callee, uint64_t *variable);

#endif
