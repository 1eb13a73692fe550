/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the bytes of one function tell: its prologue, its calls, the variables
 * it uses. Pure; all addresses here are link-time ones. Each processor has its
 * own implementation (code_x86.c, code_arm64.c); which one it is the file
 * says, not the machine that gotrace runs on.
 */
#ifndef GOTRACE_TARGET_CODE_H
#define GOTRACE_TARGET_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"
#include "target/image.h"

struct code { /* a function */
	const uint8_t *bytes;
	size_t size;
	uint64_t address;
	bool arm64; /* else x86-64 */
};

/*
 * Where a function begins to be probed: arguments, return address and frame pointer are still as the caller
 * left them. -ENOENT if not found.
 * x86-64: the `push %rbp` that makes the frame, behind the stack check if there is one. Up to Go 1.20 (made
 * by `sub`, `mov`) the `jbe` of the stack check itself.
 * arm64: the `b.ls` of the stack check; without one (go:nosplit) the store that makes the frame.
 */
int code_prologue(const struct code *code, size_t *offset);

/*
 * x86-64 only: how far below the frame pointer the stack pointer is in the body: `push %rbp; mov %rsp, %rbp;
 * sub $N, %rsp`, or up to Go 1.20 `sub $M, %rsp; mov %rbp, N(%rsp)`.
 */
int code_frame(const struct code *code, size_t *size);

struct probe_insn {
	const char *kind; /* for people: "push", "call", "jcc" */
	unsigned length;  /* in bytes */
};

/* The instruction at the offset, if it is one of those that are probed. -ENOENT if it is not. */
int code_probe_insn(const struct code *code, size_t offset, struct probe_insn *insn);
/* Whether the bytes of a live process, of an instruction's length, are a breakpoint of the kernel's. */
bool code_is_breakpoint(const struct code *code, const uint8_t *live);

#define CONSTANT_UNKNOWN (-1)

struct call_site {
	size_t offset;   /* of the call */
	int64_t args[3]; /* the first arguments: constants loaded right before it, or CONSTANT_UNKNOWN */
};

/* All calls of the function at `callee`. Returns their number (at most max are stored) or -EBADMSG. */
int code_calls(const struct code *code, uint64_t callee, struct call_site *sites, int max);

/*
 * The same up to Go 1.20, where no push makes a frame: the jump of the stack check, at which arguments and
 * the stack pointer are still the caller's. -ENOENT if there is none.
 */
int code_stack_check(const struct code *code, size_t *offset);
/*
 * As code_calls up to Go 1.16, where f(x, y uint32, z uint32) has y and z in the second word on the stack:
 * as the second and the third.
 */
int code_stack_calls(const struct code *code, uint64_t callee, struct call_site *sites, int max);

/* The rest up to code_flag is x86-64's. How the runtime tells its tracer of something, up to Go 1.16. */
struct teller {
	uint64_t own; /* the function for that, 0 = inlined everywhere */
	uint64_t any; /* runtime.traceEvent(event byte, ...) */
	int event;
};

/*
 * The conditional jumps that decide if the tracer is told: right before the
 * calls, or to them where these stand behind the function's end. Returns
 * their number (at most max are stored) or -EBADMSG.
 */
int code_tellings(const struct code *code, const struct teller *teller, size_t *offsets, int max);
/* The one call itself. -ENOENT if there is not just one. */
int code_telling_call(const struct code *code, const struct teller *teller, size_t *offset);

/*
 * runtime.goexit1 begins with the check whether the runtime's own tracer is
 * on: the variable that it reads. Go 1.22: `mov trace.gen, reg; test; jcc`;
 * later: `cmpb $0, trace.enabled; jcc` (arm64: a load and `cbnz`, `tbnz`). -ENOENT if not found.
 */
int code_flag(const struct code *code, uint64_t *flag);
/*
 * x86-64 only (Go up to 1.21): the conditional jumps right before calls of the function at `callee` with
 * this constant as the first argument: only what sets up arguments is in between. Returns
 * their number (at most max are stored) or -EBADMSG.
 */
int code_guards(const struct code *code, uint64_t callee, int64_t first, size_t *offsets, int max);

/* The conditional jumps that check the flag. Returns their number (at most max are stored) or -EBADMSG. */
int code_flag_checks(const struct code *code, uint64_t flag, size_t *offsets, int max);

enum use { USE_LOAD = 1, USE_STORE = 2, USE_ADDRESS = 4, USE_IS_ZERO = 8 /* 32 bits, compared with 0 */ };

struct reference { /* to a variable at a fixed address */
	uint64_t address;
	uint8_t use;  /* enum use */
	uint8_t size; /* of the access in bytes, 0 = not known */
};

/* Variables in the order of the code. Returns their number (at most max are stored) or -EBADMSG. */
int code_references(const struct code *code, struct reference *references, int max);

/*
 * x86-64 only: the offset of g from the thread's fs base, from the first instruction that
 * uses it (Go 1.26 runtime/asm_amd64.s: gogo, mcall, systemstack). -ENOENT if
 * there is none; got (may be NULL) then says where the offset is in memory, if
 * the code takes it from there, else 0.
 */
int code_tls(const struct code *code, int64_t *offset, uint64_t *got);

/*
 * Where two results of the function (in its first registers) are at a conditional
 * jump right before its end, whatever the jump leads around: followed from
 * there, taken if nothing is told then (the flag is zero), to the return. The first must be copied
 * from somewhere, the second the sum of that and of `added`. -ENOENT if it is not so.
 */
int code_slice_result(const struct code *code, size_t jump, struct value_place *base,
		      struct value_place *added);

/* The variable whose address is the first argument of the first call of the function at `callee`. -ENOENT if
 * there is none. */
int code_receiver(const struct code *code, uint64_t callee, uint64_t *variable);

#endif
