/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: ranges, which last for a time but are not states of a goroutine. */
#ifndef GOTRACE_EXPORT_RANGES_H
#define GOTRACE_EXPORT_RANGES_H

#include "export/timeline.h"
#include "util/map64.h"

/* An open range, or a free slot. */
struct range_slot {
	struct tl_range range; /* id 0: free */
	uint32_t below;        /* the previous open range of the key; if free: the next free slot; 0 = none */
};

struct tl_ranges {
	struct tl_visitor visitor;
	struct range_slot *slots; /* [0] = none */
	size_t n, capacity;
	uint32_t unused;  /* the first free slot */
	struct map64 top; /* key -> the latest open range; 0 = none */
	uint32_t ids;
};

void ranges_init(struct tl_ranges *ranges, const struct tl_visitor *visitor);
void ranges_free(struct tl_ranges *ranges);
/* g: serial of the op's goroutine. Returns 0, -ENOMEM, or the visitor's error. */
int ranges_step(struct tl_ranges *ranges, const struct op *op, uint32_t g);
int ranges_gap_begin(struct tl_ranges *ranges, uint64_t time);
int ranges_gap_end(struct tl_ranges *ranges, uint64_t time);
/* Ends all open ranges, the latest first. */
int ranges_finish(struct tl_ranges *ranges, uint64_t time);

#endif
