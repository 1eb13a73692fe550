/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/gap.h"

#include <stdio.h>
#include <string.h>

#include "model/annotator.h"
#include "model/step.h"
#include "trace/ops/gap_log.h"
#include "trace/ops/own_logs.h"
#include "trace/ops/own_names.h"

static void leave_running(struct model *md, struct m *m, uint32_t reason)
{
	if (m->g)
		md->front->end_call(md, m->g);
	if (m->g && m->g->status == G_RUNNING)
		step_go_block(md, m, reason, 0);
	if (m->p && !m->g && m->p->status == P_RUNNING)
		step_proc_stop(md, m);
}

void gap_begin(struct model *md, uint64_t since)
{
	uint32_t reason = string_id(md, GAP_REASON);
	enum provenance before = md->ops.provenance;

	if (md->gap_since)
		return; /* only in a damaged log */
	md->gap_since = since;
	md->ops.provenance = INFERRED;
	for (unsigned i = 0; i < md->entities.nms; i++) {
		if (md->entities.ms[i] && md->entities.ms[i] != md->synthetic.m)
			leave_running(md, md->entities.ms[i], reason);
	}
	md->ops.provenance = before;
}

void gap_note(struct model *md, const struct log_note *note)
{
	struct notes_in_force *notes = &md->notes_in_force;
	char text[sizeof(notes->gap)] = GAP_LOG_BEGIN; /* a reason may be too long */
	unsigned missing;

	if (note->len < sizeof(text))
		snprintf(text, sizeof(text), "%.*s", (int)note->len, (const char *)(note + 1));
	if (note->flags & LOG_NOTE_GAP)
		memcpy(notes->gap, text, sizeof(text));
	else if (note->flags & LOG_NOTE_RESUMED)
		notes->gap[0] = '\0';
	else if (left_out_log_parse(OWN_LOG_CATEGORY, text, &missing))
		snprintf(notes->detail, sizeof(notes->detail), "%s", missing ? text : "");
}

static void write_again(struct model *md, const char *text)
{
	if (*text)
		model_write_log(md, OWN_LOG_CATEGORY, string_id(md, text));
}

void gap_note_again(struct model *md)
{
	if (!md->options.any_first || md->generation.number == 1)
		return;
	write_again(md, md->notes_in_force.detail);
	write_again(md, md->notes_in_force.gap);
}

void gap_end(struct model *md, uint64_t now)
{
	if (md->gap_since && now > md->gap_since)
		md->totals.unwatched_ns += now - md->gap_since;
	md->gap_since = 0;
}

void gap_end_of_trace(struct model *md, const struct log_record *end)
{
	uint64_t now = ((const struct log_end *)end->data)->clock.mono_ns;
	enum provenance before = md->ops.provenance;

	if (md->gap_since && md->generation.number && now > md->ops.now) {
		md->ops.now = now;
		md->ops.provenance = INFERRED;
		annotators_learn(&md->annotators, end);
		md->ops.provenance = before;
	}
	gap_end(md, now);
}
