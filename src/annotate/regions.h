/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Regions of goroutines: the user's, and function calls as regions. Readers require them to nest (Go 1.26
 * internal/trace/order.go, endRegion). m must be a thread whose goroutine runs.
 */
#ifndef GOTRACE_ANNOTATE_REGIONS_H
#define GOTRACE_ANNOTATE_REGIONS_H

#include "annotate/slots.h"

enum { REGIONS_MAX = 1000 }; /* open ones of a goroutine; deeper ones are left out */

/* An open user region. */
struct user_region {
	uint64_t task;
	uint64_t sp;   /* of a function call: its caller's, relative to the end of the stack; 0: no call */
	uint32_t name; /* string id */
	bool own_task; /* the task ends with the region */
	bool request;  /* belongs to a request */
	bool unnamed;  /* begun by StartRegion while the runtime's tracer was off: its end carries no name */
};

/* The open regions of a goroutine, innermost last, as readers keep them. */
struct region_list {
	struct user_region *open;
	unsigned n;
	size_t capacity;
	unsigned too_deep; /* number of open regions too deep to be recorded */
	uint32_t losses;   /* model_view.losses when the list was last checked */
};

struct regions {
	struct model_view *view;
	struct g_slots slots;    /* struct region_slot */
	struct region_list none; /* stands for a list that there is no memory for */
};

struct region_list *regions_of(struct regions *regions, const struct g *g);
/* Opens a region, and its task if it has one of its own. */
void regions_begin(struct regions *regions, struct m *m, const struct user_region *region, uint32_t stack);
/* Ends all regions except the outermost `depth`. */
void regions_end_deeper(struct regions *regions, struct m *m, unsigned depth, enum provenance provenance);
/* Writes only the op: the region is not, or no longer, in the list. */
void regions_write_end(struct regions *regions, struct m *m, const struct user_region *region,
		       uint32_t stack);
/*
 * Returns the index of the outermost call whose caller's stack pointer is below sp (at_sp: or equal to it),
 * or the list's length if there is none.
 */
unsigned regions_call_depth(const struct region_list *list, uint64_t sp, bool at_sp);
bool regions_have_calls(const struct regions *regions, const struct g *g);
/* Ends that call and all deeper regions. */
void regions_end_calls(struct regions *regions, struct m *m, uint64_t sp, bool at_sp,
		       enum provenance provenance);
/*
 * To be called before a region of m's goroutine begins or ends. After a loss, the end of an unnamed region
 * may belong to any of them. So unnamed regions that were open, and the regions inside them, end at the
 * goroutine's next annotation.
 */
void regions_settle(struct regions *regions, struct m *m);

#endif
