/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the files of the room share. Addresses in here are link-time ones unless a comment says otherwise. */
#ifndef GOTRACE_TARGET_PRIVATE_H
#define GOTRACE_TARGET_PRIVATE_H

#include "target/buildinfo.h"
#include "target/code.h"
#include "target/image.h"
#include "target/layout.h"
#include "target/load.h"
#include "target/module.h"
#include "target/target.h"

struct target_image {
	struct loaded file;
	struct image elf;
	struct module module;
	const struct release *release; /* a row of the table, or &own */
	struct release own;            /* from the program's own DWARF */
	struct log_functab *names;     /* once the log has asked: the record, and what functab reads */
	size_t names_size;
	char comm[16];
	char path[256]; /* where the link /proc/PID/exe leads, for people */
	char label[64]; /* "PID 123 (server)", how messages begin */
};

/*
 * Parses the function table at these bytes, which stay the caller's, in place of the one before. Of the
 * source the bytes (but not the table's size), gofunc_address and the bias are the caller's to tell.
 */
int target_read_functab(struct target *target, const struct functab_source *bytes, struct error *err);

/*
 * A function by its addresses in the process or by name, for the code finders.
 * -ENOENT if the program does not have it. Half of Go 1.4's runtime is C,
 * whose functions have no package: "runtime.execute" finds "execute" there.
 */
int target_code_at(const struct target *target, uint64_t entry, uint64_t end, struct code *code);
int target_find_function(const struct target *target, const char *name, uint64_t *entry, uint64_t *end);
int target_code(const struct target *target, const char *name, struct code *code);

/* Finds allgs, allp, ... and the thread-local offset of g in the code; fills them in. */
int target_find_variables(struct target *target, struct error *err);

/* Where the runtime's tracer keeps whether it is on (a byte from Go 1.23 on). -ENOENT if not found. */
int target_trace_flag(const struct target *target, uint64_t *flag);
/* trace.enabledWithAllocFree stands right behind trace.enabled (Go 1.23 to 1.26 runtime/trace.go). */
#define ALLOC_FLAG 1u

/* The places that only Go up to 1.16 has; gc_controller is found already. What is not found stays 0. */
void target_find_old_places(struct target *target);

/* Both clocks at one moment. */
struct log_clock target_clock(void);
/* LOG_MAPPINGs: code only. */
int target_log_mappings(pid_t pid, log_sink sink, void *ctx, struct error *err);

#endif
