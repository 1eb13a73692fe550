/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the lease under which the programs record (bpf/lease.bpf.h). */
#ifndef GOTRACE_CAPTURE_LEASE_H
#define GOTRACE_CAPTURE_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/record.h"

struct lease_holder {
	volatile struct lease *lease; /* in the programs' memory; NULL: they have none (--probe-only) */
	uint64_t ticks;               /* duration of a renewal */
	uint64_t tick_ns;
};

enum {
	LEASE_MS = 1000,      /* duration of a renewal */
	LEASE_RENEW_MS = 250, /* interval between renewals: a quarter, so that late ones do no harm */
};

/* The renewal program must be attached to own_renew() before lease_open() is called. */
void lease_init(struct lease_holder *holder, volatile struct lease *lease);
/* Opens a new lease, whatever the state of the previous one. */
void lease_open(const struct lease_holder *holder);
/* Renews the lease. Returns false if it is closed; it stays closed until lease_open(). */
bool lease_renew(const struct lease_holder *holder);
/* Closes the lease. Nothing is recorded from here on. */
void lease_close(const struct lease_holder *holder);
/* Returns when a ring became full, in ns, or 0 if no ring is full. */
uint64_t lease_full_since(const struct lease_holder *holder);
/* Returns when the program opened a plugin, in ns, or 0 if it has not done so since the lease was opened. */
uint64_t lease_plugin_since(const struct lease_holder *holder);
/* Returns the number of plugins opened since the programs were attached. */
uint64_t lease_plugins(const struct lease_holder *holder);
/* Returns when an unrenewed lease expires, in ns, accurate to a tick. */
uint64_t lease_end(const struct lease_holder *holder);

#endif
