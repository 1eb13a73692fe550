/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Records that came before the snapshot that is waited for. */
#ifndef GOTRACE_MODEL_EARLY_H
#define GOTRACE_MODEL_EARLY_H

#include "rawlog/rawlog.h"

/* The strings of a record with texts: ids. */
struct text_ids {
	uint32_t string, string2;
};

struct early_records {
	struct raw_record *records;
	size_t n, capacity;
	struct text_ids *texts; /* of those records that have texts, in their order */
	size_t ntexts, texts_capacity;
};

/* Both return 0 or -ENOMEM. */
int early_keep(struct early_records *early, const struct raw_record *records, size_t n);
int early_keep_texts(struct early_records *early, struct text_ids ids);
/* Index of a snapshot's marker; `otherwise` if it is not there. */
size_t early_find_marker(const struct early_records *early, uint32_t number, size_t otherwise);
/* Forgets the records, keeps the memory. */
void early_clear(struct early_records *early);
void early_free(struct early_records *early);

#endif
