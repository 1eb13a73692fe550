/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What differs from one Go release to the next: where the fields of the
 * runtime's structs are, and the texts of its reasons. layouts.inc has a row
 * per release, made by tools/layout from the toolchains' own DWARF.
 */
#ifndef GOTRACE_TARGET_LAYOUT_H
#define GOTRACE_TARGET_LAYOUT_H

#include <stdbool.h>

#include "bpf/record.h"
#include "rawlog/rawlog.h"

/* Beside what the BPF side needs (struct go_layout): where the image and the snapshots find things. */
struct runtime_offsets {
	uint32_t module_text, module_etext, module_gofunc; /* in moduledata */
	uint32_t module_pclntable;                         /* a slice that ends where pclntab ends */
	uint32_t sched_lock;
	uint32_t g_barriers; /* g.stkbar, a slice */
	/* of gcControllerState: what the goal of the heap is computed from */
	uint32_t gc_percent_goal, gc_min_trigger, gc_triggered, gc_heap_marked;
	uint32_t gc_memory_limit, gc_heap_free, gc_total_alloc, gc_total_free, gc_mapped_ready;
	uint32_t gc_heap_goal; /* up to 1.18 the goal itself; up to 1.16 in mstats, as go.gc_heap_live is */
	uint32_t span_base, span_npages, span_class, span_state; /* in mspan */
	uint32_t heap_allspans;                                  /* in mheap: a slice of *mspan */
};

struct layout {
	struct go_layout go; /* tls_g is the binary's, not the release's */
	struct runtime_offsets runtime;
};

struct reasons {
	const char *const *texts; /* NULL = no text for this number */
	unsigned n;
};

#define REASON_TABLES (REASON_STOP + 1) /* those that the runtime has */

struct release {
	unsigned minor;
	unsigned patch; /* verified up to: the toolchain that the row was made with */
	struct layout layout;
	struct reasons reasons[REASON_TABLES]; /* by enum log_reason_table */
};

/* The row of a minor release, or NULL. */
const struct release *release_find(unsigned minor);
/* Bounds of the table, for messages. */
unsigned release_first(void);
unsigned release_last(void);

/*
 * The fields of struct layout and where DWARF has them. A field that has been
 * in several places has a row for each, one behind the other: the first that
 * the release has counts, and the last says what it must have.
 */
struct layout_field {
	const char *name; /* of the field in struct layout: "go.g_stack_lo" */
	uint32_t offset;  /* of the field in struct layout */
	const char *type; /* "runtime.g" */
	const char *path; /* "stack.lo" */
	uint8_t since;    /* the first minor release that must have it; before, it may be LAYOUT_ABSENT */
};

#define LAYOUT_OPTIONAL 0xff /* since: no release must have it */

extern const struct layout_field layout_fields[];
extern const unsigned layout_field_count;

/* Whether the next row is of the same field. i < layout_field_count. */
bool layout_field_goes_on(unsigned i);
uint32_t layout_get(const struct layout *layout, const struct layout_field *field);
void layout_set(struct layout *layout, const struct layout_field *field, uint32_t value);
/* The runtime's variables that hold the texts of a table: an array of Go strings. NULL if there is none. */
const char *reason_variable(enum log_reason_table table);

#endif
