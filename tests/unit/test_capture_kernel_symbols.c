/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Names of kernel functions: from the lines of /proc/kallsyms to the frames of a stack in the log. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/kernel_symbols.h"

/* As the kernel writes them; modules are not sorted by address. */
static const char kallsyms[] = "0000000000000000 A fixed_percpu_data\n"
			       "ffffffff81000000 T _stext\n"
			       "ffffffff81001000 t vfs_read\n"
			       "ffffffff81002000 t anon_pipe_read\n"
			       "ffffffff81003000 D some_data\n"
			       "ffffffff81004000 t __schedule\n"
			       "ffffffff81005000 T schedule\n"
			       "ffffffff81006000 T schedule_timeout\n"
			       "ffffffff81007000 T __traceiter_sched_switch\n"
			       "ffffffffc0000000 t ext4_file_read_iter\t[ext4]\n"
			       "ffffffffa0000000 t bpf_prog_0123456789abcdef_sched_switch\t[bpf]\n"
			       "a line that is none\n";

/* What the log received: "NUMBER function file:line" for each symbol. */
struct seen {
	char text[2048];
	int rc;
};

static int take(void *ctx, const struct log_record *record)
{
	struct seen *seen = ctx;
	const struct log_symbol *symbol = record->data;
	const char *text = (const char *)(symbol + 1) + sizeof(struct log_symbol_frame);
	struct log_symbol_frame frame;
	size_t len = strlen(seen->text);

	assert_int_equal(record->type, LOG_SYMBOL);
	assert_int_equal(rawlog_check_record(record, NULL), 0);
	assert_int_equal(symbol->nframes, 1);
	assert_true(symbol->pc & LOG_KERNEL_PC);
	memcpy(&frame, symbol + 1, sizeof(frame));
	snprintf(seen->text + len, sizeof(seen->text) - len, "%llu %.*s %.*s:%u\n",
		 (unsigned long long)(symbol->pc & ~LOG_KERNEL_PC), frame.function_len, text, frame.file_len,
		 text + frame.function_len, frame.line);
	return seen->rc;
}

static struct kernel_symbols *parse(const char *text)
{
	FILE *lines = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	struct kernel_symbols *symbols;
	struct error err;

	assert_non_null(lines);
	assert_int_equal(kernel_symbols_parse(&symbols, lines, &err), 0);
	fclose(lines);
	return symbols;
}

struct stack_of_ten {
	struct raw_stack head;
	uint64_t pcs[10];
};

static struct raw_stack *make(struct stack_of_ten *stack, const uint64_t *pcs, uint32_t n)
{
	*stack = (struct stack_of_ten){.head = {.n = n}};
	memcpy(stack->head.pcs, pcs, n * sizeof(*pcs));
	return &stack->head;
}

static const uint64_t waits[] = {0xffffffffa0000010, 0xffffffff81007010, 0xffffffff81004010,
				 0xffffffff81005010, 0xffffffff81006010, 0xffffffff81002010,
				 0xffffffff81001010, 0x401000,           0x402000};

static void the_kernels_frames_get_names(void **state)
{
	struct kernel_symbols *symbols = parse(kallsyms);
	struct seen seen = {.rc = 0};
	struct stack_of_ten buffer;
	struct raw_stack *stack = make(&buffer, waits, 9);

	(void)state;
	assert_int_equal(kernel_symbols_name(symbols, stack, take, &seen), 0);
	assert_string_equal(seen.text, "1 anon_pipe_read [kernel]:1\n2 vfs_read [kernel]:1\n");
	assert_int_equal(stack->n, 4);
	assert_int_equal(stack->pcs[0], LOG_KERNEL_PC | 1);
	assert_int_equal(stack->pcs[1], LOG_KERNEL_PC | 2);
	assert_int_equal(stack->pcs[2], 0x401000);
	assert_int_equal(stack->pcs[3], 0x402000);
	/* Another address of the same function gets the same number, and nothing is logged twice. */
	stack = make(&buffer, waits, 9);
	stack->pcs[5] = 0xffffffff81002111;
	assert_int_equal(kernel_symbols_name(symbols, stack, take, &seen), 0);
	assert_int_equal(stack->pcs[0], LOG_KERNEL_PC | 1);
	assert_string_equal(seen.text, "1 anon_pipe_read [kernel]:1\n2 vfs_read [kernel]:1\n");
	kernel_symbols_free(symbols);
}

