/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/snapshot.h"

#include "capture/backend.h"
#include "capture/probe_set.h"
#include "util/clock.h"

enum {
	MARKER_TRIES = 200, /* ms to wait for a marker to arrive */
	HITS_END_MS = 10,
};

int capture_drain(struct capture *capture)
{
	int rc = drain_all(&capture->drain);

	/* Not during capture_start(). */
	if (capture->is_polled)
		control_beat(&capture->control);
	return rc;
}

/* Drains until the marker arrives, because writes of records reserved before it may be unfinished. */
static int drain_past_marker(struct capture *capture, uint32_t number)
{
	for (int tries = 0; tries < MARKER_TRIES; tries++) {
		int rc = capture_drain(capture);

		if (rc < 0 || capture->drain.last_marker >= number)
			return rc < 0 ? rc : 0;
		watch_wait(&capture->watch, 1);
	}
	return 0; /* the marker itself was lost: the model then uses the times */
}

int capture_snapshot(struct capture *capture, struct error *err)
{
	const struct backend *backend = capture->backend;
	uint32_t markers[2] = {capture->markers + 1, capture->markers + 2};
	void *snapshot = NULL;
	int rc;

	capture->markers += 2;
	if (!capture->stats.start_ns)
		capture->stats.start_ns = now_ns();
	own_marker(markers[0]);
	rc = backend->read_snapshot(capture, &snapshot, err);
	own_marker(markers[1]);
	if (rc == 0)
		rc = drain_past_marker(capture, markers[1]);
	if (rc == 0)
		rc = backend->put_snapshot(capture, snapshot, markers, err);
	backend->free_snapshot(snapshot);
	return rc;
}

/* A small ring of busy CPUs fills up in this time, so it is drained meanwhile. */
int capture_let_hits_end(struct capture *capture)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	int rc = 0;

	for (int waited = 0; waited < HITS_END_MS && rc >= 0; waited++) {
		nanosleep(&pause, NULL);
		rc = capture_drain(capture);
	}
	return rc < 0 ? rc : 0;
}
