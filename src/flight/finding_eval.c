/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/finding_eval.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/convert/convert.h"
#include "util/message.h"

/* --- the findings of one window --- */

/* Returns the triggers whose limit the finding meets. One that another finding explains is not the news. */
static uint16_t met_by(const struct flight_plan *plan, const struct analysis_finding *finding)
{
	uint16_t met = 0;

	for (unsigned i = 0; i < plan->ntriggers && !finding->explained_by; i++) {
		if (plan->triggers[i].kind == TRIGGER_FINDING &&
		    analysis_level(finding->level) >= (int)plan->triggers[i].limit)
			met |= (uint16_t)(1u << i);
	}
	return met;
}

static uint16_t met_before(const struct finding_eval *last, const char *rule)
{
	uint16_t met = 0;

	for (unsigned i = 0; i < last->nfound; i++) {
		if (strcmp(last->found[i].rule, rule) == 0)
			met |= last->found[i].met;
	}
	return met;
}

static void note_found(struct finding_eval *eval, const char *rule, uint16_t met)
{
	if (met && eval->nfound < MAX_RULES_FOUND)
		eval->found[eval->nfound++] = (struct rule_found){.rule = rule, .met = met};
}

unsigned finding_eval_window(struct finding_eval *eval, const struct analysis_finding *findings,
			     unsigned nfindings, uint64_t now, struct match_notice notices[MAX_TRIGGERS])
{
	const struct finding_eval last = *eval;
	uint16_t fired = 0;
	unsigned n = 0;

	eval->nfound = 0;
	for (unsigned k = 0; k < nfindings; k++) {
		const struct analysis_finding *finding = &findings[k];
		uint16_t met = met_by(eval->plan, finding);
		uint16_t fires = met & (uint16_t)~met_before(&last, finding->rule) & (uint16_t)~fired;

		note_found(eval, finding->rule, met);
		fired |= fires;
		for (unsigned i = 0; fires >> i; i++) {
			if (!(fires >> i & 1))
				continue;
			notices[n] = (struct match_notice){.time = now, .trigger = i};
			snprintf(notices[n].text, sizeof(notices[n].text), "%s: %s (%s): %s",
				 eval->plan->triggers[i].text, finding->rule, finding->level,
				 finding->text ? finding->text : "");
			n++;
		}
	}
	return n;
}

/* --- the analysis --- */

static int analyse_generation(void *ctx, const struct generation *gen)
{
	return analysis_generation(ctx, gen);
}

static int analyse_bytes(struct analysis *analysis, const uint8_t *bytes, size_t n, struct error *err)
{
	const struct convert_sink sink = {.generation = analyse_generation, .ctx = analysis};
	struct convert_result *result = calloc(1, sizeof(*result));
	int rc;

	if (!result)
		return error_set(err, ENOMEM, "out of memory");
	rc = convert_trace(bytes, n, NULL, &sink, result, err);
	if (rc && result->fault.text[0])
		*err = result->fault;
	free(result);
	return rc ? rc : analysis_end(analysis);
}

/* Returns the analysis of what the ring keeps, or NULL and sets *err. */
static struct analysis *analyse_ring(const struct generation_ring *ring, struct error *err)
{
	const struct analysis_options options = {.name = "", .file = "FILE"};
	struct generation_refs *refs = generation_ring_take(ring);
	struct analysis *analysis = analysis_new(&options);
	uint8_t *bytes = NULL;
	int rc = -ENOMEM;

	err->text[0] = '\0';
	if (refs && analysis) {
		generation_refs_cut(refs, FINDING_BYTES);
		bytes = generation_refs_copy(refs);
	}
	if (bytes)
		rc = analyse_bytes(analysis, bytes, generation_refs_bytes(refs), err);
	free(bytes);
	generation_refs_free(refs);
	if (rc == 0)
		return analysis;
	if (!err->text[0])
		error_set(err, -rc, "%s", strerror(-rc));
	analysis_free(analysis);
	return NULL;
}

static unsigned end_window(struct finding_eval *eval, const struct generation_ring *ring, uint64_t now,
			   struct match_notice notices[MAX_TRIGGERS])
{
	struct analysis_finding findings[ANALYSIS_FINDINGS];
	unsigned n = 0;
	struct error err;
	struct analysis *analysis = analyse_ring(ring, &err);

	if (!analysis) {
		if (!eval->has_failed)
			message("finding: cannot analyse a window, so no trigger fires for it: %s", err.text);
		eval->has_failed = true;
		return 0;
	}
	while (n < ANALYSIS_FINDINGS && analysis_finding(analysis, n, &findings[n]))
		n++;
	n = finding_eval_window(eval, findings, n, now, notices);
	analysis_free(analysis);
	return n;
}

unsigned finding_eval_generation(struct finding_eval *eval, const struct generation_ring *ring,
				 uint64_t start, uint64_t end, struct match_notice notices[MAX_TRIGGERS])
{
	unsigned n = 0;

	if (!triggers_have(eval->plan->triggers, eval->plan->ntriggers, 1u << TRIGGER_FINDING) ||
	    !generation_ring_stats(ring).generations)
		return 0;
	if (!eval->since)
		eval->since = start;
	if (end - eval->since >= eval->plan->window_ns) {
		n = end_window(eval, ring, end, notices);
		eval->since = end;
	}
	return n;
}
