/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The goroutines of a process at one moment: the records of one detailed snapshot (target/target.h), by their
 * use. */
#ifndef GOTRACE_GOROUTINES_LOOK_H
#define GOTRACE_GOROUTINES_LOOK_H

#include "rawlog/rawlog.h"
#include "util/map64.h"

struct look_goroutine {
	struct log_g g;
	struct log_g_details details;
};

struct look_stack {
	size_t first; /* in look.pcs */
	unsigned n;
	bool whole;
};

struct look_labels {
	size_t first, size; /* in look.texts */
	unsigned n;
	bool cut;
};

enum { LOOK_REASONS = 256 };

struct look {
	struct log_target target;
	struct log_snapshot head;
	char *reasons[LOOK_REASONS]; /* texts of REASON_WAIT; NULL = unknown */
	struct look_goroutine *all;
	size_t n, capacity, ndetails;
	struct map64 by_hash; /* of a stack -> index */
	struct look_stack *stacks;
	size_t nstacks, stacks_capacity;
	uint64_t *pcs;
	size_t npcs, pcs_capacity;
	struct look_labels *labels; /* by number - 1 */
	size_t nlabels, labels_capacity;
	uint8_t *texts;
	size_t ntexts, texts_capacity;
};

/* A log_sink; ctx is a struct look, which begins as zero. -EBADMSG: the records do not belong together. */
int look_put(void *look, const struct log_record *record);
/* Whether all of a snapshot has come. */
bool look_is_whole(const struct look *look);
void look_free(struct look *look);

struct look_text {
	const char *bytes; /* no NUL */
	size_t len;
};

struct look_label {
	struct look_text key, value;
};

/* The labels of a set, by their number (log_g_details.labels). Returns how many, 0 for number 0. */
unsigned look_labels(const struct look *look, uint32_t number, struct look_label labels[LABELS_MAX]);
/* The value of one label; bytes is NULL if the set does not have it. */
struct look_text look_label(const struct look *look, uint32_t number, const char *key);
/* The stack with this hash, or NULL. */
const struct look_stack *look_stack(const struct look *look, uint64_t hash);

#endif
