/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A probe hit, and what its handlers have in common. A handler first brings the state to what the record
 * implies, then takes the step.
 */
#ifndef GOTRACE_MODEL_GO_HIT_H
#define GOTRACE_MODEL_GO_HIT_H

#include "model/state.h"

typedef void (*probe_hit_handler)(struct model *md, const struct probe_hit *hit);

/* Makes the record's goroutine run on the thread that was hit. Returns it, or NULL if that is impossible. */
struct g *force_hit_running(struct model *md, const struct probe_hit *hit);
/*
 * Makes the thread run curg, or scheduler code if curg is 0, when it acts on another goroutine. Returns false
 * if there is no P to run on.
 */
bool force_thread_of_hit(struct model *md, const struct probe_hit *hit, uint64_t curg);
/* The runtime acts on behalf of the record's goroutine, or of none. */
void on_behalf(struct model *md, const struct probe_hit *hit);

/* Whether records of this site name a P that changes hands. */
bool names_a_p(uint8_t site);
/* Whether the thread takes a P for itself or drops its own, rather than taking one from another thread. */
bool moves_own_p(uint8_t site);

#endif
