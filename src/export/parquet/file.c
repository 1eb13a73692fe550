/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/parquet/file.h"

#include <errno.h>
#include <libdeflate.h>
#include <stdlib.h>

#include "export/parquet/encode.h"
#include "export/parquet/thrift.h"
#include "util/map64.h"
#include "util/strtab.h"

enum {
	PAGE_ROWS = 1 << 16,
	GROUP_ROWS = 1 << 20,
	PAGE_BYTES = 1 << 20,       /* of PLAIN text in a page, before its last value */
	GROUP_BYTES = 32 << 20,     /* of compressed pages */
	DICTIONARY_BYTES = 1 << 20, /* beyond it, a column's next pages have values in place of indices */
	DICTIONARY_VALUES = 1 << 16,
	MAX_STATISTIC = 64, /* bytes of a text that is a minimum or maximum */
};

/* parquet.thrift */
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_DELTA = 5, ENCODING_DICTIONARY = 8 };
enum { CODEC_GZIP = 2 };

static const uint8_t physical_types[] = {
	[PQ_BOOL] = 0, [PQ_INT32] = 1, [PQ_INT64] = 2, [PQ_DOUBLE] = 5, [PQ_TEXT] = 6};

/* What the footer says about a column in one row group. */
struct column_chunk {
	uint64_t values, nulls;
	uint64_t offset, dictionary_offset; /* of the first data page; of the dictionary's, 0 = none */
	uint64_t plain_bytes, packed_bytes; /* pages with headers, before and after compression */
	bool has_range;                     /* least and most are known */
	bool plain, delta;                  /* encodings of data pages besides the dictionary's */
	bool unknown;                       /* there are values besides those of has_range */
	int64_t least, most;
	uint32_t least_text, most_text; /* ids in the column's texts */
};

struct row_group {
	uint64_t rows, bytes;
	struct column_chunk *chunks;
};

/* A column, and its page of values that are not written yet. */
struct column {
	const struct pq_column *kind;
	bool dictionary;   /* this page has indices */
	bool full;         /* the next one does not */
	bool set;          /* the current row has a value */
	uint32_t constant; /* index of the value of rows that do not set it, plus 1; 0 = NULL */
	/* the dictionary; the index of a text is its id */
	struct strtab *texts;
	struct map64 index_of; /* integer -> index */
	int64_t *entries;      /* by index: the id or the integer */
	uint32_t *seen;        /* by index: 1 + the number of the last row group that has it */
	size_t nentries, entry_capacity, seen_capacity;
	size_t dictionary_bytes;
	/* the page: levels of all rows, then either indices, numbers, or bytes, of those that are not NULL */
	uint32_t *levels, *indices;
	int64_t *numbers;
	struct pq_bytes plain;
	size_t rows, n;
	size_t level_capacity, index_capacity, number_capacity;
	struct pq_bytes pages; /* of this row group */
	struct column_chunk chunk;
};

struct pq_file {
	struct column *columns;
	size_t ncolumns;
	struct byte_sink out;
	struct libdeflate_compressor *compressor;
	struct pq_limits limits;
	struct pq_bytes raw, packed; /* scratch */
	struct row_group *groups;
	size_t ngroups, group_capacity;
	uint64_t rows, group_rows, written;
	int error;
};

struct pq_file *pq_new(const struct pq_column *columns, size_t n, struct libdeflate_compressor *compressor,
		       struct byte_sink out, struct pq_limits limits)
{
	struct pq_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->columns = calloc(n, sizeof(*file->columns));
	file->ncolumns = file->columns ? n : 0;
	file->out = out;
	file->compressor = compressor;
	file->limits.page_rows = limits.page_rows ? limits.page_rows : PAGE_ROWS;
	file->limits.group_rows = limits.group_rows ? limits.group_rows : GROUP_ROWS;
	for (size_t i = 0; i < file->ncolumns; i++) {
		struct column *column = &file->columns[i];

		column->kind = &columns[i];
		column->dictionary = columns[i].encoding == PQ_DICTIONARY;
		column->texts = columns[i].type == PQ_TEXT ? strtab_new() : NULL;
		if (columns[i].type == PQ_TEXT && !column->texts)
			file->error = -ENOMEM;
	}
	if (file->columns && !file->error)
		return file;
	pq_free(file);
	return NULL;
}

