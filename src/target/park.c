/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */

#include <string.h>

#include "target/private.h"
#include "target/reasons.h"
#include "target/remote.h"

/*
 * Arguments of gopark(…, waitReason, traceBlockReason, skip) that go together, in Go 1.4 to 1.27. The first
 * row for the release whose `wait` is a prefix of the wait reason applies. If the skip depends on the caller,
 * it is the smallest: one frame too many is better than one missing.
 */
static const struct park_rule {
	const char *wait, *block;
	uint8_t skip;
	uint8_t before; /* only releases before this minor release; 0 = all */
} park_rules[] = {
	{"IO wait", "network", 5, 0},           /* netpoll.go */
	{"chan receive (nil", "forever", 2, 0}, /* chan.go */
	{"chan receive", "chan receive", 3, 14},
	{"chan receive", "chan receive", 2, 0},
	{"chan send (nil", "forever", 2, 0},
	{"chan send", "chan send", 3, 14},
	{"chan send", "chan send", 2, 0},
	{"select (no cases)", "forever", 1, 0}, /* select.go */
	{"select", "select", 2, 9},
	{"select", "select", 1, 0},
	{"sleep", "sleep", 2, 14},
	{"sleep", "sleep", 1, 0},                      /* time.go; mgcscavenge.go */
	{"sync.Cond.Wait", "sync.(*Cond).Wait", 3, 0}, /* sema.go */
	{"sync.", "sync", 4, 0},                       /* sema.go; for mutexes see skip_of() */
	{"semacquire", "sync", 4, 0},
	{"GC assist wait", "GC mark assist wait for work", 2, 0}, /* mgcmark.go */
	{"GC sweep wait", "GC background sweeper wait", 1, 0},    /* mgcsweep.go */
	{"GC scavenge wait", "system goroutine wait", 1, 19},
	{"GC scavenge wait", "system goroutine wait", 2, 0}, /* mgcscavenge.go */
	{"GC worker (idle)", "system goroutine wait", 0, 0}, /* mgc.go */
	{"wait for GC cycle", "wait until GC ends", 1, 0},
	{"GC weak to strong", "GC weak to strong wait", 2, 0}, /* mheap.go */
	{"finalizer wait", "system goroutine wait", 1, 0},     /* mfinal.go */
	{"cleanup wait", "system goroutine wait", 1, 0},       /* mcleanup.go */
	{"force gc", "system goroutine wait", 1, 0},           /* proc.go */
	{"GOMAXPROCS updater", "system goroutine wait", 1, 0},
	{"panicwait", "forever", 1, 0},
	{"trace reader", "system goroutine wait", 2, 0},           /* trace.go */
	{"semarelease", "sync.(*Cond).Wait", 3, 0},                /* up to 1.6: sema.go */
	{"timer goroutine (idle)", "system goroutine wait", 1, 0}, /* up to 1.13: time.go */
	{"mark worker (idle)", "system goroutine wait", 0, 0},     /* 1.5: mgc.go */
	{"mark wait (idle)", "system goroutine wait", 1, 0},
	{"Concurrent GC wait", "system goroutine wait", 1, 0},
	{"synctest.", "synctest", 0, 0}, /* synctest.go */
	{"preempted", "preempted", 0, 0},
};

static const struct park_rule unknown = {"", "unspecified", 1, 0};

static const struct park_rule *park_find(const char *wait_reason, unsigned go_minor)
{
	for (unsigned i = 0; wait_reason && i < sizeof(park_rules) / sizeof(park_rules[0]); i++) {
		const struct park_rule *rule = &park_rules[i];

		if ((!rule->before || go_minor < rule->before) &&
		    strncmp(wait_reason, rule->wait, strlen(rule->wait)) == 0)
			return rule;
	}
	return &unknown;
}

/* Whether the v1 tracer has an event for the reason; it uses the general block event for all others. */
static bool is_v1_reason(const char *wait_reason, const char *block, unsigned go_minor)
{
	static const char *const others[] = {"system goroutine wait", "GC background sweeper wait",
					     "wait until GC ends", "preempted"};

	/* The event for assists was added in 1.8. */
	if (go_minor < 8 && strncmp(wait_reason, "GC assist", strlen("GC assist")) == 0)
		return false;
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strcmp(block, others[i]) == 0)
			return false;
	}
	return true;
}

const char *park_block_reason(const char *wait_reason, unsigned go_minor)
{
	const char *block = park_find(wait_reason, go_minor)->block;

	return !wait_reason || go_minor >= 22 || is_v1_reason(wait_reason, block, go_minor) ? block
											    : "unspecified";
}

bool park_is_parked(const char *wait_reason)
{
	return park_find(wait_reason, 0) != &unknown;
}

/* sync.Mutex.lockSlow skips itself, and from 1.24 on also the internal/sync frame in between. */
static uint8_t skip_of(const char *wait_reason, unsigned go_minor)
{
	bool mutex = wait_reason && strcmp(wait_reason, "sync.Mutex.Lock") == 0;

	return (uint8_t)(park_find(wait_reason, go_minor)->skip + (mutex ? go_minor >= 24 ? 2 : 1 : 0));
}

void target_park_skips(const struct target *target, uint8_t skips[PARK_SKIPS])
{
	const struct reasons *waits;

	if (target->remote) {
		target->remote->park_skips(target, skips);
		return;
	}
	waits = release_reasons(target->image->release, REASON_WAIT);
	for (unsigned i = 0; i < PARK_SKIPS; i++)
		skips[i] = skip_of(i < waits->n ? waits->texts[i] : NULL, target->go_minor);
}

void target_wait_texts(const struct target *target, struct wait_text texts[WAIT_TEXTS])
{
	const struct reasons *waits;

	if (target->remote) {
		target->remote->wait_texts(target, texts);
		return;
	}
	waits = release_reasons(target->image->release, REASON_WAIT);
	memset(texts, 0, WAIT_TEXTS * sizeof(*texts));
	for (unsigned i = 0; i < WAIT_TEXTS && i < waits->n && target->go_minor <= 10; i++) {
		size_t len = waits->texts[i] ? strlen(waits->texts[i]) : 0;

		texts[i].len = len;
		memcpy(&texts[i].begin, waits->texts[i] ? waits->texts[i] : "",
		       len < sizeof(texts[i].begin) ? len : sizeof(texts[i].begin));
	}
}
