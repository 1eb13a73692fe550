/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Differences between Go releases: offsets in the runtime's structs, and the texts of its reasons.
 * layouts.inc has one row per release, made by tools/layout from the toolchains' DWARF.
 */
#ifndef GOTRACE_TARGET_LAYOUT_H
#define GOTRACE_TARGET_LAYOUT_H

#include <stdbool.h>

#include "bpf/record.h"
#include "rawlog/rawlog.h"

/*
 * Offsets used by user space only: for reading the image and for snapshots. The BPF side's are in struct
 * go_layout.
 */
struct runtime_offsets {
	uint32_t module_text, module_etext, module_gofunc; /* in moduledata */
	uint32_t module_pclntable;                         /* a slice that ends at the end of pclntab */
	uint32_t module_types, module_etypes, module_typelinks, module_typedesclen;
	uint32_t module_next; /* the next module: a plugin */
	uint32_t sched_lock;
	uint32_t g_barriers; /* g.stkbar, a slice */
	uint32_t g_waitsince, g_tracking_seq, g_labels;
	/* in gcControllerState: inputs of the heap goal */
	uint32_t gc_percent_goal, gc_min_trigger, gc_triggered, gc_heap_marked;
	uint32_t gc_memory_limit, gc_heap_free, gc_total_alloc, gc_total_free, gc_mapped_ready;
	uint32_t gc_heap_goal; /* up to 1.18 the goal itself; up to 1.16 in mstats, like go.gc_heap_live */
	uint32_t span_base, span_npages, span_class, span_state; /* in mspan */
	uint32_t heap_allspans;                                  /* in mheap: a slice of *mspan */
};

struct layout {
	struct go_layout go; /* tls_g depends on the binary, not on the release */
	struct runtime_offsets runtime;
};

struct reasons {
	const char *const *texts; /* NULL = no text for this number */
	unsigned n;
};

#define REASON_TABLES (REASON_STOP + 1) /* the runtime's tables */

/* Limits on values in a program's DWARF or in a layout text. */
#define LAYOUT_MOST_OFFSET  (1u << 20)
#define LAYOUT_MOST_REASONS 256u /* per table */
#define LAYOUT_MOST_REASON  128u /* bytes of a text */

struct release {
	unsigned minor;
	unsigned patch; /* patch release of the toolchain that the row was made with */
	struct layout layout;
	struct reasons reasons[REASON_TABLES]; /* indexed by enum log_reason_table */
};

/* Returns the row of a minor release's newest patch, or NULL. */
const struct release *release_find(unsigned minor);
/* The nth row of a minor release, the newest patch first; NULL at the end. Few have more than one. */
const struct release *release_patch(unsigned minor, unsigned n);
/* Frees the texts of a release that owns them, which rows of the table do not. */
void release_free(struct release *release);
/* First and last release of the table, for messages. */
unsigned release_first(void);
unsigned release_last(void);

/*
 * A field of struct layout and its place in DWARF. A field that moved has consecutive rows: the first row
 * that the release matches applies, and the last row's `since` decides whether the field is required.
 */
struct layout_field {
	const char *name; /* of the field in struct layout: "go.g_stack_lo" */
	uint32_t offset;  /* of the field in struct layout */
	const char *type; /* "runtime.g" */
	const char *path; /* "stack.lo" */
	/* First minor release that must have the field. In earlier ones it may be LAYOUT_ABSENT. */
	uint8_t since;
};

#define LAYOUT_OPTIONAL 0xff /* since: no release is required to have the field */

extern const struct layout_field layout_fields[];
extern const unsigned layout_field_count;

/* Whether the next row describes the same field. i < layout_field_count. */
bool layout_field_has_next_row(unsigned i);
uint32_t layout_get(const struct layout *layout, const struct layout_field *field);
void layout_set(struct layout *layout, const struct layout_field *field, uint32_t value);
/* Returns the size of a struct's prefix that contains these 8-byte fields. Ignores LAYOUT_ABSENT. */
size_t layout_extent(const uint32_t *offsets, size_t n);
/* Returns the 8-byte word at bytes + offset, or 0 if the offset is LAYOUT_ABSENT. */
uint64_t layout_word(const uint8_t *bytes, uint32_t offset);
/* Returns the name of the runtime's variable (an array of Go strings) with a table's texts, or NULL. */
const char *reason_variable(enum log_reason_table table);

#endif
