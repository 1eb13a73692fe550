/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Groups goroutines that do the same, from two listings of a process some seconds apart. */
#ifndef GOTRACE_ANALYSIS_GOROUTINES_GROUPS_H
#define GOTRACE_ANALYSIS_GOROUTINES_GROUPS_H

#include "analysis/goroutines/listing.h"
#include "code/symbol/symbol.h"

enum groups_by {
	BY_STACK,
	BY_LABELS, /* stack and the whole set of labels */
	BY_LABEL,  /* value of one label, and stack */
};

struct groups_options {
	enum groups_by by;
	const char *label; /* of BY_LABEL */
	bool all;          /* also goroutines of the runtime */
};

/* What the goroutines of a group have in common. */
struct group_key {
	uint64_t stack; /* hash; 0 = unknown: it was running, or moved while it was read */
	uint64_t gopc;
	uint64_t startpc; /* if the stack is unknown */
	uint32_t status;  /* enum runtime_status */
	uint32_t reason;  /* of a waiting one: index in listing.reasons */
	uint32_t labels; /* BY_LABELS: number of the set. BY_LABEL: string id of the value, 0 = it has none */
	uint32_t reserved;
};

struct label_count {
	uint32_t labels; /* number of the set */
	uint32_t n;
};

/* The number of goroutines that wait for a lock or channel. */
struct lock_waiters {
	uint32_t name; /* string id: "rwmutex 0xc000012340 (read)" */
	uint32_t n;
};

enum { GROUP_GOIDS = 3, GROUP_LABELS = 8, GROUP_LOCKS = 4 };

struct goroutine_group {
	struct group_key key;
	uint64_t n;
	uint64_t label_total; /* BY_LABEL: goroutines in all groups of the same value */
	/* Goroutines that waited in both listings and, as far as can be seen, did not run in between. */
	uint64_t still;
	/* First waitsince of those that wait, in ns of CLOCK_MONOTONIC; 0 = unknown. */
	uint64_t oldest;
	uint64_t goids[GROUP_GOIDS];             /* the lowest ones */
	uint64_t parent;                         /* of goids[0] */
	bool blocked;                            /* waits for a channel, a select or a lock */
	struct label_count labels[GROUP_LABELS]; /* the first sets found */
	unsigned nlabels;
	uint64_t labelled, other_labels; /* goroutines with labels; of these, with sets not in labels */
	struct lock_waiters locks[GROUP_LOCKS]; /* the first found */
	unsigned nlocks;
	uint64_t other_locks; /* goroutines that wait for locks not in locks */
	uint8_t lock_kind;    /* 1 + enum lock_kind; 0 = not determined yet */
};

struct groups {
	const struct g_listing *now;
	struct groups_options options;
	/* From the end of the first listing to the beginning of the second; 0 = only one listing. */
	uint64_t between_ns;
	/* Goroutines shown, hidden (the runtime's), and shown without their labels. */
	uint64_t total, hidden, labels_lost;
	struct goroutine_group *all; /* largest first; those of one label value are adjacent */
	size_t n, capacity;
	struct lock_waiters *locks; /* of all groups, without (read) and (write); most waiters first */
	size_t nlocks, locks_capacity;
	struct map64 lock_by_name; /* valid until locks is sorted */
	struct strtab *strings;
	struct functab *functab; /* NULL = no names */
	struct symbol *symbol;
	uint64_t seed; /* of the hashes in by_key */
	struct map64 by_key, systems;
};

/*
 * before: the first listing, or NULL if there is only one. tables: n function tables, the executable's
 * LOG_FUNCTAB first; n may be 0. These and now must outlive groups. Returns 0 or -ENOMEM; call groups_free()
 * in either case.
 */
int groups_make(struct groups *groups, const struct g_listing *before, const struct g_listing *now,
		const struct log_record *tables, unsigned n, const struct groups_options *options);
void groups_free(struct groups *groups);

/*
 * BY_LABEL: returns the group's value, valid until the next call for frames; NULL = it does not have the
 * label.
 */
const char *group_label(const struct groups *groups, const struct goroutine_group *group, size_t *len);
/* Returns, for example, "chan receive" for a waiting group, otherwise "running" and so on. */
const char *group_state(const struct groups *groups, const struct goroutine_group *group);
/* True if the runtime's leak profile has found that nothing can wake it. */
bool group_is_leaked(const struct goroutine_group *group);
/* True if some of its goroutines are, or are likely to be, leaked. */
bool group_is_suspect(const struct goroutine_group *group);
/* Stores the frames of its stack, leaf first. Returns their number; 0 = unknown. */
int group_frames(struct groups *groups, const struct goroutine_group *group, struct frame frames[MAX_FRAMES]);
/* Stores where its goroutines were created. Returns false if that is unknown. */
bool group_creator(struct groups *groups, const struct goroutine_group *group, struct frame *frame);
/* Stores where they started. Returns false if that is unknown, or if the stack is known. */
bool group_start(struct groups *groups, const struct goroutine_group *group, struct frame *frame);
/* Returns an upper bound of the oldest goroutine's wait, in ns; 0 = unknown. */
uint64_t group_most_ns(const struct groups *groups, const struct goroutine_group *group);

#endif
