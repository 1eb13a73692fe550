/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sim_log.h"

#include <string.h>

void sim_log_put(struct sim_log *log, uint32_t type, const void *data, size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = data};
	int rc = log->sink(log->ctx, &record);

	if (rc && !log->failure)
		log->failure = rc;
}

void sim_log_target(struct sim_log *log)
{
	struct log_target target = {
		.pid = 77, .flags = LOG_TARGET_GO, .go_minor = 26, .go_version = "go1.26.8", .comm = "sim"};

	sim_log_put(log, LOG_TARGET, &target, sizeof(target));
}

void sim_log_records(struct sim_log *log)
{
	const struct sim *sim = &log->sim;

	for (; log->fed < sim->n; log->fed++) {
		struct raw_record *rec = &log->sim.out[log->fed];
		_Alignas(8) char text[SIM_TEXT];
		size_t size = sim_text(rec, text);

		if (log->park_stack && rec->site == SITE_PARK)
			rec->stack = log->park_stack;
		if (rec->site != SITE_MARKER && log->lose && sim_random(&log->sim, 1000) < log->lose)
			log->lost.ring_full++;
		else if (size)
			sim_log_put(log, LOG_TEXT, text, size);
		else
			sim_log_put(log, LOG_RECORDS, rec, sizeof(*rec));
	}
}

void sim_log_snapshot(struct sim_log *log)
{
	struct log_snapshot info = {.marker_before = 1, .marker_after = 2, .gomaxprocs = SIM_PS};
	struct log_g gs[SIM_GS];
	struct log_p ps[SIM_PS];
	struct log_m ms[SIM_MS];
	size_t n;

	sim_marker(&log->sim, 1);
	info.time_before = info.time_after = log->sim.now;
	n = sim_snapshot(&log->sim, gs, ps, ms);
	sim_marker(&log->sim, 2);
	sim_log_records(log);
	sim_log_put(log, LOG_SNAPSHOT, &info, sizeof(info));
	sim_log_put(log, LOG_GS, gs, n * sizeof(gs[0]));
	sim_log_put(log, LOG_PS, ps, sizeof(ps));
	sim_log_put(log, LOG_MS, ms, sizeof(ms));
	sim_log_put(log, LOG_SNAPSHOT_END, NULL, 0);
}

void sim_log_losses(struct sim_log *log)
{
	struct log_loss lost = log->lost;

	if (!lost.ring_full)
		return;
	log->lost = (struct log_loss){.ring_full = 0};
	sim_log_put(log, LOG_LOSS, &lost, sizeof(lost));
	sim_log_snapshot(log);
}

void sim_log_boundary(struct sim_log *log)
{
	struct {
		struct log_boundary head;
		struct log_m ms[SIM_MS];
	} boundary = {.head = {.nm = SIM_MS}};
	struct log_g gs[SIM_GS];
	struct log_p ps[SIM_PS];

	sim_log_records(log);
	boundary.head.time_before = boundary.head.time_after = log->sim.now + 1;
	boundary.head.clock = (struct log_clock){.mono_ns = log->sim.now, .wall_sec = 1700000000};
	sim_snapshot(&log->sim, gs, ps, boundary.ms);
	sim_log_put(log, LOG_BOUNDARY, &boundary, sizeof(boundary));
}
