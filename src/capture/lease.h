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
	LEASE_MS = 250,      /* duration of a renewal */
	LEASE_RENEW_MS = 50, /* interval between renewals */
};

/* The renewal's program must be attached to own_renew() by the time of lease_open(). */
void lease_init(struct lease_holder *holder, volatile struct lease *lease);
/* Opens a new lease, whatever the state of the previous one. */
void lease_open(const struct lease_holder *holder);
/* False: the lease is closed, and stays so until lease_open(). */
bool lease_renew(const struct lease_holder *holder);
/* Closes the lease. Nothing is recorded from here on. */
void lease_close(const struct lease_holder *holder);
/* When a ring became full, in ns; 0: no ring is full. */
uint64_t lease_full_since(const struct lease_holder *holder);
/* When an unrenewed lease expired, in ns, accurate to a tick. */
uint64_t lease_end(const struct lease_holder *holder);

#endif
