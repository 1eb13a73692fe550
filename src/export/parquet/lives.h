/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: what the tables keep of each living goroutine or thread. */
#ifndef GOTRACE_EXPORT_PARQUET_LIVES_H
#define GOTRACE_EXPORT_PARQUET_LIVES_H

#include "export/timeline.h"
#include "util/map64.h"

/* What a goroutine's time goes to. The order is that of the columns of `request`. */
enum spent {
	SPENT_RUNNING,
	SPENT_RUNNABLE,
	SPENT_SYSCALL,
	SPENT_LOCK, /* waits, as the three below */
	SPENT_NETWORK,
	SPENT_OTHER,
	SPENT_UNWATCHED,
	SPENT_KINDS
};

struct spent_times {
	uint64_t ns[SPENT_KINDS];
};

/* A wait that is long enough for a row of its own. */
struct long_wait {
	uint64_t since, until;
	uint32_t reason, stack; /* of the lake's stacks */
	uint8_t state;
};

static inline bool is_wait(uint8_t state)
{
	return state == G_WAITING || state == G_SYSCALL || state == G_RUNNABLE;
}

struct open_pair {     /* a label that a goroutine has */
	uint32_t pair; /* index in the table of labels */
	bool kept;     /* scratch */
	uint64_t since;
	struct spent_times before;
};

struct lake_life {
	uint32_t serial;           /* 0 = a free slot */
	uint32_t next;             /* the next free slot */
	uint64_t since;            /* ns: of the current interval */
	struct spent_times before; /* its time up to then */
	uint8_t state, kind;    /* enum g_status or LEDGER_UNWATCHED, enum spent: of the current interval */
	uint32_t reason, stack; /* of it; the lake's */
	bool gone;
	uint32_t requests;       /* open ones that it has begun */
	uint32_t lock;           /* string: what it waits for, or is about to; 0 = unknown */
	uint32_t sampled;        /* string: the function of its last CPU sample; 0 = none */
	struct long_wait *waits; /* while it has open requests, in order */
	size_t nwaits, wait_capacity;
	struct open_pair *pairs;
	size_t npairs, pair_capacity;
};

struct lake_lives {
	struct lake_life *all; /* [0] = none */
	size_t n, capacity;
	uint32_t unused; /* the first free slot */
	struct map64 by_serial;
};

int lives_init(struct lake_lives *lives);
void lives_free(struct lake_lives *lives);
/* Returns the goroutine's, or NULL. Valid until the next lives_at(). */
struct lake_life *lives_find(const struct lake_lives *lives, uint32_t serial);
/* The same; adds it if need be. NULL when out of memory. */
struct lake_life *lives_at(struct lake_lives *lives, uint32_t serial);
/* Frees the slot if the goroutine is gone and has no open requests. */
void lives_release(struct lake_lives *lives, struct lake_life *life);
/* The goroutine's time up to now. */
struct spent_times lives_spent(const struct lake_life *life, uint64_t now);

#endif
