/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the room: log records that others refer to by a key, kept until
 * they are needed. What has not been asked for for long is forgotten.
 */
#ifndef GOTRACE_RAWLOG_STORE_H
#define GOTRACE_RAWLOG_STORE_H

#include "rawlog/rawlog.h"
#include "util/map64.h"

struct item {
	uint64_t key;
	uint32_t version; /* differs from that of any item before with another content */
	struct log_record record;
};

struct shelf {
	struct map64 index; /* key -> place in items */
	struct item **items;
	uint32_t n, capacity;
};

struct store {
	uint32_t limit;   /* items on a shelf; there are two */
	uint32_t version; /* given last */
	struct shelf young, old;
};

/* Keeps a copy, in place of what the key had. The key must not be 0. 0 or -ENOMEM. */
int store_put(struct store *store, uint64_t key, const struct log_record *record);
/* NULL if there is none. Valid until the next call of either. */
const struct item *store_get(struct store *store, uint64_t key);
void store_free(struct store *store);

#endif
