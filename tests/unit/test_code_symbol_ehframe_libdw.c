/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Compares our rows with libdw, at every address where either changes: for this test itself, libc and other
 * libraries that exist. With files behind "--", compares those files instead, and prints the shares.
 */
#include "unit.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "code/symbol/native_walk.h"
#include "target/names/modules.h"

struct shares {
	unsigned long same, unsupported, none, different;
};

static bool is_op(const Dwarf_Op *op, unsigned atom, uint64_t number)
{
	return op->atom == atom && op->number == number;
}

/* Stands for a rule that ours cannot represent. */
#define UNSUPPORTED_RULE 0xffffffffu

/* libdw returns a register and an offset as DW_OP_bregx, and expressions unchanged. */
static uint32_t rule_of_cfa(const Dwarf_Op *ops, size_t n, uint32_t rbp)
{
	bool is_pair = n == 1 && ops[0].atom == DW_OP_bregx;
	int64_t offset = n ? (int64_t)(is_pair ? ops[0].number2 : ops[0].number) : 0, words = offset / 8;
	bool fits = offset % 8 == 0 && words <= UNWIND_OFFSET_MAX && words >= -UNWIND_OFFSET_MAX;

	if (n == 9 && is_op(&ops[0], DW_OP_breg7, 8) && ops[6].atom == DW_OP_lit3 &&
	    ops[8].atom == DW_OP_plus)
		return UNWIND_RULE(UNWIND_PLT, rbp, ops[4].atom - DW_OP_lit0);
	if (is_pair && ops[0].number == 7 && fits)
		return UNWIND_RULE(UNWIND_SP, rbp, words);
	if (is_pair && ops[0].number == 6 && fits)
		return UNWIND_RULE(UNWIND_BP, rbp, words);
	if (n == 2 && ops[0].atom == DW_OP_breg6 && ops[1].atom == DW_OP_deref && fits)
		return UNWIND_RULE(UNWIND_BP_DEREF, rbp, words);
	if (n == 3 && ops[0].atom == DW_OP_breg7 && ops[1].atom == DW_OP_deref && fits &&
	    is_op(&ops[2], DW_OP_plus_uconst, 8))
		return UNWIND_RULE(UNWIND_SP_DEREF, rbp, words);
	return UNSUPPORTED_RULE;
}

/* Where a register is saved. False if our rules cannot represent it. */
static bool register_rule(Dwarf_Frame *frame, int reg, bool *undefined, int64_t *at_cfa, bool *at_rbp)
{
	Dwarf_Op memory[3], *ops;
	size_t n;

	*undefined = *at_rbp = false;
	*at_cfa = 0;
	if (dwarf_frame_register(frame, reg, memory, &ops, &n))
		return false;
	*undefined = n == 0 && ops == memory;
	if (n == 0)
		return true;
	/* libdw puts the CFA before an expression of an address. */
	*at_rbp = n == 2 && ops[0].atom == DW_OP_call_frame_cfa && is_op(&ops[1], DW_OP_breg6, 0);
	if (*at_rbp)
		return true;
	if (ops[0].atom != DW_OP_call_frame_cfa || n != 2 || ops[1].atom != DW_OP_plus_uconst)
		return false;
	*at_cfa = (int64_t)ops[1].number;
	return true;
}

static bool is_in_rdi(Dwarf_Frame *frame)
{
	Dwarf_Op memory[3], *ops;
	size_t n;

	return dwarf_frame_register(frame, 16, memory, &ops, &n) == 0 && n == 1 &&
	       (ops[0].atom == DW_OP_reg5 || (ops[0].atom == DW_OP_regx && ops[0].number == 5));
}

static uint32_t rule_of_frame(Dwarf_Frame *frame)
{
	bool undefined, at_rbp, is_signal, in_rdi = false;
	uint32_t rbp = UNWIND_RBP_SAME, rule;
	int64_t at;
	Dwarf_Op *ops;
	size_t n;

	dwarf_frame_info(frame, NULL, NULL, &is_signal);
	if (register_rule(frame, 16, &undefined, &at, &at_rbp) && undefined)
		return UNWIND_RULE(UNWIND_END, 0, 0);
	if (dwarf_frame_cfa(frame, &ops, &n))
		return UNSUPPORTED_RULE;
	if (is_signal)
		return n == 2 && is_op(&ops[0], DW_OP_breg7, UNWIND_UCONTEXT_RSP)
			       ? UNWIND_RULE(UNWIND_SIGNAL, 0, 0)
			       : UNSUPPORTED_RULE;
	if (is_in_rdi(frame))
		in_rdi = true;
	else if (at != -8)
		return UNSUPPORTED_RULE;
	if (!register_rule(frame, 6, &undefined, &at, &at_rbp))
		return UNSUPPORTED_RULE;
	if (at_rbp)
		rbp = UNWIND_RBP_AT_RBP;
	else if (at % 8 || at < -8 * (int64_t)UNWIND_RBP_LAST || at > 0)
		return UNSUPPORTED_RULE;
	else if (at)
		rbp = (uint32_t)(-at / 8);
	rule = rule_of_cfa(ops, n, rbp);
	if (!in_rdi || rule == UNSUPPORTED_RULE)
		return rule;
	return UNWIND_KIND(rule) == UNWIND_SP ? UNWIND_RULE(UNWIND_SP_LINK, rbp, UNWIND_OFFSET(rule))
					      : UNSUPPORTED_RULE;
}

struct file {
	int fd;
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_CFI *eh, *debug;
	struct module_code code;
	struct unwind_page *pages;
	struct unwind_mapping mapping;
	struct unwind_tables tables;
};

