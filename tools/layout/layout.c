/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Prints src/target/layouts.inc from what toolchains made of
 * tools/layout/program: `layout FILE ...`, or compares them with the rows it is
 * linked with: `layout --check FILE ...`. Run by make.sh.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/layout_table.h"

static const struct {
	enum log_reason_table table;
	const char *name, *symbol;
} tables[] = {
	{REASON_BLOCK, "block", "REASON_BLOCK"},
	{REASON_WAIT, "wait", "REASON_WAIT"},
	{REASON_STW, "stw", "REASON_STW"},
	{REASON_STOP, "stop", "REASON_STOP"},
};

static int read_row(const char *file, struct layout_table *row, struct error *err)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return error_set(err, 2, "cannot open it");
	rc = layout_table_read(fd, row, err);
	close(fd);
	return rc;
}

/* What the names of a row's texts end in: the minor release, and the patch unless it is the newest of the table. */
static const char *suffix(const struct layout_table *row, bool newest)
{
	static char text[32];

	if (newest)
		snprintf(text, sizeof(text), "%u", row->version.minor);
	else
		snprintf(text, sizeof(text), "%u_%u", row->version.minor, row->version.patch);
	return text;
}

static void print_reasons(const struct layout_table *row, bool newest)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		const struct reasons *reasons = &row->release.reasons[tables[i].table];

		if (!reasons->n)
			continue;
		printf("static const char *const %s_%s[] = {\n", tables[i].name, suffix(row, newest));
		for (unsigned k = 0; k < reasons->n; k++) {
			if (reasons->texts[k])
				printf("\t[%u] = \"%s\",\n", k, reasons->texts[k]);
		}
		printf("};\n");
	}
}

static void print_row(const struct layout_table *row, bool newest)
{
	const char *end = suffix(row, newest);

	printf("\t{\n\t\t/* %s */\n\t\t.minor = %u,\n\t\t.patch = %u,\n", row->version.text,
	       row->version.minor, row->version.patch);
	for (unsigned i = 0; i < layout_field_count; i++) {
		uint32_t value = layout_get(&row->release.layout, &layout_fields[i]);

		if (layout_field_has_next_row(i))
			continue;
		if (value == LAYOUT_ABSENT)
			printf("\t\t.layout.%s = LAYOUT_ABSENT,\n", layout_fields[i].name);
		else
			printf("\t\t.layout.%s = 0x%x,\n", layout_fields[i].name, value);
	}
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (row->release.reasons[tables[i].table].n)
			printf("\t\t.reasons[%s] = {%s_%s, sizeof(%s_%s) / sizeof(%s_%s[0])},\n",
			       tables[i].symbol, tables[i].name, end, tables[i].name, end, tables[i].name,
			       end);
	}
	printf("\t},\n");
}

/* The table's row of this patch release, or else that of the newest one. */
static const struct release *find_known(const struct go_version *version)
{
	const struct release *row;

	for (unsigned n = 0; (row = release_patch(version->minor, n)); n++) {
		if (row->patch == version->patch)
			return row;
	}
	return release_find(version->minor);
}

/* Prints where the table differs from the layout of this release. Returns the number of differences. */
static unsigned compare_row(const struct layout_table *row)
{
	const struct release *known = find_known(&row->version);
	unsigned wrong = 0;

	if (!known) {
		fprintf(stderr, "%s: the table has no row\n", row->version.text);
		return 1;
	}
	for (unsigned i = 0; i < layout_field_count; i++) {
		uint32_t is = layout_get(&row->release.layout, &layout_fields[i]);
		uint32_t was = layout_get(&known->layout, &layout_fields[i]);

		if (layout_field_has_next_row(i) || is == was)
			continue;
		fprintf(stderr, "%s: %s is 0x%x, in the table 0x%x\n", row->version.text,
			layout_fields[i].name, is, was);
		wrong++;
	}
	return wrong;
}

static bool same_text(const char *one, const char *two)
{
	return one && two ? strcmp(one, two) == 0 : one == two;
}

static unsigned compare_reasons(const struct layout_table *row)
{
	const struct release *known = find_known(&row->version);
	unsigned wrong = 0;

	for (size_t i = 0; known && i < sizeof(tables) / sizeof(tables[0]); i++) {
		const struct reasons *is = &row->release.reasons[tables[i].table];
		const struct reasons *was = &known->reasons[tables[i].table];
		bool same = is->n == was->n;

		for (unsigned k = 0; same && k < is->n; k++)
			same = same_text(is->texts[k], was->texts[k]);
		if (same)
			continue;
		fprintf(stderr, "%s: the texts of %s are others than in the table\n", row->version.text,
			tables[i].symbol);
		wrong++;
	}
	return wrong;
}

static int check(struct layout_table *rows, int n)
{
	unsigned wrong = 0;

	for (int i = 0; i < n; i++) {
		unsigned faults = compare_row(&rows[i]) + compare_reasons(&rows[i]);

		printf("%s: %u fields, %u differences\n", rows[i].version.text, layout_field_count, faults);
		wrong += faults;
	}
	return wrong != 0;
}

static bool is_newest(const struct layout_table *rows, int n, int i)
{
	return i + 1 == n || rows[i + 1].version.minor != rows[i].version.minor;
}

static void print_table(const struct layout_table *rows, int n)
{
	printf("/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */\n"
	       "/* Made by tools/layout/make.sh from the toolchains' DWARF: do not edit. Oldest release "
	       "first. */\n");
	for (int i = 0; i < n; i++)
		print_reasons(&rows[i], is_newest(rows, n, i));
	printf("static const struct release releases[] = {\n");
	for (int i = 0; i < n; i++)
		print_row(&rows[i], is_newest(rows, n, i));
	printf("};\n");
}

int main(int argc, char **argv)
{
	bool only_check = argc > 1 && strcmp(argv[1], "--check") == 0;
	int first = only_check ? 2 : 1, n = argc - first;
	struct layout_table *rows = calloc((size_t)argc, sizeof(*rows));
	struct error err;

	if (!rows || n < 1) {
		fprintf(stderr, "usage: layout [--check] FILE ...\n");
		return 2;
	}
	for (int i = 0; i < n; i++) {
		if (read_row(argv[first + i], &rows[i], &err)) {
			fprintf(stderr, "%s: %s\n", argv[first + i], err.text);
			return 1;
		}
	}
	if (only_check)
		return check(rows, n);
	print_table(rows, n);
	return 0;
}