void pq_free(struct pq_file *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < file->ncolumns; i++) {
		struct column *column = &file->columns[i];

		if (column->texts)
			strtab_free(column->texts);
		map64_free(&column->index_of);
		free(column->entries);
		free(column->seen);
		free(column->levels);
		free(column->indices);
		free(column->numbers);
		buffer_free(&column->plain.buf);
		buffer_free(&column->pages.buf);
	}
	for (size_t i = 0; i < file->ngroups; i++)
		free(file->groups[i].chunks);
	free(file->groups);
	free(file->columns);
	buffer_free(&file->raw.buf);
	buffer_free(&file->packed.buf);
	free(file);
}

/* --- bytes of values --- */

static void file_put_value(struct pq_bytes *out, const struct column *column, int64_t value)
{
	size_t len;
	const char *text;

	if (column->kind->type != PQ_TEXT) {
		pq_put_number(out, (uint64_t)value, column->kind->type == PQ_INT32 ? 4 : 8);
		return;
	}
	text = strtab_get(column->texts, (uint32_t)value, &len);
	pq_put_number(out, len, 4);
	pq_put(out, text, len);
}

static void put_bits(struct pq_bytes *out, const int64_t *values, size_t n)
{
	for (size_t at = 0; at < n; at += 8) {
		uint8_t bits = 0;

		for (size_t i = 0; i < 8 && at + i < n; i++)
			bits |= (uint8_t)((values[at + i] != 0) << i);
		pq_put_byte(out, bits);
	}
}

static void file_put_values(struct pq_bytes *out, const struct column *column)
{
	if (!column->n)
		return;
	if (column->dictionary) {
		unsigned width = pq_width(column->nentries ? column->nentries - 1 : 0);

		pq_put_byte(out, (uint8_t)width);
		pq_put_hybrid(out, column->indices, column->n, width);
	} else if (column->kind->type == PQ_TEXT) {
		pq_put(out, column->plain.buf.bytes, column->plain.buf.len);
	} else if (column->kind->type == PQ_BOOL) {
		put_bits(out, column->numbers, column->n);
	} else if (column->kind->encoding == PQ_PLAIN) {
		for (size_t i = 0; i < column->n; i++)
			file_put_value(out, column, column->numbers[i]);
	} else {
		pq_put_deltas(out, column->numbers, column->n, column->kind->type == PQ_INT32);
	}
}

static int encoding_of(const struct column *column)
{
	if (!column->n)
		return ENCODING_PLAIN; /* all are NULL, and there may be no dictionary */
	if (column->dictionary)
		return ENCODING_DICTIONARY;
	return column->kind->encoding == PQ_PLAIN || column->kind->type == PQ_TEXT ||
			       column->kind->type == PQ_BOOL
		       ? ENCODING_PLAIN
		       : ENCODING_DELTA;
}

/* --- statistics --- */

static void widen(struct column_chunk *chunk, int64_t value)
{
	chunk->least = !chunk->has_range || value < chunk->least ? value : chunk->least;
	chunk->most = !chunk->has_range || value > chunk->most ? value : chunk->most;
	chunk->has_range = true;
}

static int compare_texts(const struct column *column, uint32_t one, uint32_t other)
{
	size_t n, m;
	const char *a = strtab_get(column->texts, one, &n), *b = strtab_get(column->texts, other, &m);
	int order = memcmp(a, b, n < m ? n : m);

	return order ? order : (n > m) - (n < m);
}

static void widen_text(struct column *column, uint32_t text)
{
	struct column_chunk *chunk = &column->chunk;

	if (!chunk->has_range || compare_texts(column, text, chunk->least_text) < 0)
		chunk->least_text = text;
	if (!chunk->has_range || compare_texts(column, text, chunk->most_text) > 0)
		chunk->most_text = text;
	chunk->has_range = true;
}

