/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tables by which stacks of native code are walked (bpf/unwind.h), of one
 * process or several, in the maps of a BPF object that includes
 * bpf/unwind.bpf.h. A file's rows are made once, however many processes have it.
 *
 * Order: native_tables_new, native_tables_add of the processes that are there, native_tables_prepare
 * between the object's opening and loading, native_tables_place. The maps do
 * not grow: they get room for twice what is needed then.
 */
#ifndef GOTRACE_CAPTURE_NATIVE_TABLES_H
#define GOTRACE_CAPTURE_NATIVE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/unwind.h"
#include "native/modules.h"
#include "util/error.h"

struct bpf_object;
struct native_tables;

struct native_tables_stats {
	unsigned modules;     /* files of code, and the vDSO */
	unsigned unreadable;  /* of these: no ELF file that we know; their code has no rules */
	unsigned damaged;     /* of these: with descriptions of frames that make no sense */
	unsigned left_out;    /* for want of room */
	uint64_t rows, bytes; /* of all tables */
};

/* several: more than one process; the BPF constant unwind_several must say the same. NULL: out of memory. */
struct native_tables *native_tables_new(bool several);

/* Who reads files of code: the file fd, or if that is -1 these bytes. As module_read. */
struct module_reader {
	int (*read)(void *ctx, int fd, const char *bytes, size_t size, struct module_code *code);
	void *ctx;
};
/* Otherwise they are read here. Before the first refresh. */
void native_tables_use(struct native_tables *tables, const struct module_reader *reader);
void native_tables_free(struct native_tables *tables);

/* Reads the mappings of a process anew, or for the first time. -ESRCH, -EPERM, -ENOMEM; -ENOSPC: some code
 * was left out (the first time, and with a line that says so). */
int native_tables_refresh(struct native_tables *tables, pid_t pid, struct error *err);
/* A process that was forked has its parent's code, if that is known; the kernel's side (same_space) has noted
 * that itself. -ENOMEM. */
int native_tables_fork(struct native_tables *tables, pid_t parent, pid_t child);
void native_tables_forget(struct native_tables *tables, pid_t pid);

/* Whether a file was found to be damaged since this was asked last; then line tells of the first. */
bool native_tables_note(struct native_tables *tables, struct error *line);

int native_tables_prepare(struct native_tables *tables, struct bpf_object *object, struct error *err);
int native_tables_place(struct native_tables *tables, const struct bpf_object *object, struct error *err);

/*
 * Walks a stack of a process from its registers as bpf/unwind.bpf.h does: at most max addresses, all looked
 * up at pc - 1. Returns their number (0: process not known); *flags are those of its struct raw_stack.
 */
size_t native_tables_walk(const struct native_tables *tables, pid_t pid, struct unwind_regs regs,
			  uint64_t *pcs, size_t max, uint16_t *flags);

void native_tables_stats(const struct native_tables *tables, struct native_tables_stats *stats);

#endif
