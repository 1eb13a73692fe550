/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/symbol/ehframe.h"

#include <errno.h>
#include <stdlib.h>

#include "code/symbol/cfi_program.h"
#include "code/symbol/cfi_section.h"
#include "util/array.h"

/* Rows being written. */
struct row_output {
	const struct ehframe_input *input;
	struct ehframe_rows *rows;
	size_t capacity;
	uint64_t at;   /* rows are complete up to this address */
	uint32_t rule; /* the rule at that address */
	size_t span;   /* index: earlier spans end at or before that address */
};

/* Reallocations are rare, so they do not count against the budget. */
static int row_output_reserve(struct row_output *output)
{
	if (output->rows->n >= EHFRAME_ROWS_MAX)
		return -EFBIG;
	return array_grow(&output->rows->rows, &output->capacity, output->rows->n + 1,
			  sizeof(*output->rows->rows));
}

/* Applies the rule from output->at to `end`. */
static int row_output_put(struct row_output *output, uint64_t end, uint32_t rule)
{
	struct ehframe_rows *rows = output->rows;
	int rc;

	if (end <= output->at)
		return 0;
	if (!rows->n || rows->rows[rows->n - 1].rule != rule) {
		rc = row_output_reserve(output);
		if (rc)
			return rc;
		rows->rows[rows->n++] =
			(struct unwind_row){(uint32_t)(output->at - output->input->base), rule};
	}
	if (rule != UNWIND_NONE && rule != UNWIND_CHAIN)
		rows->known += end - output->at;
	output->at = end;
	return 0;
}

/* Fills code without an FDE up to `end`: spans first, `rule` elsewhere. */
static int put_gap(struct row_output *output, uint64_t end, uint32_t rule)
{
	const struct ehframe_input *input = output->input;
	int rc = 0;

	while (rc == 0 && output->at < end && output->span < input->nspans) {
		const struct ehframe_span *span = &input->spans[output->span];

		if (span->start >= end)
			break;
		if (span->end <= output->at) {
			output->span++;
			continue;
		}
		rc = row_output_put(output, span->start, rule);
		if (rc == 0)
			rc = row_output_put(output, span->end < end ? span->end : end, span->rule);
	}
	return rc ? rc : row_output_put(output, end, rule);
}

/*
 * Rule for code without an FDE that precedes a function. In clone and clone3, the code after the system call
 * has none, because it would be wrong in the child (glibc 2.36 sysdeps/unix/sysv/linux/x86_64/clone.S). In
 * the parent, the rule from before the system call still applies.
 */
#define MAX_CLONE_GAP 16u

static uint32_t rule_before(const struct row_output *output, const struct cfi_fde *fde, uint32_t first)
{
	if (first == UNWIND_END && output->rows->n && fde->start - output->at <= MAX_CLONE_GAP)
		return output->rows->rows[output->rows->n - 1].rule;
	return output->input->between;
}

/* Writes the rows of one function, up to `end`. */
static int put_fde(struct row_output *output, struct cfi_section *section, const struct cfi_fde *fde,
		   uint64_t end)
{
	struct cfi_cie *cie = cfi_cie_at(section, fde->cie);
	struct cfi_run run = {
		.section = section, .cie = cie, .program = fde->program, .location = fde->start};
	enum cfi_run_result result = CFI_RUN_NEXT_ROW;
	bool first = true;
	int rc = 0;

	if (!cie)
		return 0;
	output->rows->functions++;
	run.state = cie->initial;
	while (rc == 0 && result == CFI_RUN_NEXT_ROW && output->at < end) {
		uint64_t next;
		uint32_t rule;

		if (!cfi_may_go_on(section))
			return -ETIME;
		result = cfi_run_row(&run);
		next = result == CFI_RUN_NEXT_ROW && run.location < end ? run.location : end;
		rule = result == CFI_RUN_BAD ? UNWIND_NONE
					     : unwind_rule_of(section->registers, &run.state, cie->is_signal);
		if (first && fde->start > output->at)
			rc = put_gap(output, fde->start, rule_before(output, fde, rule));
		first = false;
		if (rc == 0)
			rc = row_output_put(output, next, rule);
	}
	output->rows->damaged += result == CFI_RUN_BAD;
	return rc;
}