/* Minimum and maximum of the page. Doubles may be NaN; texts beyond the dictionary are not kept. */
static void file_measure(const struct pq_file *file, struct column *column)
{
	uint32_t group = (uint32_t)file->ngroups + 1;

	if (!column->dictionary) {
		bool counts = column->kind->type == PQ_INT64 || column->kind->type == PQ_INT32;

		for (size_t i = 0; counts && i < column->n; i++)
			widen(&column->chunk, column->numbers[i]);
		column->chunk.unknown |= !counts && column->n;
		return;
	}
	for (size_t i = 0; i < column->n; i++) {
		uint32_t index = column->indices[i];

		if (column->seen[index] == group)
			continue;
		column->seen[index] = group;
		if (column->kind->type == PQ_TEXT)
			widen_text(column, (uint32_t)column->entries[index]);
		else
			widen(&column->chunk, column->entries[index]);
	}
}

/* --- pages --- */

/* Appends a page, compressed, with its header, to the column's pages. */
static void put_page(struct pq_file *file, struct pq_bytes *out, struct column_chunk *chunk, int type,
		     size_t values, int encoding)
{
	size_t before = out->buf.len, most, size = 0, header;
	struct thrift t = {.out = out};

	most = libdeflate_gzip_compress_bound(file->compressor, file->raw.buf.len);
	file->packed.buf.len = 0;
	if (pq_bytes_add(&file->packed, most))
		size = libdeflate_gzip_compress(file->compressor, file->raw.buf.bytes, file->raw.buf.len,
						file->packed.buf.bytes, most);
	out->oom |= !size || file->raw.oom;
	thrift_int(&t, 1, THRIFT_I32, type);
	thrift_int(&t, 2, THRIFT_I32, (int64_t)file->raw.buf.len);
	thrift_int(&t, 3, THRIFT_I32, (int64_t)size);
	thrift_begin(&t, type == PAGE_DATA ? 5 : 7);
	thrift_int(&t, 1, THRIFT_I32, (int64_t)values);
	thrift_int(&t, 2, THRIFT_I32, encoding);
	if (type == PAGE_DATA) {
		thrift_int(&t, 3, THRIFT_I32, ENCODING_RLE);
		thrift_int(&t, 4, THRIFT_I32, ENCODING_RLE);
	}
	thrift_end(&t);
	thrift_end(&t);
	header = out->buf.len - before;
	pq_put(out, file->packed.buf.bytes, size);
	chunk->plain_bytes += header + file->raw.buf.len;
	chunk->packed_bytes += header + size;
}

static void end_page(struct pq_file *file, struct column *column)
{
	struct column_chunk *chunk = &column->chunk;
	struct pq_bytes *raw = &file->raw;
	size_t length;

	if (!column->rows)
		return;
	raw->buf.len = 0;
	pq_put_number(raw, 0, 4);
	pq_put_hybrid(raw, column->levels, column->rows, 1);
	length = raw->buf.len - 4;
	for (unsigned i = 0; i < 4 && !raw->oom; i++)
		raw->buf.bytes[i] = (uint8_t)(length >> (8 * i));
	file_put_values(raw, column);
	file_measure(file, column);
	put_page(file, &column->pages, chunk, PAGE_DATA, column->rows, encoding_of(column));
	chunk->values += column->rows;
	chunk->nulls += column->rows - column->n;
	chunk->plain |= encoding_of(column) == ENCODING_PLAIN;
	chunk->delta |= encoding_of(column) == ENCODING_DELTA;
	column->rows = column->n = 0;
	column->plain.buf.len = 0;
	column->dictionary &= !column->full;
}

/* --- row groups --- */

static void file_write_bytes(struct pq_file *file, const struct pq_bytes *bytes)
{
	if (!file->error && bytes->oom)
		file->error = -ENOMEM;
	if (!file->error)
		file->error = file->out.write(file->out.ctx, bytes->buf.bytes, bytes->buf.len);
	file->written += bytes->buf.len;
}

/* Whether a data page of this row group has indices. */
static bool uses_dictionary(const struct column *column)
{
	return column->kind->encoding == PQ_DICTIONARY && column->chunk.values &&
	       column->chunk.dictionary_offset;
}

/* The dictionary has all values of the file so far: those of other row groups do no harm. */
static void write_dictionary(struct pq_file *file, struct column *column, struct pq_bytes *out)
{
	file->raw.buf.len = 0;
	for (size_t i = 0; i < column->nentries; i++)
		file_put_value(&file->raw, column, column->entries[i]);
	put_page(file, out, &column->chunk, PAGE_DICTIONARY, column->nentries, ENCODING_PLAIN);
}

