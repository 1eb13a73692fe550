/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/parquet/thrift.h"

static void thrift_put_field(struct thrift *t, int id, enum thrift_type type)
{
	int *last = &t->last[t->depth];

	pq_put_byte(t->out, (uint8_t)((id - *last) << 4 | type)); /* no struct of Parquet skips 15 ids */
	*last = id;
}

void thrift_int(struct thrift *t, int id, enum thrift_type type, int64_t value)
{
	thrift_put_field(t, id, type);
	thrift_int_item(t, value);
}

void thrift_text(struct thrift *t, int id, const char *text, size_t len)
{
	thrift_put_field(t, id, THRIFT_TEXT);
	pq_put_varint(t->out, len);
	pq_put(t->out, text, len);
}

void thrift_list(struct thrift *t, int id, enum thrift_type type, size_t n)
{
	thrift_put_field(t, id, THRIFT_LIST);
	if (n < 15) {
		pq_put_byte(t->out, (uint8_t)(n << 4 | type));
		return;
	}
	pq_put_byte(t->out, (uint8_t)(0xf0 | type));
	pq_put_varint(t->out, n);
}

void thrift_begin(struct thrift *t, int id)
{
	thrift_put_field(t, id, THRIFT_STRUCT);
	thrift_begin_item(t);
}

void thrift_begin_item(struct thrift *t)
{
	t->last[++t->depth] = 0;
}

void thrift_end(struct thrift *t)
{
	pq_put_byte(t->out, 0);
	if (t->depth)
		t->depth--;
}

void thrift_int_item(struct thrift *t, int64_t value)
{
	pq_put_varint(t->out, pq_zigzag(value));
}

void thrift_text_item(struct thrift *t, const char *text)
{
	size_t len = strlen(text);

	pq_put_varint(t->out, len);
	pq_put(t->out, text, len);
}