/* A return address may be the first of the next function: the call before it never returns. */
static void the_call_before_the_address_counts(void **state)
{
	static const uint64_t pcs[] = {0xffffffff81002000, 0xffffffffc0000020, 0xffff000000000001};
	struct kernel_symbols *symbols = parse(kallsyms);
	struct seen seen = {.rc = 0};
	struct stack_of_ten buffer;
	struct raw_stack *stack = make(&buffer, pcs, 3);

	(void)state;
	assert_int_equal(kernel_symbols_name(symbols, stack, take, &seen), 0);
	assert_string_equal(seen.text, "1 vfs_read [kernel]:1\n2 ext4_file_read_iter [ext4]:1\n"
				       "3 [kernel] [kernel]:1\n");
	assert_int_equal(stack->n, 3);
	kernel_symbols_free(symbols);
}

static void other_stacks_stay(void **state)
{
	struct kernel_symbols *symbols = parse(kallsyms);
	struct seen seen = {.rc = -ENOSPC};
	struct stack_of_ten buffer;
	struct raw_stack *stack = make(&buffer, waits + 7, 2);

	(void)state;
	assert_int_equal(kernel_symbols_name(symbols, stack, take, &seen), 0);
	assert_int_equal(stack->n, 2);
	assert_int_equal(stack->pcs[0], 0x401000);
	stack = make(&buffer, waits, 0);
	assert_int_equal(kernel_symbols_name(symbols, stack, take, &seen), 0);
	assert_string_equal(seen.text, "");
	/* An error from the log is returned. */
	stack = make(&buffer, waits, 9);
	assert_int_equal(kernel_symbols_name(symbols, stack, take, &seen), -ENOSPC);
	kernel_symbols_free(symbols);
}

static void a_waiting_thread_has_lines(void **state)
{
	static const char text[] = "[<0>] schedule+0x27/0xf0\n"
				   "[<0>] anon_pipe_read+0x1c7/0x4c0\n"
				   "[<0>] ext4_file_read_iter+0x5d/0x1f0 [ext4]\n"
				   "[<0>] not_in_the_table+0x5d/0x1f0\n"
				   "damaged\n"
				   "[<0>] vfs_read+0x239/0x310\n";
	struct kernel_symbols *symbols = parse(kallsyms);
	struct seen seen = {.rc = 0};
	uint64_t pcs[8];
	FILE *lines = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

	(void)state;
	assert_int_equal(kernel_symbols_of_lines(symbols, lines, pcs, 8, take, &seen), 4);
	assert_string_equal(seen.text, "1 anon_pipe_read [kernel]:1\n2 ext4_file_read_iter [ext4]:1\n"
				       "3 [kernel] [kernel]:1\n4 vfs_read [kernel]:1\n");
	assert_int_equal(pcs[3], LOG_KERNEL_PC | 4);
	rewind(lines);
	assert_int_equal(kernel_symbols_of_lines(symbols, lines, pcs, 2, take, &seen), 2);
	fclose(lines);
	kernel_symbols_free(symbols);
}

/* With kernel.kptr_restrict every address is 0. */
static void hidden_addresses_are_said(void **state)
{
	static const char text[] = "0000000000000000 T _stext\n0000000000000000 t vfs_read\n";
	FILE *lines = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	struct kernel_symbols *symbols;
	struct error err;

	(void)state;
	assert_int_equal(kernel_symbols_parse(&symbols, lines, &err), -EACCES);
	assert_null(symbols);
	assert_non_null(strstr(err.text, "kptr_restrict"));
	kernel_symbols_free(NULL);
	fclose(lines);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(the_kernels_frames_get_names),
	cmocka_unit_test(the_call_before_the_address_counts),
	cmocka_unit_test(other_stacks_stay),
	cmocka_unit_test(a_waiting_thread_has_lines),
	cmocka_unit_test(hidden_addresses_are_said),
};

UNIT_TESTS(tests, NULL, NULL);