static void write_chunk(struct pq_file *file, struct column *column, struct column_chunk *to)
{
	struct pq_bytes dictionary = {.oom = false};

	if (uses_dictionary(column)) {
		column->chunk.dictionary_offset = file->written;
		write_dictionary(file, column, &dictionary);
		file_write_bytes(file, &dictionary);
	}
	column->chunk.offset = file->written;
	file_write_bytes(file, &column->pages);
	buffer_free(&dictionary.buf);
	*to = column->chunk;
	column->chunk = (struct column_chunk){0};
	column->pages.buf.len = 0;
}

static int end_group(struct pq_file *file)
{
	struct row_group *group;

	if (!file->group_rows || file->error)
		return file->error;
	if (array_grow(&file->groups, &file->group_capacity, file->ngroups + 1, sizeof(*file->groups)))
		return file->error = -ENOMEM;
	group = &file->groups[file->ngroups];
	group->chunks = calloc(file->ncolumns, sizeof(*group->chunks));
	if (!group->chunks)
		return file->error = -ENOMEM;
	group->rows = file->group_rows;
	for (size_t i = 0; i < file->ncolumns; i++)
		end_page(file, &file->columns[i]);
	file->ngroups++;
	if (!file->written) {
		struct pq_bytes magic = {.buf = {.bytes = (uint8_t *)"PAR1", .len = 4}};

		file_write_bytes(file, &magic);
	}
	for (size_t i = 0; i < file->ncolumns; i++) {
		write_chunk(file, &file->columns[i], &group->chunks[i]);
		group->bytes += group->chunks[i].plain_bytes;
	}
	file->group_rows = 0;
	return file->error;
}

/* --- rows --- */

static void oom_if(struct pq_file *file, int rc)
{
	if (rc && !file->error)
		file->error = -ENOMEM;
}

static void add_entry(struct pq_file *file, struct column *column, int64_t value, size_t bytes)
{
	if (array_grow(&column->entries, &column->entry_capacity, column->nentries + 1,
		       sizeof(*column->entries)) ||
	    array_grow(&column->seen, &column->seen_capacity, column->nentries + 1, sizeof(*column->seen))) {
		file->error = -ENOMEM;
		return;
	}
	column->entries[column->nentries++] = value;
	column->dictionary_bytes += bytes;
	column->full |= column->dictionary_bytes > DICTIONARY_BYTES || column->nentries >= DICTIONARY_VALUES;
}

static uint32_t int_index(struct pq_file *file, struct column *column, int64_t value)
{
	uint32_t index = map64_find(&column->index_of, (uint64_t)value);

	if (index != MAP64_NONE)
		return index;
	index = (uint32_t)column->nentries;
	oom_if(file, map64_set(&column->index_of, (uint64_t)value, index));
	add_entry(file, column, value, 8);
	return index;
}

static uint32_t text_index(struct pq_file *file, struct column *column, const char *text, size_t len)
{
	uint32_t id = strtab_add(column->texts, text, len);

	oom_if(file, len && !id ? -ENOMEM : 0);
	while (!file->error && column->nentries <= id)
		add_entry(file, column, (int64_t)column->nentries, column->nentries == id ? len + 4 : 4);
	return id;
}

static void add_index(struct pq_file *file, struct column *column, uint32_t index)
{
	oom_if(file, array_grow(&column->indices, &column->index_capacity, column->n + 1,
				sizeof(*column->indices)));
	if (file->error)
		return;
	column->indices[column->n++] = index;
	column->chunk.dictionary_offset = 1; /* the real one when the row group ends */
	column->set = true;
}

static void file_add_number(struct pq_file *file, struct column *column, int64_t value)
{
	oom_if(file, array_grow(&column->numbers, &column->number_capacity, column->n + 1,
				sizeof(*column->numbers)));
	if (file->error)
		return;
	column->numbers[column->n++] = value;
	column->set = true;
}

void pq_set_int(struct pq_file *file, unsigned number, int64_t value)
{
	struct column *column = &file->columns[number];

	if (file->error || column->set)
		return;
	if (column->kind->type == PQ_INT32)
		value = (int32_t)value;
	if (column->dictionary)
		add_index(file, column, int_index(file, column, value));
	else
		file_add_number(file, column, value);
}

