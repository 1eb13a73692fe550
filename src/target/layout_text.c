/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/layout_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define FIRST_LINE "gotrace layout 1"
#define MOST_LINE  200u /* bytes: the longest reason and its number */
#define MOST_MINOR 99u

static const char *const arch_names[] = {"amd64", "arm64"};

static const char *const reason_names[REASON_TABLES] = {
	[REASON_BLOCK] = "block",
	[REASON_WAIT] = "wait",
	[REASON_STW] = "stw",
	[REASON_STOP] = "stop",
};

/* The text, and the current line without its newline. */
struct reader {
	const char *text;
	size_t size, next; /* next: offset of the following line */
	const char *line;
	size_t len;
	unsigned number; /* of the current line, from 1 */
	struct error *err;
};

static int layout_text_refuse(const struct reader *reader, const char *what)
{
	return error_set(reader->err, EBADMSG, "line %u: %s", reader->number, what);
}

static int next_line(struct reader *reader)
{
	size_t left = reader->size - reader->next;
	const char *begin = reader->text + reader->next;
	const char *end = left ? memchr(begin, '\n', left < MOST_LINE ? left : MOST_LINE) : NULL;

	reader->number++;
	if (!end)
		return layout_text_refuse(reader, left < MOST_LINE ? "the text ends without an \"end\" line"
								   : "it is too long");
	reader->line = begin;
	reader->len = (size_t)(end - begin);
	reader->next += reader->len + 1;
	return 0;
}

/* Returns the text after "WORD " in the line, or NULL if the line does not begin with it. */
static const char *layout_text_value_of(const struct reader *reader, const char *word, size_t *len)
{
	size_t n = strlen(word);

	if (reader->len <= n || memcmp(reader->line, word, n) || reader->line[n] != ' ')
		return NULL;
	*len = reader->len - n - 1;
	return reader->line + n + 1;
}

static bool is(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && memcmp(text, word, len) == 0;
}

/* Parses the whole text as a number in this base, with at most 8 digits and a value up to most. */
static bool layout_text_read_number(const char *text, size_t len, unsigned base, uint32_t most,
				    uint32_t *value)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t sum = 0;

	if (len == 0 || len > 8)
		return false;
	for (size_t i = 0; i < len; i++) {
		const char *digit = memchr(digits, text[i], base);

		if (!digit)
			return false;
		sum = sum * base + (uint64_t)(digit - digits);
	}
	*value = (uint32_t)sum;
	return sum <= most;
}

static uint32_t layout_text_sum_of(const char *text, size_t size)
{
	return (uint32_t)crc32(0, (const Bytef *)text, (uInt)size);
}

/* --- the header --- */

static int read_release(struct reader *reader, struct layout_table *table)
{
	size_t len = 0;
	const char *value;
	int rc = next_line(reader);

	if (rc)
		return rc;
	value = layout_text_value_of(reader, "release", &len);
	if (!value || !go_version_parse(value, len, &table->version) || table->version.minor > MOST_MINOR ||
	    !is(value, len, table->version.text))
		return layout_text_refuse(reader, "expected the release of Go: \"release go1.28.1\"");
	table->release.minor = table->version.minor;
	table->release.patch = table->version.patch;
	return 0;
}

static int read_arch(struct reader *reader, struct layout_table *table)
{
	size_t len = 0;
	const char *value;
	int rc = next_line(reader);

	if (rc)
		return rc;
	value = layout_text_value_of(reader, "arch", &len);
	if (!value || (!is(value, len, arch_names[0]) && !is(value, len, arch_names[1])))
		return layout_text_refuse(reader, "expected \"arch amd64\" or \"arch arm64\"");
	table->arm64 = is(value, len, arch_names[1]);
	return 0;
}

static int read_head(struct reader *reader, struct layout_table *table)
{
	int rc = next_line(reader);

	if (rc || !is(reader->line, reader->len, FIRST_LINE))
		return layout_text_refuse(reader, "not a gotrace layout table: expected \"" FIRST_LINE "\"");
	rc = read_release(reader, table);
	return rc ? rc : read_arch(reader, table);
}

/* --- fields --- */

