/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Goroutines that do the same, from two listings of a process some seconds apart. */
#ifndef GOTRACE_GOROUTINES_GROUPS_H
#define GOTRACE_GOROUTINES_GROUPS_H

#include "goroutines/listing.h"
#include "symbol/symbol.h"

enum groups_by {
	BY_STACK,
	BY_LABELS, /* stack and the whole set of labels */
	BY_LABEL,  /* value of one label, and stack */
};

struct groups_options {
	enum groups_by by;
	const char *label; /* of BY_LABEL */
	bool all;          /* goroutines of the runtime, too */
};

/* What all of a group have in common. */
struct group_key {
	uint64_t stack; /* hash, 0 = not known: it runs, or it moved while it was read */
	uint64_t gopc;
	uint64_t startpc; /* if the stack is not known */
	uint32_t status;  /* enum runtime_status */
	uint32_t reason;  /* index in listing.reasons, of one that waits */
	uint32_t labels; /* BY_LABELS: number of the set. BY_LABEL: string id of the value, 0 = it has none */
	uint32_t reserved;
};

struct label_count {
	uint32_t labels; /* number of the set */
	uint32_t n;
};

/* How many wait for one lock or channel. */
struct lock_waiters {
	uint32_t name; /* string id: "rwmutex 0xc000012340 (read)" */
	uint32_t n;
};

enum { GROUP_GOIDS = 3, GROUP_LABELS = 8, GROUP_LOCKS = 4 };

struct goroutine_group {
	struct group_key key;
	uint64_t n;
	uint64_t label_total; /* BY_LABEL: goroutines in all groups of the same value */
	uint64_t still; /* that waited in both listings, and did not run in between as far as can be seen */
	uint64_t
		oldest; /* the first waitsince of those that wait, CLOCK_MONOTONIC in ns; 0 = none is known */
	uint64_t goids[GROUP_GOIDS];             /* the lowest ones */
	uint64_t parent;                         /* of goids[0] */
	bool blocked;                            /* waits for a channel, a select or a lock */
	struct label_count labels[GROUP_LABELS]; /* the first sets that were met */
	unsigned nlabels;
	uint64_t labelled, other_labels; /* goroutines: with labels; with sets that are not in the list */
	struct lock_waiters locks[GROUP_LOCKS]; /* the first that were met */
	unsigned nlocks;
	uint64_t other_locks; /* goroutines that wait for locks that are not in the list */
	uint8_t lock_kind;    /* 1 + enum lock_kind; 0 = not looked at */
};

struct groups {
	const struct g_listing *now;
	struct groups_options options;
	uint64_t between_ns; /* from the end of the first listing to the beginning of the second; 0 = only one
				listing */
	uint64_t total, hidden, labels_lost; /* goroutines: shown; the runtime's, not shown; of those shown */
	struct goroutine_group *all;         /* the largest first; of one label value one after the other */
	size_t n, capacity;
	struct lock_waiters *locks; /* of all groups, without (read) and (write); the most waiters first */
	size_t nlocks, locks_capacity;
	struct map64 lock_by_name; /* until they are sorted */
	struct strtab *strings;
	struct functab *functab; /* NULL: no names */
	struct symbol *symbol;
	uint64_t seed; /* of the hashes in by_key */
	struct map64 by_key, systems;
};

/*
 * before: NULL if there was only one listing. functab: LOG_FUNCTAB, or NULL. Both, and now, must stay.
 * Returns 0 or -ENOMEM; groups_free either way.
 */
int groups_make(struct groups *groups, const struct g_listing *before, const struct g_listing *now,
		const struct log_record *functab, const struct groups_options *options);
void groups_free(struct groups *groups);

/* BY_LABEL: the value that the group has, until the next call for frames; NULL if it does not have the label.
 */
const char *group_label(const struct groups *groups, const struct goroutine_group *group, size_t *len);
/* "chan receive" of one that waits, else "running" and so on. */
const char *group_state(const struct groups *groups, const struct goroutine_group *group);
/* Whether the runtime's leak profile has found that nothing can wake it. */
bool group_is_leaked(const struct goroutine_group *group);
/* Whether some of it are leaked, or likely to be. */
bool group_is_suspect(const struct goroutine_group *group);
/* Frames of its stack, leaf first, at most MAX_FRAMES; 0 = not known. */
int group_frames(struct groups *groups, const struct goroutine_group *group, struct frame frames[MAX_FRAMES]);
/* Where its goroutines were made. False if that is not known. */
bool group_creator(struct groups *groups, const struct goroutine_group *group, struct frame *frame);
/* Where they began. */
bool group_start(struct groups *groups, const struct goroutine_group *group, struct frame *frame);
/* Upper bound of how long the oldest has waited, in ns; 0 = not known. */
uint64_t group_most_ns(const struct groups *groups, const struct goroutine_group *group);

#endif
