/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "workers/summary/table.h"

#include <string.h>

void text_table_init(struct text_table *table, unsigned columns, unsigned left)
{
	table->columns = columns < TABLE_COLUMNS ? columns : TABLE_COLUMNS;
	table->left = left;
	table->rows = 0;
}

struct text *text_table_row(struct text_table *table)
{
	struct text *cells;

	if (table->rows == TABLE_ROWS)
		return NULL;
	cells = table->cells[table->rows++];
	for (unsigned i = 0; i < TABLE_COLUMNS; i++)
		cells[i].bytes[0] = '\0';
	return cells;
}

void text_table_set(struct text *cell, const char *text)
{
	snprintf(cell->bytes, sizeof(cell->bytes), "%s", text);
}

static unsigned width_of(const char *text)
{
	size_t n = strlen(text), len;
	unsigned width = 0;

	for (size_t at = 0; at < n; at += len, width++)
		text_next(text + at, n - at, &len);
	return width;
}

static unsigned column_width(const struct text_table *table, unsigned column)
{
	unsigned widest = 0;

	for (unsigned i = 0; i < table->rows; i++) {
		unsigned width = width_of(table->cells[i][column].bytes);

		if (width > widest)
			widest = width;
	}
	return widest;
}

unsigned text_table_width(const struct text_table *table)
{
	unsigned width = table->columns ? (table->columns - 1) * 2 : 0;

	for (unsigned i = 0; i < table->columns; i++)
		width += column_width(table, i);
	return width;
}

static void text_table_print_row(const struct text_table *table, const struct text *cells,
				 const unsigned *widths, FILE *out)
{
	for (unsigned i = 0; i < table->columns; i++) {
		int gap = (int)(widths[i] - width_of(cells[i].bytes));
		bool left = table->left >> i & 1, last = i + 1 == table->columns;

		/* No blanks at the end of a line. */
		fprintf(out, "%*s%s%*s%s", left ? 0 : gap, "", cells[i].bytes, left && !last ? gap : 0, "",
			last ? "\n" : "  ");
	}
}

void text_table_print(const struct text_table *table, FILE *out, const char *indent)
{
	unsigned widths[TABLE_COLUMNS];

	for (unsigned i = 0; i < table->columns; i++)
		widths[i] = column_width(table, i);
	for (unsigned i = 0; i < table->rows; i++) {
		fputs(indent, out);
		text_table_print_row(table, table->cells[i], widths, out);
	}
}