/* Reports why the line is not that of the expected field. */
static int layout_text_refuse_field(const struct reader *reader, unsigned expected)
{
	for (unsigned i = 0; i < layout_field_count; i++) {
		size_t len;

		if (!layout_text_value_of(reader, layout_fields[i].name, &len))
			continue;
		if (i < expected)
			return error_set(reader->err, EBADMSG, "line %u: %s occurs twice or is out of order",
					 reader->number, layout_fields[i].name);
		return error_set(reader->err, EBADMSG, "line %u: the field %s is missing before %s",
				 reader->number, layout_fields[expected].name, layout_fields[i].name);
	}
	return error_set(reader->err, EBADMSG,
			 "line %u: expected the field %s, found an unknown field: generate the table with "
			 "this version of gotrace",
			 reader->number, layout_fields[expected].name);
}

static bool may_be_absent(const struct layout_field *field, unsigned minor)
{
	return field->since == LAYOUT_OPTIONAL || minor < field->since;
}

static int read_field(struct reader *reader, unsigned i, struct release *release)
{
	const struct layout_field *field = &layout_fields[i];
	size_t len = 0;
	const char *value = layout_text_value_of(reader, field->name, &len);
	uint32_t offset = LAYOUT_ABSENT;

	if (!value)
		return layout_text_refuse_field(reader, i);
	if (is(value, len, "absent")) {
		if (!may_be_absent(field, release->minor))
			return error_set(reader->err, EBADMSG,
					 "line %u: %s may not be absent: every release since Go 1.%u has it",
					 reader->number, field->name, field->since);
	} else if (len < 3 || memcmp(value, "0x", 2) ||
		   !layout_text_read_number(value + 2, len - 2, 16, LAYOUT_MOST_OFFSET, &offset)) {
		return error_set(reader->err, EBADMSG,
				 "line %u: %s: expected an offset from 0x0 to 0x%x, or \"absent\"",
				 reader->number, field->name, LAYOUT_MOST_OFFSET);
	}
	layout_set(&release->layout, field, offset);
	return 0;
}

static int read_fields(struct reader *reader, struct release *release)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < layout_field_count; i++) {
		if (layout_field_has_next_row(i))
			continue;
		rc = next_line(reader);
		if (rc == 0)
			rc = read_field(reader, i, release);
	}
	return rc;
}

/* --- reasons --- */

static bool is_reason(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] < ' ' || text[i] > '~')
			return false;
	}
	return len > 0 && len <= LAYOUT_MOST_REASON;
}

/* Reads a line such as "block.12 chan send". *last is the number of the previous one, or -1. */
static int read_reason(const struct reader *reader, const char *table, const char **texts, unsigned n,
		       int *last)
{
	size_t digits, at = strlen(table) + 1;
	const char *text = reader->line + at;
	uint32_t number;

	for (digits = 0; digits < reader->len - at && text[digits] != ' '; digits++)
		;
	if (digits == reader->len - at ||
	    !layout_text_read_number(text, digits, 10, LAYOUT_MOST_REASONS, &number) || number >= n ||
	    (int)number <= *last)
		return layout_text_refuse(
			reader,
			"expected a number greater than the previous one and less than the table's size");
	at += digits + 1;
	if (!is_reason(reader->line + at, reader->len - at))
		return layout_text_refuse(reader, "expected a reason of printable ASCII");
	texts[number] = strndup(reader->line + at, reader->len - at);
	*last = (int)number;
	return texts[number] ? 0 : error_set(reader->err, ENOMEM, "out of memory");
}

static bool is_of_table(const struct reader *reader, const char *table)
{
	size_t n = strlen(table);

	return reader->len > n && memcmp(reader->line, table, n) == 0 && reader->line[n] == '.';
}

/* Reads "reasons.block 16" and the reasons after it. Leaves the reader at the line that follows them. */
static int layout_text_read_reasons(struct reader *reader, const char *table, struct reasons *reasons)
{
	char name[32];
	size_t len = 0;
	const char *value, **texts;
	uint32_t n;
	int last = -1, rc;

	snprintf(name, sizeof(name), "reasons.%s", table);
	value = layout_text_value_of(reader, name, &len);
	if (!value || !layout_text_read_number(value, len, 10, LAYOUT_MOST_REASONS, &n))
		return error_set(reader->err, EBADMSG, "line %u: expected \"%s\" and a number up to %u",
				 reader->number, name, LAYOUT_MOST_REASONS);
	texts = calloc(n + 1, sizeof(*texts));
	if (!texts)
		return error_set(reader->err, ENOMEM, "out of memory");
	*reasons = (struct reasons){.texts = texts, .n = n};
	for (rc = next_line(reader); rc == 0 && is_of_table(reader, table); rc = next_line(reader)) {
		rc = read_reason(reader, table, texts, n, &last);
		if (rc)
			break;
	}
	return rc;
}