void pq_set_double(struct pq_file *file, unsigned number, double value)
{
	struct column *column = &file->columns[number];
	int64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	if (!file->error && !column->set)
		file_add_number(file, column, bits);
}

void pq_set_text(struct pq_file *file, unsigned number, const char *text, size_t len)
{
	struct column *column = &file->columns[number];

	if (file->error || column->set)
		return;
	if (column->dictionary) {
		add_index(file, column, text_index(file, column, text, len));
		return;
	}
	pq_put_number(&column->plain, len, 4);
	pq_put(&column->plain, text, len);
	oom_if(file, column->plain.oom ? -ENOMEM : 0);
	column->n++;
	column->set = true;
}

int pq_set_constant(struct pq_file *file, unsigned number, const char *text)
{
	struct column *column = &file->columns[number];

	column->constant = text_index(file, column, text, strlen(text)) + 1;
	return file->error;
}

static void file_end_value(struct pq_file *file, struct column *column)
{
	if (!column->set && column->constant)
		add_index(file, column, column->constant - 1);
	oom_if(file, array_grow(&column->levels, &column->level_capacity, column->rows + 1,
				sizeof(*column->levels)));
	if (file->error)
		return;
	column->levels[column->rows++] = column->set;
	column->set = false;
	if (column->rows >= file->limits.page_rows || column->plain.buf.len >= PAGE_BYTES ||
	    (column->full && column->dictionary && column->dictionary_bytes > 8 * DICTIONARY_BYTES))
		end_page(file, column);
}

int pq_row_end(struct pq_file *file)
{
	size_t bytes = 0;

	for (size_t i = 0; i < file->ncolumns && !file->error; i++) {
		file_end_value(file, &file->columns[i]);
		bytes += file->columns[i].pages.buf.len;
	}
	file->rows++;
	file->group_rows++;
	if (file->group_rows >= file->limits.group_rows || bytes >= GROUP_BYTES)
		return end_group(file);
	return file->error;
}

/* --- the footer --- */

/* A column in the schema. Old readers know only the converted type of texts. */
static void put_leaf(struct thrift *t, const struct pq_column *column)
{
	thrift_begin_item(t);
	thrift_int(t, 1, THRIFT_I32, physical_types[column->type]);
	thrift_int(t, 3, THRIFT_I32, 1); /* OPTIONAL */
	thrift_text(t, 4, column->name, strlen(column->name));
	if (column->type == PQ_TEXT) {
		thrift_int(t, 6, THRIFT_I32, 0); /* UTF8 */
		thrift_begin(t, 10);             /* LogicalType: STRING */
		thrift_begin(t, 1);
		thrift_end(t);
		thrift_end(t);
	}
	thrift_end(t);
}

static void put_schema(struct thrift *t, const struct pq_file *file)
{
	thrift_list(t, 2, THRIFT_STRUCT, file->ncolumns + 1);
	thrift_begin_item(t);
	thrift_text(t, 4, "schema", 6);
	thrift_int(t, 5, THRIFT_I32, (int64_t)file->ncolumns);
	thrift_end(t);
	for (size_t i = 0; i < file->ncolumns; i++)
		put_leaf(t, file->columns[i].kind);
}

static void put_limit(struct thrift *t, int id, const struct column *column, int64_t value, uint32_t text)
{
	size_t len = column->kind->type == PQ_INT32 ? 4 : 8;
	uint8_t bytes[8];
	const char *limit = (const char *)bytes;

	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (uint8_t)((uint64_t)value >> (8 * i));
	if (column->kind->type == PQ_TEXT)
		limit = strtab_get(column->texts, text, &len);
	thrift_text(t, id, limit, len);
}

static bool is_short(const struct column *column, uint32_t text)
{
	size_t len;

	strtab_get(column->texts, text, &len);
	return len <= MAX_STATISTIC;
}

/* A range that misses the values of other encodings would make readers skip them. */
static bool has_range(const struct column *column, const struct column_chunk *chunk)
{
	if (column->kind->type != PQ_TEXT)
		return chunk->has_range;
	return chunk->has_range && !chunk->unknown && is_short(column, chunk->least_text) &&
	       is_short(column, chunk->most_text);
}

