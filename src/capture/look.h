/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the room: which sites are probed now, and the changes of that. */
#ifndef GOTRACE_CAPTURE_LOOK_H
#define GOTRACE_CAPTURE_LOOK_H

#include "capture/state.h"

/* Attaches what the first level wants. */
int look_begin(struct capture *capture, struct error *err);
/* How much is looked at follows what it costs. A change is told in the log. */
int look_adapt(struct capture *capture, uint64_t now, struct error *err);
/* Whether sweeps and the heap's growing are probed now. */
bool look_at_heap(const struct capture *capture);

/* For threads_look.c, too. */
enum {
	LOOK_SHED_MS = 100,   /* between two looks at the cost */
	LOOK_FEW_FRAMES = 12, /* of a stack, when that must do */
};
int look_note(struct capture *capture, uint32_t flags, const char *text);
/* What so many hits on functions of the user's cost more than others, in hits. */
uint64_t look_extra_hits(const struct capture *capture, uint64_t calls);

#endif
