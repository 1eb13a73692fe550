/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The target's reasons and kinds, as string ids: why a goroutine waits or stops, why the world is stopped. */
#ifndef GOTRACE_MODEL_REASONS_H
#define GOTRACE_MODEL_REASONS_H

#include "rawlog/rawlog.h"
#include "util/strtab.h"

enum { MAX_REASONS = 64, REASON_TABLES = 6 };

struct reason_table {
	struct strtab *strings;                   /* not owned */
	uint32_t ids[REASON_TABLES][MAX_REASONS]; /* by enum log_reason_table */
	uint32_t unspecified;                     /* 0 = not needed yet */
	uint8_t park_skips[MAX_REASONS];          /* LOG_PARK_SKIPS */
};

void reasons_add(struct reason_table *reasons, const struct log_reason *reason);
void reasons_learn_skips(struct reason_table *reasons, const struct log_record *record);
/* Returns the reason "unspecified". */
uint32_t reason_unspecified(struct reason_table *reasons);

/* Returns 0 if the log has not sent it. */
static inline uint32_t reason_id(const struct reason_table *reasons, unsigned table, uint64_t index)
{
	return index < MAX_REASONS ? reasons->ids[table][index] : 0;
}

/* Returns the number of frames to skip at the leaf of a waiting goroutine's stack. */
static inline uint8_t reason_skip(const struct reason_table *reasons, uint64_t waitreason)
{
	return waitreason < MAX_REASONS ? reasons->park_skips[waitreason] : 0;
}

#endif
