/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The text of a layout: printed text is read back unchanged, and anything else is rejected with its line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include <zlib.h>

#include "target/layout_text.h"

enum { MOST = 1 << 16 };

/* The newest release's text. */
static char *text;
static size_t size;

static void print(unsigned minor, bool arm64, char **to, size_t *n)
{
	struct layout_table table = {.arm64 = arm64, .release = *release_find(minor)};
	FILE *out = open_memstream(to, n);
	struct error err = {""};

	snprintf(table.version.text, sizeof(table.version.text), "go1.%u.3", minor);
	assert_non_null(out);
	assert_int_equal(layout_text_print(&table, out, &err), 0);
	fclose(out);
}

static int set_up(void **state)
{
	(void)state;
	print(release_last(), false, &text, &size);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(text);
	return 0;
}

static void same_release(const struct release *one, const struct release *two)
{
	for (unsigned i = 0; i < layout_field_count; i++)
		assert_int_equal(layout_get(&one->layout, &layout_fields[i]),
				 layout_get(&two->layout, &layout_fields[i]));
	for (unsigned table = REASON_BLOCK; table < REASON_TABLES; table++) {
		const struct reasons *a = &one->reasons[table], *b = &two->reasons[table];

		assert_int_equal(a->n, b->n);
		for (unsigned i = 0; i < a->n; i++) {
			assert_int_equal(!a->texts[i], !b->texts[i]);
			if (a->texts[i])
				assert_string_equal(a->texts[i], b->texts[i]);
		}
	}
}

static void test_every_release_is_read_as_it_was_printed(void **state)
{
	(void)state;
	for (unsigned minor = release_first(); minor <= release_last(); minor++) {
		struct layout_table table;
		struct error err = {""};
		char *bytes;
		size_t n;

		print(minor, minor % 2, &bytes, &n);
		assert_true(n <= LAYOUT_TEXT_MOST);
		if (layout_text_parse(bytes, n, &table, &err))
			fail_msg("go1.%u: %s", minor, err.text);
		assert_int_equal(table.arm64, minor % 2);
		assert_int_equal(table.version.minor, minor);
		assert_int_equal(table.release.patch, 3);
		same_release(&table.release, release_find(minor));
		release_free(&table.release);
		free(bytes);
	}
}

/* Copies the text with one change, and with the checksum of the changed text. */
static size_t change(char *to, const char *from, const char *with)
{
	const char *at = from ? strstr(text, from) : text + size;
	size_t before, n;
	char *end;

	assert_non_null(at);
	before = (size_t)(at - text);
	n = (size_t)snprintf(to, MOST, "%.*s%s%s", (int)before, text, with, from ? at + strlen(from) : "");
	end = strstr(to, "\nend ");
	if (!end || !from)
		return n;
	end++;
	snprintf(end, (size_t)(to + MOST - end), "end %08lx\n",
		 crc32(0, (const Bytef *)to, (uInt)(end - to)));
	return strlen(to);
}

static void refused(const char *from, const char *with, const char *why)
{
	static char bytes[MOST];
	struct layout_table table;
	struct error err = {""};
	size_t n = change(bytes, from, with);

	assert_int_equal(layout_text_parse(bytes, n, &table, &err), -EBADMSG);
	if (!strstr(err.text, why))
		fail_msg("expected \"%s\": %s", why, err.text);
}

/* Lines 1 to 3 are the head, field 0 is on line 4. */
static void test_errors_name_the_line(void **state)
{
	(void)state;
	refused("gotrace layout 1\n", "gotrace layout 2\n", "line 1: not a gotrace layout table");
	refused("release go1.", "release go2.", "line 2: expected the release");
	refused("release go1.", "release go1.999", "line 2: expected the release");
	refused("release go", "version go", "line 2: expected the release");
	refused("arch amd64", "arch 386", "line 3: expected \"arch amd64\"");
	refused("arch amd64", "arch arm64 ", "line 3: expected \"arch amd64\"");
	refused("go.g_stack_hi ", "go.g_stack_low ", "line 5: expected the field go.g_stack_hi");
	refused("go.g_stack_hi 0x8\n", "", "line 5: the field go.g_stack_hi is missing before go.g_m");
	refused("go.g_stack_hi 0x8\n", "go.g_stack_lo 0x8\n", "line 5: go.g_stack_lo occurs twice");
	refused("go.g_stack_hi 0x8\n", "go.g_stack_hi 8\n", "line 5: go.g_stack_hi: expected an offset");
	refused("go.g_stack_hi 0x8\n", "go.g_stack_hi 0x\n", "line 5: go.g_stack_hi: expected an offset");
	refused("go.g_stack_hi 0x8\n", "go.g_stack_hi 0x8 \n", "line 5: go.g_stack_hi: expected an offset");
	refused("go.g_stack_hi 0x8\n", "go.g_stack_hi 0x8g\n", "line 5: go.g_stack_hi: expected an offset");
	refused("go.g_stack_hi 0x8\n", "go.g_stack_hi -0x8\n", "line 5: go.g_stack_hi: expected an offset");
	refused("go.g_stack_hi 0x8\n", "go.g_stack_hi 0x100001\n", "line 5: go.g_stack_hi: expected an off");
	refused("go.g_stack_hi 0x8\n", "go.g_stack_hi 0xffffffff\n", "line 5: go.g_stack_hi: expected an of");
	refused("go.g_stack_hi 0x8\n", "go.g_stack_hi 0x100000008\n", "line 5: go.g_stack_hi: expected an o");
	refused("go.g_stack_hi 0x8\n", "go.g_stack_hi absent\n", "line 5: go.g_stack_hi may not be absent");
	refused("go.g_stack_hi 0x8\n", "go.g_stack_hi 0x8\r\n", "line 5: go.g_stack_hi: expected an offset");
}

