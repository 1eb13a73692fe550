/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Formatting of figures and names, the table, and the status line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "unit.h"

#include "workers/summary/status.h"
#include "workers/summary/table.h"

static void figures(void **state)
{
	(void)state;
	assert_string_equal(text_count(0).bytes, "0");
	assert_string_equal(text_count(999).bytes, "999");
	assert_string_equal(text_count(1000).bytes, "1,000");
	assert_string_equal(text_count(UINT64_MAX).bytes, "18,446,744,073,709,551,615");
	assert_string_equal(text_bytes(999).bytes, "999 B");
	assert_string_equal(text_bytes(1000).bytes, "1.00 kB");
	assert_string_equal(text_bytes(999999).bytes, "1.00 MB");
	assert_string_equal(text_bytes(12345678).bytes, "12.3 MB");
	assert_string_equal(text_time(0).bytes, "0 ns");
	assert_string_equal(text_time(1234).bytes, "1.23 us");
	assert_string_equal(text_time(123456789).bytes, "123 ms");
	assert_string_equal(text_time(5020000000ull).bytes, "5.02 s");
	assert_string_equal(text_time(3600000000000ull).bytes, "3600 s");
	assert_string_equal(text_percent(0.1234).bytes, "12.3 %");
}

static struct text name(const char *text, unsigned width)
{
	return text_name(text, strlen(text), width);
}

static void names_do_not_reach_the_terminal_raw(void **state)
{
	(void)state;
	assert_string_equal(name("main.main", 20).bytes, "main.main");
	assert_string_equal(name("a\x1b[2Jb\nc\x7f", 20).bytes, "a?[2Jb?c?");
	assert_string_equal(name("\xc2\x9b"
				 "31m",
				 20)
				    .bytes,
			    "?31m"); /* C1: CSI in one character */
	assert_string_equal(name("x\xe2\x80\xae"
				 "y",
				 20)
				    .bytes,
			    "x?y"); /* right-to-left override */
	assert_string_equal(name("\xff\xfe", 20).bytes, "??");
	assert_string_equal(name("gr\xc3\xbc\xc3\x9f", 20).bytes, "gr\xc3\xbc\xc3\x9f");
}

static void long_names_keep_their_end(void **state)
{
	char longer[1000];

	(void)state;
	assert_string_equal(name("example.com/a/b.(*T).run", 10).bytes, "..(*T).run");
	assert_string_equal(name("0123456789", 10).bytes, "0123456789");
	memset(longer, 'x', sizeof(longer));
	assert_int_equal(strlen(text_name(longer, sizeof(longer), 48).bytes), 48);
	assert_true(strlen(text_name(longer, sizeof(longer), 5000).bytes) < sizeof(struct text));
}

static void columns(void **state)
{
	(void)state;
	assert_string_equal(text_column("a\xc3\xa4", 3, 5).bytes, "a\xc3\xa4   ");
	assert_string_equal(text_column("abc", 3, 3).bytes, "abc");
	assert_string_equal(text_column("\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", 12, 3).bytes,
			    "..\xe2\x82\xac");
	assert_string_equal(text_column("", 0, 2).bytes, "  ");
	assert_true(strlen(text_column("a", 1, 5000).bytes) < sizeof(struct text));
}

static void columns_are_set(void **state)
{
	char *written = NULL;
	size_t size;
	FILE *out = open_memstream(&written, &size);
	struct text_table table;
	struct text *row;

	(void)state;
	text_table_init(&table, 3, 1u << 1 | 1u << 2);
	row = text_table_row(&table);
	text_table_set(&row[0], "n");
	text_table_set(&row[1], "name");
	text_table_set(&row[2], "why");
	row = text_table_row(&table);
	text_table_set(&row[0], "1,000");
	text_table_set(&row[1], "gr\xc3\xbc\xc3\x9f"
				"e!");
	row = text_table_row(&table);
	text_table_set(&row[0], "22");
	text_table_set(&row[1], "x");
	text_table_set(&row[2], "select");
	text_table_print(&table, out, "> ");
	fclose(out);
	assert_string_equal(written, ">     n  name    why\n"
				     "> 1,000  gr\xc3\xbc\xc3\x9f"
				     "e!  \n"
				     ">    22  x       select\n");
	free(written);
}

static void a_full_table_takes_no_more(void **state)
{
	static struct text_table table;

	(void)state;
	text_table_init(&table, 1, 0);
	for (unsigned i = 0; i < TABLE_ROWS; i++)
		assert_non_null(text_table_row(&table));
	assert_null(text_table_row(&table));
}

static void status_line(void **state)
{
	struct status_line status = {.start_ns = 1000000000, .last_ns = 3000000000, .last_events = 1000};
	struct status_figures now = {.now_ns = 3500000000,
				     .events = 51000,
				     .lost = 7,
				     .bytes = 1200000,
				     .cost_ns = 50000000,
				     .detail = ""};
	char line[256];

	(void)state;
	status_line_format(&status, &now, line, sizeof(line));
	assert_string_equal(line, "2.5 s  100,000 events/s  7 lost  1.20 MB  cost 10.0 % of a core");
	now.detail = "starts inferred";
	status_line_format(&status, &now, line, sizeof(line));
	assert_non_null(strstr(line, "a core  starts inferred"));
	/* Where it does not fit, whole figures are left out. */
	status_line_cut(line, (unsigned)strlen(line));
	assert_non_null(strstr(line, "a core  starts inferred"));
	status_line_cut(line, 70);
	assert_string_equal(line, "2.5 s  100,000 events/s  7 lost  1.20 MB  cost 10.0 % of a core");
	status_line_cut(line, (unsigned)strlen(line) - 1);
	assert_string_equal(line, "2.5 s  100,000 events/s  7 lost  1.20 MB");
	status_line_cut(line, 5);
	assert_string_equal(line, "2.5 s");
	status_line_cut(line, 4);
	assert_string_equal(line, "");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(figures),
	cmocka_unit_test(names_do_not_reach_the_terminal_raw),
	cmocka_unit_test(long_names_keep_their_end),
	cmocka_unit_test(columns_are_set),
	cmocka_unit_test(a_full_table_takes_no_more),
	cmocka_unit_test(status_line),
	cmocka_unit_test(columns),
};

UNIT_TESTS(tests, NULL, NULL);
