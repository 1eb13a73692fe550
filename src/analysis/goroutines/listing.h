/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The goroutines of a process at one moment, from the records of a detailed snapshot (target/target.h). */
#ifndef GOTRACE_ANALYSIS_GOROUTINES_LISTING_H
#define GOTRACE_ANALYSIS_GOROUTINES_LISTING_H

#include "rawlog/rawlog.h"
#include "util/map64.h"

struct listing_goroutine {
	struct log_g g;
	struct log_g_details details;
};

struct listing_stack {
	size_t first; /* in listing.pcs */
	unsigned n;
	bool whole;
};

struct listing_labels {
	size_t first, size; /* in listing.texts */
	unsigned n;
	bool cut;
};

enum { LISTING_REASONS = 256 };

struct g_listing {
	struct log_target target;
	struct log_snapshot head;
	char *reasons[LISTING_REASONS]; /* texts of REASON_WAIT; NULL = unknown */
	struct listing_goroutine *all;
	size_t n, capacity, ndetails;
	struct map64 by_hash; /* of a stack -> index in stacks */
	struct listing_stack *stacks;
	size_t nstacks, stacks_capacity;
	uint64_t *pcs;
	size_t npcs, pcs_capacity;
	struct listing_labels *labels; /* by number - 1 */
	size_t nlabels, labels_capacity;
	uint8_t *texts;
	size_t ntexts, texts_capacity;
};

/* A log_sink; ctx is a struct g_listing, initially zero. -EBADMSG: the records do not belong together. */
int listing_put(void *listing, const struct log_record *record);
/* True if a complete snapshot has arrived. */
bool listing_is_whole(const struct g_listing *listing);
void listing_free(struct g_listing *listing);

struct listing_text {
	const char *bytes; /* no NUL */
	size_t len;
};

struct listing_label {
	struct listing_text key, value;
};

/* Stores the labels of a set (number: log_g_details.labels). Returns how many there are; 0 for number 0. */
unsigned listing_labels(const struct g_listing *listing, uint32_t number,
			struct listing_label labels[LABELS_MAX]);
/* Returns the value of one label; bytes is NULL if the set does not have it. */
struct listing_text listing_label(const struct g_listing *listing, uint32_t number, const char *key);
/* Returns the stack with this hash, or NULL. */
const struct listing_stack *listing_stack(const struct g_listing *listing, uint64_t hash);

#endif
