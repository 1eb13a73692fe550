/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Turns PCs into functions, files, lines and inlined callers, for the encoders. This header includes those of
 * the function table and of unwinding.
 */
#ifndef GOTRACE_CODE_SYMBOL_SYMBOL_H
#define GOTRACE_CODE_SYMBOL_SYMBOL_H

#include "code/symbol/frame.h"
#include "code/symbol/functab.h"
#include "code/symbol/unwind.h"
#include "util/strtab.h"

struct symbol;
struct natives; /* code/symbol/natives.h */

/* tab may be NULL: frames then have only a PC. Neither argument is owned. Strings are added to `strings`. */
struct symbol *symbol_new(const struct functab *tab, struct strtab *strings);
/* Adds names of native code. natives is not owned; its strings must be in the same string table. */
void symbol_use_natives(struct symbol *sym, const struct natives *natives);
/* Call it when a table has been added to tab: addresses that had no name may have one. */
void symbol_forget(struct symbol *sym);
void symbol_free(struct symbol *sym);

enum symbol_flags {
	SYMBOL_RUNTIME_FRAMES = 1, /* keep skipped leaf frames, runtime.goexit and runtime.main */
	/*
	 * The stack of a CPU sample (RAW_STACK_SAMPLE in bpf/record.h): its second address counts only if the
	 * first function has no frame there. The root frames are kept, as in samples of the runtime's own
	 * tracer.
	 */
	SYMBOL_SAMPLE = 2,
	/* pcs are words of the stack that include the return addresses (RAW_STACK_SCAN, bpf/record.h). */
	SYMBOL_SCAN = 4,
	/* pcs is one address, a goroutine's entry + 1: it gets a frame even in a wrapper. */
	SYMBOL_ENTRY = 8,
};

/*
 * Expands return addresses (leaf first) as Go's tracer does (fpunwindExpand and CallersFrames, Go 1.26
 * runtime/tracestack.go, symtab.go): adds frames of inlined callers, elides wrappers, omits `skip` logical
 * leaf frames, and omits runtime.goexit and runtime.main at the root. Addresses outside of Go code get their
 * frames from natives. Returns the number of frames written (0 … MAX_FRAMES), or -ENOMEM.
 */
int symbol_frames(struct symbol *sym, const uint64_t *pcs, size_t n, unsigned skip, unsigned flags,
		  struct frame frames[MAX_FRAMES]);

#endif
