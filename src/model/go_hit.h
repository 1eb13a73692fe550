/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A probe hit, and what the handlers of hits have in common. A handler first makes the state what the record
 * says it was, then takes the step.
 */
#ifndef GOTRACE_MODEL_GO_HIT_H
#define GOTRACE_MODEL_GO_HIT_H

#include "model/state.h"

/* A record with its pointers looked up. */
struct probe_hit {
	const struct raw_record *rec;
	struct m *m; /* the thread that was hit */
	struct p *p; /* its P, or the P concerned; NULL if there is none or it is not known */
	uint32_t stack;
};

typedef void (*probe_hit_handler)(struct model *md, const struct probe_hit *hit);

/* The goroutine that the record is about, running on the thread that was hit; NULL if that cannot be. */
struct g *running(struct model *md, const struct probe_hit *hit);
/*
 * The thread runs curg, or scheduler code if that is 0, when something is done
 * to another goroutine. False if curg should run but has no P to run on.
 */
bool acting(struct model *md, const struct probe_hit *hit, uint64_t curg);
/* The runtime works on behalf of its goroutine, or of none. */
void on_behalf(struct model *md, const struct probe_hit *hit);

/* Its record is about a P that changes hands. */
bool names_a_p(uint8_t site);
/* Its thread takes a P or drops its own: not one that it takes from another. */
bool moves_own_p(uint8_t site);

#endif
