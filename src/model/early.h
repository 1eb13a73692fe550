/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Records that arrive while the model waits for a snapshot. */
#ifndef GOTRACE_MODEL_EARLY_H
#define GOTRACE_MODEL_EARLY_H

#include "rawlog/rawlog.h"

/* String ids of a record with texts. */
struct text_ids {
	uint32_t string, string2;
};

struct early_records {
	struct raw_record *records;
	size_t n, capacity;
	struct text_ids *texts; /* of the records that have texts, in order */
	size_t ntexts, texts_capacity;
};

/* Both return 0 or -ENOMEM. */
int early_keep(struct early_records *early, const struct raw_record *records, size_t n);
int early_keep_texts(struct early_records *early, struct text_ids ids);
/* Returns the index of a snapshot's marker, or `otherwise` if it is missing. */
size_t early_find_marker(const struct early_records *early, uint32_t number, size_t otherwise);
/* Drops the records but keeps the memory. */
void early_clear(struct early_records *early);
void early_free(struct early_records *early);

#endif
