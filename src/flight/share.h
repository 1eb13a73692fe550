/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The recorders of one node keep --max-bytes together. How many they are stands in a page that they can only
 * read: their writers are not trusted, and inherit it.
 */
#ifndef GOTRACE_FLIGHT_SHARE_H
#define GOTRACE_FLIGHT_SHARE_H

#include <stdatomic.h>
#include <stddef.h>

#include "util/error.h"

/* The number of recorders. */
typedef atomic_uint flight_share;

struct flight_share_owner {
	flight_share *number;       /* to change it; NULL in a process that must not */
	const flight_share *shared; /* to read it, here and in the processes forked after this */
};

/* Returns 0 or a negative errno. Needs Linux 5.1 (F_SEAL_FUTURE_WRITE). */
int flight_share_open(struct flight_share_owner *owner, struct error *err);
/* In a forked process: it can then no longer change the number. */
void flight_share_give_up(struct flight_share_owner *owner);
void flight_share_close(struct flight_share_owner *owner);
/* A recorder's part of `all` bytes: at least 1 MiB. share may be NULL: all of it. */
size_t flight_share_part(const flight_share *share, size_t all);

#endif
