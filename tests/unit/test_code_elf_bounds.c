/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Files that would take unlimited memory and time (bomb.h) stay within the limits. */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bomb.h"
#include "code/elf/abbreviations.h"
#include "code/elf/file.h"
#include "target/names/modules.h"
#include "target/names/names.h"

#define PROGRAM "/tmp/gotrace-test-bomb"

static char reported[1024];

static void record_line(void *ctx, const char *line)
{
	(void)ctx;
	snprintf(reported, sizeof(reported), "%s", line);
}

static int build(void **state)
{
	(void)state;
	return system("printf 'int f(void) { return 1; } int main(void) { return f(); }' | "
		      "gcc -O0 -g -gdwarf-5 -ffunction-sections -x c -o " PROGRAM " -");
}

static int clean(void **state)
{
	(void)state;
	unlink(PROGRAM);
	return 0;
}

static int make(const char *kind)
{
	build(NULL);
	assert_int_equal(bomb_make(kind, PROGRAM), 0);
	return open(PROGRAM, O_RDONLY | O_CLOEXEC);
}

/* CPU time for the first names of the file, spread over its code. Sanitizers take three to ten times as
 * long. */
static double name_all(const char *kind, struct budget *budget)
{
	struct native_source source = {.fd = make(kind), .path = PROGRAM};
	struct native_search search = {.roots = {-1, -1}, .report = record_line, .budget = budget};
	struct native_file *file = native_file_new(&source);
	uint64_t begin = budget_thread_ns();
	static struct symbol_draft draft;

	assert_non_null(file);
	reported[0] = '\0';
	for (uint64_t offset = 0x1000; offset < 0x1200; offset += 4) {
		draft_begin(&draft, offset + 1);
		native_file_frames(file, &search, offset, &draft);
		assert_true(draft.head.nframes > 0);
	}
	native_file_free(file);
	return (double)(budget_thread_ns() - begin) / 1e9;
}

static void debug_information(void **state)
{
	static const char *const kinds[] = {"ranges", "lines", "attributes", "tables", "debug", "strings"};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct budget budget = {.bytes = NAMES_BYTES, .cpu_ns = 1000000000};
		double s = name_all(kinds[i], &budget);

		print_message("%s: %.2f s: %s\n", kinds[i], s, reported);
		assert_true(s < 5);
		assert_int_equal(budget.bytes, NAMES_BYTES); /* all memory is returned */
	}
}

static void memory_is_limited(void **state)
{
	struct budget budget = {.bytes = 1 << 20, .cpu_ns = 1000000000};

	(void)state;
	name_all("ranges", &budget);
	assert_non_null(strstr(reported, "the memory limit for names is reached"));
	assert_non_null(strstr(reported, PROGRAM));
	assert_int_equal(budget.bytes, 1 << 20);
}

static void time_is_limited(void **state)
{
	struct budget budget = {.bytes = NAMES_BYTES};

	(void)state;
	name_all("ranges", &budget);
	assert_non_null(strstr(reported, "too much CPU time"));
}

static void frames(void **state)
{
	static const char *const kinds[] = {"frame", "cie", "cies"};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int fd = make(kinds[i]);
		uint64_t begin = budget_thread_ns();
		struct module_code code;
		double s;

		module_read(fd, &code);
		s = (double)(budget_thread_ns() - begin) / 1e9;
		print_message("%s: %.2f s, %zu rows\n", kinds[i], s, code.rows.n);
		assert_true(s < 3);
		module_free(&code);
		close(fd);
	}
}

static void abbreviations(void **state)
{
	static const uint8_t good[] = {1, 0x11, 1, 0x03, 0x08, 0, 0, 2, 0x34, 0, 0x3f, 0x21, 7, 0, 0, 0};
	struct budget budget = {.cpu_ns = 1000000000};
	uint8_t many[3 + 2 * (ABBREVIATION_EMPTY + 1) + 3] = {1, 0x34, 0};
	uint32_t n;

	(void)state;
	budget_start(&budget);
	assert_true(abbreviations_count(good, sizeof(good), 0, &budget, &n));
	assert_int_equal(n, 2);
	assert_true(abbreviations_count(good, sizeof(good), 7, &budget, &n));
	assert_int_equal(n, 1);
	for (size_t size = 0; size < sizeof(good); size++)
		assert_false(abbreviations_count(good, size, 0, &budget, &n));
	assert_false(abbreviations_count(good, sizeof(good), sizeof(good), &budget, &n));
	for (unsigned i = 0; i <= ABBREVIATION_EMPTY; i++)
		memcpy(many + 3 + 2 * (size_t)i, "\x3f\x19", 2);
	assert_false(abbreviations_count(many, sizeof(many), 0, &budget, &n));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(debug_information), cmocka_unit_test(memory_is_limited),
	cmocka_unit_test(time_is_limited),   cmocka_unit_test(frames),
	cmocka_unit_test(abbreviations),
};

UNIT_TESTS(tests, build, clean);
