/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Arbitrary bytes as .eh_frame, as .debug_frame, as arm64's procedure linkage table, or as a whole ELF file:
 * rows must be in order and be found through the pages, and walks along any stack must end. Input: a byte of
 * options, then the section or the file.
 */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "code/symbol/native_walk.h"
#include "target/names/modules.h"
#include "code/symbol/depth_amd64.h"
#include "code/symbol/plt_arm64.h"

#define BASE 0x401000ull
#define SIZE 0x3000ull

enum { AS_FILE = 1, AS_DEBUG = 2, AS_ARM64 = 4, AS_PLT = 8, AS_CODE = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The stack is the input itself, repeated. */
struct stack {
	const uint8_t *data;
	size_t size;
};

static size_t read_stack(void *ctx, uint64_t address, void *to, size_t size)
{
	const struct stack *stack = ctx;

	for (size_t i = 0; i < size; i++)
		((uint8_t *)to)[i] = stack->size ? stack->data[(address + i) % stack->size] : 0;
	return address % 5 ? size : size / 2;
}

static void walk(const struct unwind_tables *tables, uint64_t pc, struct stack *stack)
{
	struct unwind_regs regs = {.ip = pc + 1, .sp = 0x7ff000000000 + pc % 64 * 8, .bp = 0x7ff000000100};
	uint64_t pcs[STACK_DEPTH];
	uint16_t flags;

	if (native_walk(tables, (struct unwind_space){.count = 1}, regs, read_stack, stack, pcs, STACK_DEPTH,
			&flags) > STACK_DEPTH)
		abort();
}

static void use(const struct ehframe_rows *rows, uint64_t base, uint64_t size, struct stack *stack)
{
	uint32_t count = ehframe_page_count(size);
	struct unwind_page *pages = calloc(count, sizeof(*pages));
	struct unwind_mapping mapping = {.start = base, .end = base + size, .base = base, .pages = count};
	struct unwind_tables tables = {rows->rows, pages, &mapping, (uint32_t)rows->n, count, 1};

	if (!pages)
		return;
	ehframe_pages(rows->rows, rows->n, 0, pages, count);
	for (size_t i = 0; i < rows->n; i++) {
		uint64_t at = base + rows->rows[i].start;

		if (rows->rows[i].start >= size || (i && rows->rows[i].start <= rows->rows[i - 1].start) ||
		    native_rule(&tables, (struct unwind_space){.count = 1}, at) != rows->rows[i].rule)
			abort();
		if (i < 64)
			walk(&tables, at, stack);
	}
	free(pages);
}

/* A program for arm64, whose procedure linkage table is searched for, too. */
static void as_arm64_file(const uint8_t *data, size_t size, struct stack *stack)
{
	struct module_code code;

	if (module_read_image((const char *)data, size, EM_AARCH64, &code) == 0 && code.size < 64u << 20)
		use(&code.rows, code.base, code.size, stack);
	module_free(&code);
}

/* The bytes serve as such a table and as .eh_frame. */
static void as_plt(const uint8_t *data, size_t size, struct ehframe_input *input, struct stack *stack)
{
	struct ehframe_spans spans = {.n = 0};
	struct ehframe_rows rows;

	size = size < SIZE - 0x100 ? size : SIZE - 0x100;
	if (plt_arm64_add(&spans, data, size / 2, BASE + 0x10) ||
	    plt_arm64_add(&spans, data + size / 2, size - size / 2, BASE + 0x20 + size / 2))
		abort();
	for (size_t i = 0; i < spans.n; i++) {
		if (spans.list[i].start >= spans.list[i].end ||
		    (i && spans.list[i].start < spans.list[i - 1].end))
			abort();
	}
	input->spans = spans.list;
	input->nspans = spans.n;
	if (ehframe_parse(input, &rows) == 0)
		use(&rows, BASE, SIZE, stack);
	ehframe_free(&rows);
	ehframe_spans_free(&spans);
}

/* The bytes serve as code without a description, and as the addresses of its functions. */
static void as_code(const uint8_t *data, size_t size, struct stack *stack)
{
	struct ehframe_input input = {.base = BASE, .end = BASE + SIZE};
	struct budget budget = {.cpu_ns = 1000000000};
	struct ehframe_spans spans = {.n = 0};
	struct ehframe_rows rows;
	uint64_t starts[4];

	size = size < SIZE ? size : SIZE;
	for (size_t i = 0; i < 4; i++)
		starts[i] = BASE + (i < size ? data[i] : i);
	budget_start(&budget);
	if (depth_amd64_add(&spans, data, size, BASE, &(struct depth_starts){starts, 4}, &budget))
		abort();
	for (size_t i = 0; i < spans.n; i++) {
		if (spans.list[i].start >= spans.list[i].end ||
		    (i && spans.list[i].start < spans.list[i - 1].end) || spans.list[i].end > BASE + size)
			abort();
	}
	input.spans = spans.list;
	input.nspans = spans.n;
	if (ehframe_parse(&input, &rows) == 0)
		use(&rows, BASE, SIZE, stack);
	ehframe_free(&rows);
	ehframe_spans_free(&spans);
}

static void as_file(const uint8_t *data, size_t size, struct stack *stack)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct module_code code;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	/* Skips the pages of up to 4 GiB of code, which would only use memory. */
	if (module_read(fd, &code) == 0 && code.size < 64u << 20)
		use(&code.rows, code.base, code.size, stack);
	module_free(&code);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ehframe_input input = {.base = BASE, .end = BASE + SIZE};
	struct ehframe_section section;
	struct ehframe_rows rows;
	struct stack stack;

	if (!size)
		return 0;
	stack = (struct stack){data + 1, size - 1};
	section = (struct ehframe_section){data + 1, size - 1, 0x402000};
	if (*data & AS_FILE) {
		(*data & AS_ARM64 ? as_arm64_file : as_file)(data + 1, size - 1, &stack);
		return 0;
	}
	if (*data & AS_CODE) {
		as_code(data + 1, size - 1, &stack);
		return 0;
	}
	input.arm64 = *data & AS_ARM64;
	*(*data & AS_DEBUG ? &input.debug_frame : &input.eh_frame) = section;
	if (*data & AS_PLT) {
		as_plt(data + 1, size - 1, &input, &stack);
		return 0;
	}
	if (ehframe_parse(&input, &rows) == 0)
		use(&rows, BASE, SIZE, &stack);
	ehframe_free(&rows);
	return 0;
}
