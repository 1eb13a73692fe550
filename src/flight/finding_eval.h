/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Evaluates 'finding>=LEVEL': at the end of each window, analyses the kept generations as `gotrace report`
 * does a file of them.
 */
#ifndef GOTRACE_FLIGHT_FINDING_EVAL_H
#define GOTRACE_FLIGHT_FINDING_EVAL_H

#include "analysis/analysis.h"
#include "flight/flight.h"
#include "flight/generation_ring.h"
#include "flight/status_page.h"

/* FINDING_BYTES: only the newest generations are analysed, up to this size, or the newest alone. The analysis
 * holds up the records for this time; their buffers must not overflow. */
enum { MAX_RULES_FOUND = 64, FINDING_BYTES = 4 << 20 };

/* A rule that had a finding in a window. */
struct rule_found {
	const char *rule; /* static */
	uint16_t met;     /* one bit per trigger: the finding met its limit */
};

struct finding_eval {
	const struct flight_plan *plan; /* not owned */
	uint64_t since;                 /* ns: when the window began; 0 = none is open */
	/* Of the last window: a rule fires a trigger again when a window was without such a finding. */
	struct rule_found found[MAX_RULES_FOUND];
	unsigned nfound;
	bool has_failed; /* a window could not be analysed, which was said */
};

/*
 * To be called when the generation from start to end (ns) has been stored in the ring. At the end of a
 * window, fills a notice for each trigger that fires, and returns their number. A window that cannot be
 * analysed is dropped; one line says why, the first time.
 */
unsigned finding_eval_generation(struct finding_eval *eval, const struct generation_ring *ring,
				 uint64_t start, uint64_t end, struct match_notice notices[MAX_TRIGGERS]);
/*
 * Evaluates the findings of one window, n of them, the one with the most impact first. Fills a notice of the
 * time `now` for each trigger that fires, and returns their number.
 */
unsigned finding_eval_window(struct finding_eval *eval, const struct analysis_finding *findings, unsigned n,
			     uint64_t now, struct match_notice notices[MAX_TRIGGERS]);

#endif
