/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tables for walking stacks of native code (bpf/unwind.h), of one or more processes, in the maps of a BPF
 * object that includes bpf/unwind.bpf.h. A file's rows are made once, however many processes map it.
 *
 * Call order: native_tables_new(), native_tables_refresh() for existing processes, native_tables_prepare()
 * between opening and loading the object, native_tables_place(). The maps do not grow: they get twice the
 * size needed at that time, and at most 48 MiB for the rows and pages of all files. Files that are no longer
 * mapped are evicted. Code that does not fit is left out.
 */
#ifndef GOTRACE_CAPTURE_NATIVE_TABLES_H
#define GOTRACE_CAPTURE_NATIVE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/unwind.h"
#include "target/memory.h"
#include "target/names/modules.h"
#include "util/error.h"

struct bpf_object;
struct native_tables;

struct native_tables_stats {
	unsigned modules;     /* code files, and the vDSO */
	unsigned unreadable;  /* of these: not a known kind of ELF file; their code has no rules */
	unsigned damaged;     /* of these: with invalid frame descriptions */
	unsigned left_out;    /* because no space was left */
	uint64_t rows, bytes; /* of all tables */
};

/* several: more than one process; must equal the BPF constant unwind_several. Returns NULL if out of
 * memory. */
struct native_tables *native_tables_new(bool several);

/* Reads code files: the file fd, or the given bytes if fd is -1. Same contract as module_read(). */
struct module_reader {
	int (*read)(void *ctx, int fd, const char *bytes, size_t size, struct module_code *code);
	void *ctx;
};
/* Sets the reader; the default reads in this process. Call it before the first refresh. */
void native_tables_use(struct native_tables *tables, const struct module_reader *reader);
void native_tables_free(struct native_tables *tables);

/* Reads the mappings of a process, for the first time or again. Returns 0, -ESRCH, -EPERM or -ENOMEM; or
 * -ENOSPC, with a message in *err, the first time that some code is left out. */
int native_tables_refresh(struct native_tables *tables, pid_t pid, struct error *err);
/* Records a fork: the child has its parent's code, if that is known. The BPF side has recorded that itself
 * (same_space()). Returns 0 or -ENOMEM. */
int native_tables_fork(struct native_tables *tables, pid_t parent, pid_t child);
void native_tables_forget(struct native_tables *tables, pid_t pid);

/* Returns true if a file was found damaged, or was left out, since the last call, and sets *line to a message
 * about the first one. */
bool native_tables_note(struct native_tables *tables, struct error *line);
/* Returns true if files have not been read because time or space ran out, and space may be free now. Call
 * native_tables_refresh() again later. */
bool native_tables_behind(const struct native_tables *tables);

int native_tables_prepare(struct native_tables *tables, struct bpf_object *object, struct error *err);
int native_tables_place(struct native_tables *tables, const struct bpf_object *object, struct error *err);

/*
 * Walks a stack of a process from its registers, as bpf/unwind.bpf.h does. known: memory of the stack that
 * has been read already; NULL = none. Stores at most max addresses, all to be looked up at pc - 1, and sets
 * *flags for the struct raw_stack. Returns the number of addresses (0: unknown process).
 */
size_t native_tables_walk(const struct native_tables *tables, pid_t pid, struct unwind_regs regs,
			  const struct memory_piece *known, uint64_t *pcs, size_t max, uint16_t *flags);

void native_tables_stats(const struct native_tables *tables, struct native_tables_stats *stats);

#endif
