/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * .eh_frame and .debug_frame as rows of bpf/unwind.h. Pure functions over
 * bytes that a stranger controls. Call frame information: DWARF 5, 6.4;
 * .eh_frame: Linux Standard Base Core 5.0, 10.6.
 */
#ifndef GOTRACE_SYMBOL_EHFRAME_H
#define GOTRACE_SYMBOL_EHFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind.h"

struct ehframe_section { /* data = NULL: there is none */
	const uint8_t *data;
	size_t size;
	uint64_t address; /* at which it is linked */
};

/* What is known of a piece of code by other means. */
struct ehframe_span {
	uint64_t start, end; /* link addresses */
	uint32_t rule;
};

struct ehframe_input {
	struct ehframe_section eh_frame;
	struct ehframe_section debug_frame; /* for code that .eh_frame has nothing about */
	uint64_t base, end;                 /* the code, link addresses; at most 4 GiB */
	bool arm64;                         /* code of arm64, not of amd64 */
	const struct ehframe_span *spans;   /* of code that neither has anything about; in order, apart */
	size_t nspans;
	enum unwind_kind between; /* code that nothing is known about: NONE or CHAIN */
};

struct ehframe_rows {
	struct unwind_row *rows; /* the first begins at base; to be freed */
	size_t n;
	size_t functions; /* descriptions that were used */
	size_t damaged;   /* descriptions that were not, or not to their end */
	uint64_t known;   /* bytes of code with a rule other than `between` and NONE */
	uint64_t odd;     /* bytes that are described by what our rules cannot say: NONE */
};

/* Damaged descriptions are left out and counted. -ENOMEM, or -EINVAL if base and end are no such range. */
int ehframe_parse(const struct ehframe_input *input, struct ehframe_rows *rows);
void ehframe_free(struct ehframe_rows *rows);

/* Pages that code of `size` bytes has. */
uint32_t ehframe_page_count(uint64_t size);
/* Fills so many pages for rows that will be the first, first + 1, … of all. */
void ehframe_pages(const struct unwind_row *rows, size_t n, uint32_t first, struct unwind_page *pages,
		   uint32_t count);

#endif
