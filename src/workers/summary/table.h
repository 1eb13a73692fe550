/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A table of text: the columns are as wide as their widest cell. */
#ifndef GOTRACE_WORKERS_SUMMARY_TABLE_H
#define GOTRACE_WORKERS_SUMMARY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "util/text.h"

enum { TABLE_COLUMNS = 9, TABLE_ROWS = 32 };

struct text_table {
	struct text cells[TABLE_ROWS][TABLE_COLUMNS];
	unsigned columns, rows;
	unsigned left; /* bit i: column i is left-aligned */
};

void text_table_init(struct text_table *table, unsigned columns, unsigned left);
/* Adds an empty row. Returns its cells, or NULL if the table is full. */
struct text *text_table_row(struct text_table *table);
/* Returns the width of the table so far, without an indent. */
unsigned text_table_width(const struct text_table *table);
void text_table_set(struct text *cell, const char *text);
void text_table_print(const struct text_table *table, FILE *out, const char *indent);

#endif