/* libdw's rule at the address, and where it ends. False if it has none. */
static bool libdw_rule(const struct file *file, uint64_t address, uint32_t *rule, uint64_t *end)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Addr start;

	if ((!file->eh || dwarf_cfi_addrframe(file->eh, address, &frame)) &&
	    (!file->debug || dwarf_cfi_addrframe(file->debug, address, &frame)))
		return false;
	dwarf_frame_info(frame, &start, end, NULL);
	*rule = rule_of_frame(frame);
	free(frame);
	return true;
}

static uint32_t our_rule(const struct file *file, uint64_t address)
{
	return native_rule(&file->tables, (struct unwind_space){.count = 1}, address);
}

/* Code of clone from the system call on: see rule_before() in code/symbol/ehframe.c. */
static bool is_before_start(const struct file *file, uint64_t address)
{
	for (unsigned i = 1; i <= 16; i++) {
		if (our_rule(file, address + i) == UNWIND_END)
			return true;
	}
	return false;
}

/* Rules that the code itself gives: see code/symbol/depth_amd64.h. */
static bool is_of_code(uint32_t rule)
{
	return UNWIND_KIND(rule) == UNWIND_SP || UNWIND_KIND(rule) == UNWIND_BP || rule == UNWIND_END;
}

static void compare_at(const struct file *file, const char *path, uint64_t address, struct shares *shares,
		       uint64_t *end)
{
	uint32_t expected, ours = our_rule(file, address);

	*end = 0;
	if (!libdw_rule(file, address, &expected, end)) {
		shares->none++;
		assert_true(ours == UNWIND_NONE || ours == UNWIND_CHAIN || is_of_code(ours) ||
			    is_before_start(file, address));
	} else if (expected == UNSUPPORTED_RULE && ours == UNWIND_NONE) {
		shares->unsupported++;
	} else if (expected == ours) {
		shares->same++;
	} else if (shares->different++ < 20) {
		print_error("%s: at %#llx: libdw %#x, ours %#x\n", path, (unsigned long long)address,
			    expected, ours);
	}
}

/* Visits all boundaries of our rows, and libdw's between each and the next. */
static struct shares compare(const struct file *file, const char *path)
{
	struct shares shares = {0};

	for (size_t i = 0; i < file->code.rows.n; i++) {
		uint64_t address = file->code.base + file->code.rows.rows[i].start, end;
		uint64_t next =
			file->code.base +
			(i + 1 < file->code.rows.n ? file->code.rows.rows[i + 1].start : file->code.size);

		while (address < next) {
			compare_at(file, path, address, &shares, &end);
			address = end > address ? end : next;
		}
	}
	return shares;
}

static bool open_all(const char *path, struct file *file, double *ms)
{
	struct timespec before, after;
	uint32_t count;

	*file = (struct file){.fd = open(path, O_RDONLY | O_CLOEXEC)};
	if (file->fd < 0)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &before);
	assert_int_equal(module_read(file->fd, &file->code), 0);
	count = ehframe_page_count(file->code.size);
	file->pages = calloc(count, sizeof(*file->pages));
	assert_non_null(file->pages);
	ehframe_pages(file->code.rows.rows, file->code.rows.n, 0, file->pages, count);
	clock_gettime(CLOCK_MONOTONIC, &after);
	*ms = (double)(after.tv_sec - before.tv_sec) * 1e3 + (double)(after.tv_nsec - before.tv_nsec) / 1e6;
	file->mapping = (struct unwind_mapping){.start = file->code.base,
						.end = file->code.base + file->code.size,
						.base = file->code.base,
						.pages = count};
	file->tables = (struct unwind_tables){.rows = file->code.rows.rows,
					      .nrows = (uint32_t)file->code.rows.n,
					      .pages = file->pages,
					      .npages = count,
					      .mappings = &file->mapping,
					      .nmappings = 1};
	file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
	file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	file->eh = dwarf_getcfi_elf(file->elf);
	file->debug = file->dwarf ? dwarf_getcfi(file->dwarf) : NULL;
	return true;
}

static void close_all(struct file *file)
{
	if (file->eh)
		dwarf_cfi_end(file->eh);
	dwarf_end(file->dwarf);
	elf_end(file->elf);
	close(file->fd);
	free(file->pages);
	module_free(&file->code);
}

/* Returns whether the file exists. */
static bool compare_file(const char *path)
{
	struct shares shares;
	struct file file;
	unsigned long all;
	double ms;

	if (!open_all(path, &file, &ms))
		return false;
	shares = compare(&file, path);
	all = shares.same + shares.unsupported + shares.different;
	print_message(
		"%s: %.1f MB of code, %zu functions, %zu rows in %.1f ms, %zu damaged; of %lu rules of libdw "
		"%.3f %% agree, %lu (%.3f %%) cannot be said\n",
		path, (double)file.code.size / 1e6, file.code.rows.functions, file.code.rows.n, ms,
		file.code.rows.damaged, all, all ? 100.0 * (double)shares.same / (double)all : 100.0,
		shares.unsupported, all ? 100.0 * (double)shares.unsupported / (double)all : 0.0);
	assert_int_equal(shares.different, 0);
	assert_true(shares.same > 0);
	close_all(&file);
	return true;
}

static void agrees_with_libdw(void **state)
{
	static const char *const usual[] = {"/proc/self/exe", "/lib/x86_64-linux-gnu/libc.so.6",
					    "/lib64/ld-linux-x86-64.so.2",
					    "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"};
	unsigned seen = 0;

	(void)state;
	for (int i = 0; i < unit_nfiles; i++)
		assert_true(compare_file(unit_files[i]));
	for (size_t i = 0; !unit_nfiles && i < sizeof(usual) / sizeof(usual[0]); i++)
		seen += compare_file(usual[i]);
	assert_true(unit_nfiles || seen >= 3);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_libdw)};

UNIT_TESTS(tests, NULL, NULL);
