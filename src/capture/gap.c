/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/gap.h"

#include <errno.h>

#include "capture/backend.h"
#include "capture/snapshot.h"
#include "util/clock.h"
#include "trace/ops/gap_log.h"

#define MS 1000000ull

/* A pause after a ring was full. */
enum {
	MIN_HOLD_MS = 100,
	MAX_HOLD_MS = 1000,
	RESUMES = 4, /* times as long as going on takes, at least: it may list many goroutines */
};

/* Recording resumes when the outlet is less full than this. */
#define FILL_TO_GO_ON 0.25

static void gap_put_begin(struct capture *capture, uint64_t since, const char *why)
{
	struct gap *gap = &capture->gap;

	gap->state = GAP_CLOSING;
	gap->since_ns = since;
	gap->why = why;
	capture->drain.until_ns = since;
}

/*
 * Where more records are made than can be read, the program is watched for as long as it takes to fill the
 * ring, and then not watched for as long again: equal parts, rather than ever longer pauses.
 */
static void gap_hold(struct gap *gap, uint64_t now)
{
	uint64_t watched = gap->end_ns ? now - gap->end_ns : 0, ns = MIN_HOLD_MS * MS;

	if (watched > ns)
		ns = watched < MAX_HOLD_MS * MS ? watched : MAX_HOLD_MS * MS;
	if (ns < RESUMES * gap->resume_ns)
		ns = RESUMES * gap->resume_ns;
	gap->hold_until_ns = now + ns;
}

static void notice(struct capture *capture, uint64_t now)
{
	const struct capture_control *control = &capture->control;
	uint64_t full = lease_full_since(&control->lease), end = lease_end(&control->lease);
	uint64_t plugin = lease_plugin_since(&control->lease);

	if (full) {
		gap_put_begin(capture, full, GAP_LOG_BEGIN ": records came faster than they could be read");
		gap_hold(&capture->gap, now);
		capture->level_lowered = governor_lower(&capture->governor);
	} else if (plugin || lease_plugins(&control->lease) != capture->plugins.opened) {
		/* Opened just before the last gap ended, or since then. */
		gap_put_begin(capture, plugin ? plugin : now, GAP_LOG_BEGIN ": a plugin was opened");
		lease_close(&control->lease);
		capture->gap.misses = true;
	} else if (atomic_load(&control->is_held_up)) {
		gap_put_begin(capture, now, GAP_LOG_BEGIN ": a process of gotrace's own is stopped");
	} else if (atomic_load(&control->is_over)) {
		gap_put_begin(capture, end < now ? end : now,
			      GAP_LOG_BEGIN ": gotrace was stopped, or did not get a CPU");
	}
}

static int close_gap(struct capture *capture)
{
	struct gap *gap = &capture->gap;
	int rc;

	if (!drain_is_empty(&capture->drain))
		return 0;
	rc = note_put_at(capture, gap->since_ns, LOG_NOTE_GAP | (gap->misses ? LOG_NOTE_INCOMPLETE : 0),
			 gap->why);
	gap->misses = false;
	gap->state = GAP_OPEN;
	return rc;
}

static bool may_end(const struct capture *capture, uint64_t now)
{
	const struct gap *gap = &capture->gap;
	const struct log_outlet *outlet = &capture->options.outlet;

	return !gap->is_paused && !atomic_load(&capture->control.is_held_up) && now >= gap->hold_until_ns &&
	       outlet->fill(outlet->ctx) < FILL_TO_GO_ON;
}

static int gap_put_end(struct capture *capture, uint64_t now, struct error *err)
{
	struct gap *gap = &capture->gap;
	int rc = capture->backend->resume ? capture->backend->resume(capture, err) : 0;

	if (rc)
		return rc;
	gap->state = GAP_NONE;
	gap->end_ns = now;
	capture->stats.unwatched_ns += now > gap->since_ns ? now - gap->since_ns : 0;
	capture->drain.until_ns = 0;
	capture->interrupted = true;
	control_reopen(&capture->control);
	rc = note_put(capture, LOG_NOTE_RESUMED | capture->backend->note_flags(capture), GAP_LOG_END);
	if (rc == 0)
		rc = note_level(capture, capture->backend->note_flags(capture));
	if (rc == 0)
		rc = capture_let_hits_end(capture);
	if (rc == 0)
		rc = capture_snapshot(capture, err);
	gap->resume_ns = now_ns() - now;
	return rc == -ESRCH ? 0 : rc; /* it is exiting */
}

int gap_update(struct capture *capture, uint64_t now, struct error *err)
{
	switch (capture->gap.state) {
	case GAP_NONE:
		notice(capture, now);
		return 0;
	case GAP_CLOSING:
		return close_gap(capture);
	default:
		return may_end(capture, now) ? gap_put_end(capture, now, err) : 0;
	}
}

void gap_pause(struct capture *capture, const char *why)
{
	capture->gap.is_paused = true;
	if (capture->gap.state != GAP_NONE)
		return;
	lease_close(&capture->control.lease);
	gap_put_begin(capture, now_ns(), why);
}

void gap_end_pause(struct capture *capture)
{
	capture->gap.is_paused = false;
}
