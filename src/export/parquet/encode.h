/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: encodings of integers (Encodings.md of apache/parquet-format). Pure. */
#ifndef GOTRACE_EXPORT_PARQUET_ENCODE_H
#define GOTRACE_EXPORT_PARQUET_ENCODE_H

#include "export/parquet/bytes.h"

/* Bits that hold all numbers up to most; 0 for 0. */
unsigned pq_width(uint64_t most);
/* Runs and groups of numbers below 2^width, width <= 32: RLE / bit-packing hybrid, without a length. */
void pq_put_hybrid(struct pq_bytes *out, const uint32_t *values, size_t n, unsigned width);
/* DELTA_BINARY_PACKED; narrow: of an INT32 column. */
void pq_put_deltas(struct pq_bytes *out, const int64_t *values, size_t n, bool narrow);

#endif
