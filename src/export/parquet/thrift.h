/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: structs in Thrift's compact protocol, which Parquet's metadata are in
 * (github.com/apache/thrift, doc/specs/thrift-compact-protocol.md; parquet.thrift in apache/parquet-format).
 */
#ifndef GOTRACE_EXPORT_PARQUET_THRIFT_H
#define GOTRACE_EXPORT_PARQUET_THRIFT_H

#include "export/parquet/bytes.h"

enum thrift_type { THRIFT_I32 = 5, THRIFT_I64 = 6, THRIFT_TEXT = 8, THRIFT_LIST = 9, THRIFT_STRUCT = 12 };

enum { THRIFT_DEPTH = 8 };

/* Begins in a struct, which thrift_end() ends. */
struct thrift {
	struct pq_bytes *out;
	int last[THRIFT_DEPTH]; /* id of the last field of each open struct */
	unsigned depth;
};

/* Fields of the innermost open struct; ids must ascend. */
void thrift_int(struct thrift *t, int id, enum thrift_type type, int64_t value);
void thrift_text(struct thrift *t, int id, const char *text, size_t len);
/* A list of n items of the type, which must follow. */
void thrift_list(struct thrift *t, int id, enum thrift_type type, size_t n);
/* Opens a struct: a field of the innermost one, or an item of a list. */
void thrift_begin(struct thrift *t, int id);
void thrift_begin_item(struct thrift *t);
void thrift_end(struct thrift *t);
/* Items of lists. */
void thrift_int_item(struct thrift *t, int64_t value);
void thrift_text_item(struct thrift *t, const char *text);

#endif