static void put_statistics(struct thrift *t, const struct column *column, const struct column_chunk *chunk)
{
	thrift_begin(t, 12);
	thrift_int(t, 3, THRIFT_I64, (int64_t)chunk->nulls);
	if (has_range(column, chunk)) {
		put_limit(t, 5, column, chunk->most, chunk->most_text);
		put_limit(t, 6, column, chunk->least, chunk->least_text);
	}
	thrift_end(t);
}

static void put_encodings(struct thrift *t, const struct column_chunk *chunk)
{
	bool dictionary = chunk->dictionary_offset, plain = chunk->plain || dictionary;

	thrift_list(t, 2, THRIFT_I32, 1u + plain + dictionary + chunk->delta);
	thrift_int_item(t, ENCODING_RLE);
	if (plain)
		thrift_int_item(t, ENCODING_PLAIN);
	if (dictionary)
		thrift_int_item(t, ENCODING_DICTIONARY);
	if (chunk->delta)
		thrift_int_item(t, ENCODING_DELTA);
}

static void put_chunk(struct thrift *t, const struct column *column, const struct column_chunk *chunk)
{
	thrift_begin_item(t);
	thrift_int(t, 2, THRIFT_I64, 0); /* required, though deprecated */
	thrift_begin(t, 3);
	thrift_int(t, 1, THRIFT_I32, physical_types[column->kind->type]);
	put_encodings(t, chunk);
	thrift_list(t, 3, THRIFT_TEXT, 1);
	thrift_text_item(t, column->kind->name);
	thrift_int(t, 4, THRIFT_I32, CODEC_GZIP);
	thrift_int(t, 5, THRIFT_I64, (int64_t)chunk->values);
	thrift_int(t, 6, THRIFT_I64, (int64_t)chunk->plain_bytes);
	thrift_int(t, 7, THRIFT_I64, (int64_t)chunk->packed_bytes);
	thrift_int(t, 9, THRIFT_I64, (int64_t)chunk->offset);
	if (chunk->dictionary_offset)
		thrift_int(t, 11, THRIFT_I64, (int64_t)chunk->dictionary_offset);
	put_statistics(t, column, chunk);
	thrift_end(t);
	thrift_end(t);
}

static void file_put_groups(struct thrift *t, const struct pq_file *file)
{
	thrift_list(t, 4, THRIFT_STRUCT, file->ngroups);
	for (size_t i = 0; i < file->ngroups; i++) {
		const struct row_group *group = &file->groups[i];

		thrift_begin_item(t);
		thrift_list(t, 1, THRIFT_STRUCT, file->ncolumns);
		for (size_t j = 0; j < file->ncolumns; j++)
			put_chunk(t, &file->columns[j], &group->chunks[j]);
		thrift_int(t, 2, THRIFT_I64, (int64_t)group->bytes);
		thrift_int(t, 3, THRIFT_I64, (int64_t)group->rows);
		thrift_end(t);
	}
}

/* Without orders, readers ignore the ranges. */
static void put_orders(struct thrift *t, const struct pq_file *file)
{
	thrift_list(t, 7, THRIFT_STRUCT, file->ncolumns);
	for (size_t i = 0; i < file->ncolumns; i++) {
		thrift_begin_item(t);
		thrift_begin(t, 1); /* TYPE_ORDER */
		thrift_end(t);
		thrift_end(t);
	}
}

int pq_finish(struct pq_file *file, const char *created_by, const char *key, const char *value)
{
	struct pq_bytes footer = {.oom = false};
	struct thrift t = {.out = &footer};
	int rc = end_group(file);

	if (rc || !file->ngroups)
		return rc;
	thrift_int(&t, 1, THRIFT_I32, 2);
	put_schema(&t, file);
	thrift_int(&t, 3, THRIFT_I64, (int64_t)file->rows);
	file_put_groups(&t, file);
	thrift_list(&t, 5, THRIFT_STRUCT, 1);
	thrift_begin_item(&t);
	thrift_text(&t, 1, key, strlen(key));
	thrift_text(&t, 2, value, strlen(value));
	thrift_end(&t);
	thrift_text(&t, 6, created_by, strlen(created_by));
	put_orders(&t, file);
	thrift_end(&t);
	pq_put_number(&footer, footer.buf.len, 4);
	pq_put(&footer, "PAR1", 4);
	file_write_bytes(file, &footer);
	buffer_free(&footer.buf);
	return file->error;
}
