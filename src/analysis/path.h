/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the intervals of all goroutines in a time window, and the path through them. */
#ifndef GOTRACE_ANALYSIS_PATH_H
#define GOTRACE_ANALYSIS_PATH_H

#include "analysis/state.h"
#include "analysis/why.h"

/* One activity of a goroutine. */
struct span {
	uint64_t start, end;
	uint64_t waker; /* goid of the goroutine that ended the wait or created it; 0 = unknown */
	uint32_t stack, waker_stack;
	uint32_t lock;       /* index of the lock that it waited for; 0 = unknown */
	uint32_t lock_taken; /* stack where the waker had taken it; 0 = unknown */
	uint8_t activity;
	uint8_t delay; /* if runnable: enum delay, the largest cause */
	bool created;  /* the first span of a goroutine that was created then */
	bool before;   /* it began before the trace */
	bool cut;      /* the trace ended first */
};

/* A part of a goroutine's running time in which it had no CPU. */
struct off_cpu_part {
	uint64_t start, end;
	uint32_t name; /* of the region, "[off CPU: preempted]" */
};

struct track {
	uint64_t goid;
	struct span *spans; /* in order */
	size_t n, capacity;
	struct off_cpu_part *off_cpu; /* in order */
	size_t noff_cpu, off_cpu_capacity;
};

enum leaf_note { NOTE_NONE, NOTE_BEFORE, NOTE_NO_WAKER, NOTE_UNKNOWN, NOTE_DEEP };

/* A part of the path. The parts of one level tile the window of the level above. */
struct path_segment {
	uint64_t start, end, goid;
	uint32_t stack, waker_stack;
	uint32_t lock, lock_taken; /* as in struct span */
	uint64_t waker;
	uint32_t off_cpu; /* name of the region, if it had no CPU; 0 = it had one, or that is not known */
	uint8_t activity, delay, note;
	uint8_t depth;
	uint32_t parent; /* 1 + index of the segment that it explains; 0 = none */
};

/* A sample of the CPU. */
struct why_sample {
	uint64_t time, goid;
	uint32_t stack, row; /* row: of cpu_profile */
};

struct why {
	struct why_question question;
	unsigned pass;
	uint64_t begin, end, goid; /* of the explained instance; ns */
	uint64_t n;                /* instances */
	bool found, oom, overflow;
	uint64_t p40, p60;
	uint64_t typical[ACT_COUNT], ntypical, typical_ns; /* sums over instances between p40 and p60 */
	uint64_t spent[ACT_COUNT];                         /* by the explained instance */

	struct track *tracks;
	size_t ntracks, track_capacity;
	struct map64 track_of;
	size_t nspans, noff_cpu;
	struct why_sample *samples; /* in the window, by time */
	size_t nsamples, sample_capacity;
	struct path_segment *segments; /* in time order, children after their parent */
	size_t nsegments, segment_capacity;
};

int path_find(struct why *why);
const char *why_kind_name(enum why_kind kind);

#endif
