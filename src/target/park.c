/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/park.h"

#include <string.h>

#include "target/private.h"

/*
 * gopark(…, waitReason, traceBlockReason, skip): which go together, in Go 1.22
 * to 1.26. The first row whose text the wait reason begins with counts. A skip
 * that depends on the caller is the smallest: it shows a frame too many rather
 * than hide one.
 */
static const struct park_rule {
	const char *wait, *block;
	uint8_t skip;
} park_rules[] = {
	{"IO wait", "network", 5},           /* netpoll.go */
	{"chan receive (nil", "forever", 2}, /* chan.go */
	{"chan receive", "chan receive", 2},
	{"chan send (nil", "forever", 2},
	{"chan send", "chan send", 2},
	{"select (no cases)", "forever", 1}, /* select.go */
	{"select", "select", 1},
	{"sleep", "sleep", 1},                      /* time.go; mgcscavenge.go */
	{"sync.Cond.Wait", "sync.(*Cond).Wait", 3}, /* sema.go */
	{"sync.", "sync", 4},                       /* sema.go: and for mutexes what sync adds */
	{"semacquire", "sync", 4},
	{"GC assist wait", "GC mark assist wait for work", 2}, /* mgcmark.go */
	{"GC sweep wait", "GC background sweeper wait", 1},    /* mgcsweep.go */
	{"GC scavenge wait", "system goroutine wait", 2},      /* mgcscavenge.go */
	{"GC worker (idle)", "system goroutine wait", 0},      /* mgc.go */
	{"wait for GC cycle", "wait until GC ends", 1},
	{"GC weak to strong", "GC weak to strong wait", 2}, /* mheap.go */
	{"finalizer wait", "system goroutine wait", 1},     /* mfinal.go */
	{"cleanup wait", "system goroutine wait", 1},       /* mcleanup.go */
	{"force gc", "system goroutine wait", 1},           /* proc.go */
	{"GOMAXPROCS updater", "system goroutine wait", 1},
	{"panicwait", "forever", 1},
	{"trace reader", "system goroutine wait", 4}, /* trace.go */
	{"synctest.", "synctest", 0},                 /* synctest.go */
	{"preempted", "preempted", 0},
};

static const struct park_rule *find(const char *wait_reason)
{
	static const struct park_rule none = {"", "unspecified", 1};

	for (unsigned i = 0; wait_reason && i < sizeof(park_rules) / sizeof(park_rules[0]); i++) {
		if (strncmp(wait_reason, park_rules[i].wait, strlen(park_rules[i].wait)) == 0)
			return &park_rules[i];
	}
	return &none;
}

const char *park_block_reason(const char *wait_reason)
{
	return find(wait_reason)->block;
}

/* sync.Mutex.lockSlow has itself left out, and from 1.24 on internal/sync's between, too. */
static uint8_t skip_of(const char *wait_reason, unsigned go_minor)
{
	bool mutex = wait_reason && strcmp(wait_reason, "sync.Mutex.Lock") == 0;

	return (uint8_t)(find(wait_reason)->skip + (mutex ? go_minor >= 24 ? 2 : 1 : 0));
}

void target_park_skips(const struct target *target, uint8_t skips[PARK_SKIPS])
{
	const struct reasons *waits = &target->image->release->reasons[REASON_WAIT];

	for (unsigned i = 0; i < PARK_SKIPS; i++)
		skips[i] = skip_of(i < waits->n ? waits->texts[i] : NULL, target->go_minor);
}
