/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Converts .eh_frame and .debug_frame to the rows of bpf/unwind.h. Pure functions over untrusted bytes. Call
 * frame information: DWARF 5, 6.4. .eh_frame: Linux Standard Base Core 5.0, 10.6.
 */
#ifndef GOTRACE_CODE_SYMBOL_EHFRAME_H
#define GOTRACE_CODE_SYMBOL_EHFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind.h"
#include "util/budget.h"

/* Limit on the rows of a file: 32 MiB. libLLVM has one million rows, all of Chromium about four million. */
#define EHFRAME_ROWS_MAX (4u << 20)

struct ehframe_section { /* data = NULL: absent */
	const uint8_t *data;
	size_t size;
	uint64_t address; /* link address */
};

/* A rule for a piece of code, known from another source. */
struct ehframe_span {
	uint64_t start, end; /* link addresses */
	uint32_t rule;
};

struct ehframe_spans { /* sorted, without overlaps */
	struct ehframe_span *list;
	size_t n, capacity;
};

struct ehframe_input {
	struct ehframe_section eh_frame;
	struct ehframe_section debug_frame; /* used where .eh_frame has no FDE */
	uint64_t base, end;                 /* the code, link addresses; at most 4 GiB */
	bool arm64;                         /* arm64 code, else amd64 */
	const struct ehframe_span *spans;   /* used where neither section has an FDE; sorted, disjoint */
	size_t nspans;
	enum unwind_kind between; /* rule for all other code: NONE or CHAIN */
	struct budget *budget;    /* CPU time; NULL: unlimited */
};

struct ehframe_rows {
	struct unwind_row *rows; /* the first row begins at base; free with ehframe_free */
	size_t n;
	size_t functions; /* FDEs used */
	size_t damaged;   /* FDEs not used, or not used to their end */
	uint64_t known;   /* bytes of code with a rule other than `between` and NONE */
};

/*
 * Makes the rows. Skips damaged FDEs and counts them. Returns 0, -ENOMEM, -EFBIG if there would be more than
 * EHFRAME_ROWS_MAX rows, -ETIME if the budget is used up, or -EINVAL if base and end are not a valid range.
 * Except for sorting, the time is linear in the size of the sections.
 */
int ehframe_parse(const struct ehframe_input *input, struct ehframe_rows *rows);
void ehframe_free(struct ehframe_rows *rows);

/* Adds a rule for [start, end), behind all others; an empty range is left out. Returns 0 or -ENOMEM. */
int ehframe_spans_add(struct ehframe_spans *spans, uint64_t start, uint64_t end, uint32_t rule);
void ehframe_spans_free(struct ehframe_spans *spans);

/* Number of pages for `size` bytes of code. */
uint32_t ehframe_page_count(uint64_t size);
/* Fills `count` pages for rows that will have the indices first, first + 1, … in the combined table. */
void ehframe_pages(const struct unwind_row *rows, size_t n, uint32_t first, struct unwind_page *pages,
		   uint32_t count);

#endif