static void test_reasons_are_bounded(void **state)
{
	char line[300] = "block.0 ";

	(void)state;
	memset(line + 8, 'x', 129);
	refused("reasons.block ", "reasons.blocks ", "expected \"reasons.block\"");
	refused("reasons.block 1", "reasons.block 999", "expected \"reasons.block\" and a number up to 256");
	refused("reasons.block 1", "reasons.block -1", "expected \"reasons.block\"");
	refused("block.0 unspecified", "block.1 unspecified", "greater than the previous one");
	refused("block.0 unspecified", "block.257 unspecified", "less than the table's size");
	refused("block.0 unspecified", "block. unspecified", "expected a number");
	refused("block.0 unspecified", "block.0", "expected a number");
	refused("block.0 unspecified", "block.0 ", "expected a reason");
	refused("block.0 unspecified", "block.0 \x1b[2J", "expected a reason");
	refused("block.0 unspecified", "block.0 \xc3\xa4", "expected a reason");
	refused("block.0 unspecified", line, "expected a reason of printable ASCII");
	memset(line + 8, 'x', sizeof(line) - 9);
	line[sizeof(line) - 1] = '\0';
	refused("block.0 unspecified", line, "it is too long");
	refused("stop.0 unspecified", "stock.0 unspecified", "expected \"end\"");
}

static void test_the_end(void **state)
{
	char *changed = strdup(text), *end = strstr(changed, "\nend ") + 1;
	struct layout_table table;
	struct error err = {""};

	(void)state;
	refused(NULL, "\n", "something follows the line \"end\"");
	memcpy(end, "end 0000000g", 12);
	assert_int_equal(layout_text_parse(changed, size, &table, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "expected \"end\" and the checksum"));
	memcpy(end, "end 00000000", 12);
	assert_int_equal(layout_text_parse(changed, size, &table, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "checksum mismatch"));
	free(changed);
}

static void test_every_shorter_text_is_refused(void **state)
{
	(void)state;
	for (size_t n = 0; n < size; n++) {
		char *copy = malloc(n ? n : 1); /* exactly that size, for the sanitizer */
		struct layout_table table;
		struct error err = {""};

		assert_non_null(copy);
		memcpy(copy, text, n);
		assert_int_equal(layout_text_parse(copy, n, &table, &err), -EBADMSG);
		assert_memory_equal(err.text, "line ", 5);
		free(copy);
	}
}

/* Every changed byte is detected: a digit that became another would move a field. */
static void test_every_changed_byte_is_refused(void **state)
{
	char *copy = malloc(size);

	(void)state;
	assert_non_null(copy);
	memcpy(copy, text, size);
	for (size_t i = 0; i < size; i++) {
		struct layout_table table;
		struct error err = {""};

		copy[i] ^= 1;
		if (layout_text_parse(copy, size, &table, &err) != -EBADMSG)
			fail_msg("byte %zu: taken", i);
		copy[i] ^= 1;
	}
	free(copy);
}

static void test_what_cannot_be_read_is_not_printed(void **state)
{
	static const char *const texts[] = {"two\nlines"};
	struct layout_table table = {.release = *release_find(release_last())};
	struct error err = {""};
	char *bytes;
	size_t n;
	FILE *out = open_memstream(&bytes, &n);

	(void)state;
	assert_non_null(out);
	table.release.reasons[REASON_STOP] = (struct reasons){.texts = texts, .n = 1};
	assert_int_equal(layout_text_print(&table, out, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "not printable ASCII (stop 0)"));
	table.release.layout.go.g_goid = LAYOUT_MOST_OFFSET + 1;
	assert_int_equal(layout_text_print(&table, out, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "implausible offset for go.g_goid"));
	fclose(out);
	assert_int_equal(n, 0);
	free(bytes);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_every_release_is_read_as_it_was_printed),
	cmocka_unit_test(test_errors_name_the_line),
	cmocka_unit_test(test_reasons_are_bounded),
	cmocka_unit_test(test_the_end),
	cmocka_unit_test(test_every_shorter_text_is_refused),
	cmocka_unit_test(test_every_changed_byte_is_refused),
	cmocka_unit_test(test_what_cannot_be_read_is_not_printed),
};

UNIT_TESTS(tests, set_up, tear_down);
