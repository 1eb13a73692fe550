/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Records that arrive while the model waits for a snapshot. */
#ifndef GOTRACE_MODEL_EARLY_H
#define GOTRACE_MODEL_EARLY_H

#include "rawlog/rawlog.h"

struct early_records {
	struct raw_record *records;
	size_t n, capacity;
	char *texts; /* struct raw_text of the records that have texts, in order, 8-aligned */
	size_t ntexts, texts_capacity; /* bytes */
};

/* Both return 0 or -ENOMEM. */
int early_keep(struct early_records *early, const struct raw_record *records, size_t n);
int early_keep_text(struct early_records *early, const struct raw_text *text);
/* Returns the next text after *at bytes, and advances *at. Call it once for each record that has texts. */
const struct raw_text *early_next_text(const struct early_records *early, size_t *at);
/* Returns the index of a snapshot's marker, or `otherwise` if it is missing. */
size_t early_find_marker(const struct early_records *early, uint32_t number, size_t otherwise);
/* Drops the records but keeps the memory. */
void early_clear(struct early_records *early);
void early_free(struct early_records *early);

#endif
