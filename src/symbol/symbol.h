/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Go's function table (pclntab): from names to addresses for whoever places
 * probes, and from PCs to functions, files, lines and inlined callers for the
 * encoders. Pure functions over bytes that a stranger controls: every offset
 * is checked, every loop is bounded.
 */
#ifndef GOTRACE_SYMBOL_H
#define GOTRACE_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"
#include "util/strtab.h"

struct functab; /* a parsed, checked function table */

struct functab_source {
	const uint8_t *pclntab; /* kept, not copied: must outlive the functab */
	size_t pclntab_size;
	const uint8_t *gofunc; /* bytes that hold the inline trees (functab_gofunc_range); NULL = none */
	size_t gofunc_size;
	uint64_t gofunc_address; /* of the first of them; from 1.18 on moduledata.gofunc */
	uint64_t text, etext;    /* address range of Go code in the process */
	uint64_t bias;           /* added to the addresses that the table holds up to 1.17 */
	uint32_t go_minor; /* 0 = not known: names, addresses and stack pointer deltas are right, stacks are
			      not */
};

struct functab *functab_new(const struct functab_source *source, struct error *err);
void functab_free(struct functab *tab);
size_t functab_count(const struct functab *tab);
/* The addresses of Go's code in the process: [from, to). */
void functab_range(const struct functab *tab, uint64_t *from, uint64_t *to);
/* Function by index: entry address, end address, name (owned by the table). Returns -ERANGE or -EBADMSG. */
int functab_entry(const struct functab *tab, size_t index, uint64_t *entry, uint64_t *end, const char **name);
/* Exact name, e.g. "runtime.casgstatus". Returns -ENOENT if absent. Linear: for a handful of look-ups. */
int functab_find(const struct functab *tab, const char *name, uint64_t *entry, uint64_t *end);
/* The function that holds pc; -ENOENT if none. */
int functab_lookup(const struct functab *tab, uint64_t pc, size_t *index);
/*
 * Where the inline trees of all functions are, so that the target room knows
 * what to log: [from, to), from = gofunc_address from 1.18 on. Needs no
 * gofunc. False if there are none.
 */
bool functab_gofunc_range(const struct functab *tab, uint64_t *from, uint64_t *to);
/* Puts the addresses of the process into a copy of pclntab, which then needs no bias. */
void functab_relocate(const struct functab *tab, uint8_t *copy);
/*
 * How far the stack pointer is below the return address when the instruction
 * at pc is about to run, in bytes. Returns -ENOENT outside of Go code,
 * -EBADMSG, or -ENODATA where the table does not say.
 */
int functab_sp_delta(const struct functab *tab, uint64_t pc, uint32_t *delta);

/*
 * What a goroutine that starts at pc really runs: for a wrapper that the
 * compiler made (`go x.Method()`), the wrapped function; else pc itself
 * (startPCForTrace, Go 1.26 runtime/tracestack.go). Needs gofunc.
 */
uint64_t functab_start_pc(const struct functab *tab, uint64_t pc);

/* What the collector of Go 1.5 to 1.8 has put aside of a stack (g.stkbar). */
struct stack_barrier {
	uint64_t at; /* where it stands */
	uint64_t pc; /* the return address that was there */
};

/* A copy of a stack's memory [lo, hi), addresses of the process. Not owned. */
struct stack_bytes {
	const uint8_t *bytes;
	uint64_t lo, hi;
	const struct stack_barrier *barriers;
	size_t nbarriers;
};

struct unwinder;

/* NULL when out of memory. The table is not owned. */
struct unwinder *unwinder_new(const struct functab *tab);
void unwinder_free(struct unwinder *unwinder);
/*
 * The addresses of a stack, leaf first: pc itself, where the goroutine goes
 * on, then the return addresses above sp. Ends with the function at the root
 * of the stack (runtime.goexit, then *whole is true), with `max`, or where an
 * address is not Go's or not in the copy. Returns their number.
 */
size_t unwinder_walk(struct unwinder *unwinder, uint64_t pc, uint64_t sp, const struct stack_bytes *stack,
		     uint64_t *pcs, size_t max, bool *whole);

struct frame {
	uint64_t pc;   /* distinct for inlined frames that share one machine PC; as Go's tracer writes it */
	uint32_t func; /* ids in the string table given to symbol_new */
	uint32_t file;
	uint32_t line;
};

#define MAX_FRAMES 128 /* what the trace formats take */

struct symbol;
struct natives; /* symbol/natives.h */

/* tab may be NULL (frames then have a PC only). Neither is owned; strings go into `strings`. */
struct symbol *symbol_new(const struct functab *tab, struct strtab *strings);
/* Who knows the addresses that the function table does not have; not owned. Strings of the same table. */
void symbol_use_natives(struct symbol *sym, const struct natives *natives);
void symbol_free(struct symbol *sym);

#define SCANNED_SHIFT 48u
#define SCANNED_FRAME (0xffffull << SCANNED_SHIFT)

enum symbol_flags {
	SYMBOL_RUNTIME_FRAMES = 1, /* keep skipped leaf frames, runtime.goexit and runtime.main */
	/*
	 * A CPU sample's stack (RAW_STACK_SAMPLE in bpf/record.h): the second address is taken if the first
	 * function has no frame there. The roots stay, as in samples of the runtime's own tracer.
	 */
	SYMBOL_SAMPLE = 2,
	/* Not return addresses, but words of the stack among which they are (RAW_STACK_SCAN, bpf/record.h).
	 */
	SYMBOL_SCAN = 4,
	/* The one address is where a goroutine starts (+ 1): it has a frame even if it is in a wrapper. */
	SYMBOL_ENTRY = 8,
};

/*
 * Expands return addresses (leaf first) as Go's tracer does (fpunwindExpand
 * and CallersFrames, Go 1.26 runtime/tracestack.go, symtab.go): inlined callers
 * become frames, wrappers are elided, `skip` logical leaf frames are left out,
 * then runtime.goexit and runtime.main at the root. Addresses outside of Go's code have the frames that
 * natives has. Returns the number of
 * frames written (0 … MAX_FRAMES), or -ENOMEM.
 */
int symbol_frames(struct symbol *sym, const uint64_t *pcs, size_t n, unsigned skip, unsigned flags,
		  struct frame frames[MAX_FRAMES]);

#endif
