/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module. Addresses are link-time addresses unless stated otherwise. */
#ifndef GOTRACE_TARGET_PRIVATE_H
#define GOTRACE_TARGET_PRIVATE_H

#include "target/buildinfo.h"
#include "target/copies.h"
#include "code/isa/code.h"
#include "target/image.h"
#include "target/layout_table.h"
#include "target/load.h"
#include "target/module.h"
#include "target/plugins.h"
#include "target/target.h"

struct target_image {
	/* A plugin of the program, which has only a part of the runtime. */
	bool is_plugin;
	struct plugins plugins;
	struct loaded file;
	struct image elf;
	struct module module;
	bool placed;                   /* the bias is that of the process */
	const struct release *release; /* a row of the table, &own, or &near */
	struct release own;            /* from the program's own DWARF */
	struct release near; /* for an unknown release: a row, with module_row's moduledata fields */
	unsigned near_minor; /* minor release of the program, for which `near` stands in */
	/* How the program contradicts its release's row: "whose structs are other ones: ..."; "" if it does
	 * not. */
	struct error changed;
	const struct release *module_row; /* source of near's moduledata fields (nearest.h) */
	const struct layout_table *given; /* tried instead of a row; not owned; may be NULL */
	struct copies copies;             /* by target_find_copies() */
	struct log_functab *names; /* LOG_FUNCTAB record, which functab reads; NULL until it is requested */
	size_t names_size;
	char comm[16];
	char path[256]; /* target of the link /proc/PID/exe, for messages */
	char label[64]; /* "PID 123 (server)", prefix of messages */
};

/* Parts of opening a program, for plugins (open.c). Each returns 0 or a negative errno. */
int target_find_module(struct target_image *image, struct error *err);
int target_build_functab(struct target *target, struct error *err);
/*
 * Verifies that the process runs this file: the header of its function table must be in memory at the
 * expected address.
 */
int target_compare_memory(const struct target *target, struct error *err);

/*
 * Parses the function table and replaces the previous one. The bytes remain the caller's. In *bytes, the
 * caller sets the byte ranges (except pclntab_size), gofunc_address and bias. Returns 0 or -ENOTSUP.
 */
int target_read_functab(struct target *target, const struct functab_source *bytes, struct error *err);

/*
 * Gets the code of a function by its addresses in the process, or by name. Returns 0, or -ENOENT if the
 * program does not have it. Half of Go 1.4's runtime is C, whose functions have no package: there
 * "runtime.execute" also finds "execute".
 */
int target_code_at(const struct target *target, uint64_t entry, uint64_t end, struct code *code);
int target_find_function(const struct target *target, const char *name, uint64_t *entry, uint64_t *end);
int target_code(const struct target *target, const char *name, struct code *code);

/* Sets target->layout from image->release, except what target_find_variables() fills in. */
void target_take_layout(struct target *target);

/* Finds allgs, allp, ... and the thread-local offset of g in the code, and stores them in *target. */
int target_find_variables(struct target *target, struct error *err);

/*
 * Gets the address of the flag that is set while the runtime's tracer is on (a byte from Go 1.23 on). Returns
 * 0 or -ENOENT.
 */
int target_trace_flag(const struct target *target, uint64_t *flag);
/* Distance of trace.enabledWithAllocFree from trace.enabled (Go 1.23 to 1.26 runtime/trace.go). */
#define ALLOC_FLAG 1u

/* Finds code that only Go up to 1.16 has. gc_controller must be set. Places that are not found stay 0. */
void target_find_abi0_places(struct target *target);

/* Reads the monotonic and the wall clock at one moment. */
struct log_clock target_clock(void);
/* Logs a LOG_MAPPING for each mapping with code. */
int target_log_mappings(pid_t pid, log_sink sink, void *ctx, struct error *err);

#endif