static int read_end(const struct reader *reader)
{
	size_t len = 0;
	const char *value = layout_text_value_of(reader, "end", &len);
	uint32_t sum;

	if (!value || len != 8 || !layout_text_read_number(value, len, 16, UINT32_MAX, &sum))
		return layout_text_refuse(reader, "expected \"end\" and the checksum of the preceding lines");
	if (reader->next < reader->size)
		return layout_text_refuse(reader, "something follows the line \"end\"");
	if (sum != layout_text_sum_of(reader->text, (size_t)(reader->line - reader->text)))
		return layout_text_refuse(reader, "checksum mismatch: the table was changed");
	return 0;
}

static int layout_text_read_all(struct reader *reader, struct layout_table *table)
{
	int rc = read_head(reader, table);

	if (rc == 0)
		rc = read_fields(reader, &table->release);
	if (rc == 0)
		rc = next_line(reader);
	for (unsigned i = REASON_BLOCK; rc == 0 && i < REASON_TABLES; i++)
		rc = layout_text_read_reasons(reader, reason_names[i], &table->release.reasons[i]);
	return rc ? rc : read_end(reader);
}

int layout_text_parse(const char *text, size_t size, struct layout_table *table, struct error *err)
{
	struct reader reader = {.text = text, .size = size, .err = err};
	int rc;

	*table = (struct layout_table){.arm64 = false};
	rc = layout_text_read_all(&reader, table);
	if (rc)
		release_free(&table->release);
	return rc;
}

/* --- printing --- */

static int print_fields(const struct layout *layout, FILE *out, struct error *err)
{
	for (unsigned i = 0; i < layout_field_count; i++) {
		uint32_t value = layout_get(layout, &layout_fields[i]);

		if (layout_field_has_next_row(i))
			continue;
		if (value == LAYOUT_ABSENT)
			fprintf(out, "%s absent\n", layout_fields[i].name);
		else if (value <= LAYOUT_MOST_OFFSET)
			fprintf(out, "%s 0x%" PRIx32 "\n", layout_fields[i].name, value);
		else
			return error_set(err, EBADMSG, "has an implausible offset for %s (0x%" PRIx32 ")",
					 layout_fields[i].name, value);
	}
	return 0;
}

static int print_reasons(const char *table, const struct reasons *reasons, FILE *out, struct error *err)
{
	fprintf(out, "reasons.%s %u\n", table, reasons->n);
	for (unsigned i = 0; i < reasons->n; i++) {
		const char *text = reasons->texts[i];

		if (!text)
			continue;
		if (!is_reason(text, strlen(text)))
			return error_set(err, EBADMSG, "has a reason that is not printable ASCII (%s %u)",
					 table, i);
		fprintf(out, "%s.%u %s\n", table, i, text);
	}
	return 0;
}

static int layout_text_print_lines(const struct layout_table *table, FILE *out, struct error *err)
{
	const struct release *release = &table->release;
	int rc;

	fprintf(out, FIRST_LINE "\nrelease %s\narch %s\n", table->version.text, arch_names[table->arm64]);
	rc = print_fields(&release->layout, out, err);
	for (unsigned i = REASON_BLOCK; rc == 0 && i < REASON_TABLES; i++)
		rc = print_reasons(reason_names[i], &release->reasons[i], out, err);
	return rc;
}

int layout_text_print(const struct layout_table *table, FILE *out, struct error *err)
{
	char *text = NULL;
	size_t size = 0;
	FILE *lines = open_memstream(&text, &size);
	int rc = lines ? layout_text_print_lines(table, lines, err) : -ENOMEM;

	if (lines && fclose(lines))
		rc = -ENOMEM;
	if (rc == -ENOMEM)
		error_set(err, ENOMEM, "needs more memory than is available");
	if (rc == 0)
		fprintf(out, "%send %08" PRIx32 "\n", text, layout_text_sum_of(text, size));
	free(text);
	return rc;
}