/*
 * Merges both sorted lists. Where functions overlap, the later one replaces the rest of the earlier one, but
 * .eh_frame takes precedence over .debug_frame.
 */
static int row_output_put_all(struct row_output *output, struct cfi_section *eh, struct cfi_section *debug)
{
	size_t i = 0, j = 0;
	int rc = 0;

	while (rc == 0 && (i < eh->n || j < debug->n)) {
		uint64_t next = i < eh->n ? eh->fdes[i].start : output->input->end;
		const struct cfi_fde *fde = j < debug->n ? &debug->fdes[j] : NULL;

		if (fde && fde->start < next) {
			j++;
			if (fde->start >= output->at)
				rc = put_fde(output, debug, fde, fde->end < next ? fde->end : next);
			continue;
		}
		fde = &eh->fdes[i++];
		next = i < eh->n && eh->fdes[i].start > fde->start ? eh->fdes[i].start : fde->end;
		rc = put_fde(output, eh, fde, fde->end < next ? fde->end : next);
	}
	return rc ? rc : put_gap(output, output->input->end, output->input->between);
}

int ehframe_parse(const struct ehframe_input *input, struct ehframe_rows *rows)
{
	const struct cfi_registers *registers = input->arm64 ? &cfi_arm64 : &cfi_amd64;
	struct cfi_section eh = {.bytes = &input->eh_frame, .registers = registers, .budget = input->budget};
	struct cfi_section debug = {.bytes = &input->debug_frame,
				    .is_debug = true,
				    .registers = registers,
				    .budget = input->budget};
	struct row_output output = {.input = input, .rows = rows, .at = input->base};
	int rc;

	*rows = (struct ehframe_rows){.n = 0};
	if (input->base >= input->end || input->end - input->base > UINT32_MAX)
		return -EINVAL;
	rc = cfi_list_fdes(&eh, input->base, input->end);
	if (rc == 0)
		rc = cfi_list_fdes(&debug, input->base, input->end);
	cfi_sort_fdes(&eh);
	cfi_sort_fdes(&debug);
	if (rc == 0)
		rc = row_output_put_all(&output, &eh, &debug);
	rows->damaged += eh.damaged + debug.damaged;
	free(eh.fdes);
	free(debug.fdes);
	if (rc)
		ehframe_free(rows);
	return rc;
}

int ehframe_spans_add(struct ehframe_spans *spans, uint64_t start, uint64_t end, uint32_t rule)
{
	struct ehframe_span *last = spans->n ? &spans->list[spans->n - 1] : NULL;

	if (start == end)
		return 0;
	if (last && last->end == start && last->rule == rule) {
		last->end = end;
		return 0;
	}
	if (array_grow(&spans->list, &spans->capacity, spans->n + 1, sizeof(*spans->list)))
		return -ENOMEM;
	spans->list[spans->n++] = (struct ehframe_span){start, end, rule};
	return 0;
}

void ehframe_spans_free(struct ehframe_spans *spans)
{
	free(spans->list);
	*spans = (struct ehframe_spans){.n = 0};
}

void ehframe_free(struct ehframe_rows *rows)
{
	free(rows->rows);
	*rows = (struct ehframe_rows){.n = 0};
}

uint32_t ehframe_page_count(uint64_t size)
{
	return (uint32_t)((size + UNWIND_PAGE - 1) >> UNWIND_PAGE_SHIFT);
}

void ehframe_pages(const struct unwind_row *rows, size_t n, uint32_t first, struct unwind_page *pages,
		   uint32_t count)
{
	size_t row = 0; /* the last row that begins at or before the page */

	for (uint32_t i = 0; i < count; i++) {
		uint64_t start = (uint64_t)i << UNWIND_PAGE_SHIFT;
		size_t end;

		while (row + 1 < n && rows[row + 1].start <= start)
			row++;
		end = row;
		while (end < n && rows[end].start < start + UNWIND_PAGE)
			end++;
		pages[i] = (struct unwind_page){first + (uint32_t)row, (uint32_t)(end - row)};
	}
}
