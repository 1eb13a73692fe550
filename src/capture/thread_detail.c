/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The level of detail of threads. It is lowered if the cost is too high (--max-overhead). */
#include "capture/thread_detail.h"

#include <errno.h>

#include "capture/bpf_threads.h"
#include "capture/functions.h"
#include "capture/gap.h"
#include "capture/snapshot.h"
#include "capture/tally.h"
#include "trace/ops/gap_log.h"
#include "trace/ops/own_logs.h"

void thread_detail_begin(struct capture *capture)
{
	struct governor_options options = capture->options.governor;

	/* The levels above are about goroutines. */
	options.first = LEVEL_STARTS_ONLY;
	if (options.last < LEVEL_STARTS_ONLY)
		options.last = LEVEL_STARTS_ONLY;
	governor_init(&capture->governor, &options);
	capture->set_level = capture->noted = capture->governor.level;
}

const char *thread_detail_text(enum detail_level level)
{
	switch (level) {
	case LEVEL_FEW_FRAMES:
		return FEW_FRAMES_LOG;
	case LEVEL_NO_SYSCALLS:
		return CALLS_LEFT_OUT_LOG;
	case LEVEL_OFF:
		return GAP_LOG_BEGIN GAP_LOG_LIMIT;
	default:
		return EVERYTHING_LOG;
	}
}

bool thread_detail_has_calls(const struct capture *capture)
{
	return capture->options.syscalls && capture->governor.level < LEVEL_NO_SYSCALLS;
}

uint32_t thread_detail_flags(const struct capture *capture)
{
	return thread_detail_has_calls(capture) ? 0 : LOG_NOTE_NO_CALLS;
}

static int set_functions(struct capture *capture, bool on, struct error *err)
{
	const struct function_plan *plan = capture->options.functions;
	bool drop[UINT8_MAX + 1] = {false};

	if (!plan || !plan->nlists || on == attach_is_on(&capture->bpf.attachments, SITE_FUNCTION_BEGIN))
		return 0;
	if (on)
		return functions_attach(&capture->bpf, capture->options.pid, plan, err);
	drop[SITE_FUNCTION_BEGIN] = drop[SITE_FUNCTION_END] = true;
	attach_drop_sites(&capture->bpf.attachments, drop);
	return 0;
}

static void set_tracing(struct capture *capture, bool on)
{
	if (capture->options.children)
		bpf_pause_tracing(&capture->bpf, !on);
	else if (on)
		bpf_trace_process(&capture->bpf, capture->bpf.outer_tgid);
	else
		bpf_trace_nothing(&capture->bpf);
}

static int set_programs(struct capture *capture, enum detail_level before, struct error *err)
{
	enum detail_level now = capture->governor.level;
	int rc;

	bpf_cut_stacks(&capture->bpf, now >= LEVEL_FEW_FRAMES ? FEW_FRAMES : 0);
	if (now == LEVEL_OFF)
		set_tracing(capture, false);
	rc = bpf_set_syscalls(&capture->bpf, thread_detail_has_calls(capture), err);
	if (rc == 0)
		rc = set_functions(capture, now != LEVEL_OFF, err);
	if (rc == 0 && before == LEVEL_OFF)
		set_tracing(capture, true);
	sampler_switch(&capture->sampler, now != LEVEL_OFF);
	return rc;
}

static int thread_detail_set_level(struct capture *capture, enum detail_level before, struct error *err)
{
	enum detail_level now = capture->governor.level;
	int rc;

	if (now == LEVEL_OFF)
		gap_pause(capture, thread_detail_text(now));
	rc = set_programs(capture, before, err);
	if (now != LEVEL_OFF)
		gap_end_pause(capture);
	if (rc || capture->gap.state != GAP_NONE)
		return rc;
	return note_level(capture, thread_detail_flags(capture));
}

int thread_detail_adapt(struct capture *capture, uint64_t now, struct error *err)
{
	enum detail_level before = capture->set_level;
	struct governor_figures figures;
	int rc;

	if (!tally_take(capture, now, &figures))
		return 0;
	if (capture->gap.state == GAP_NONE || capture->governor.level == LEVEL_OFF)
		governor_update(&capture->governor, &figures);
	capture->level_lowered = false;
	if (capture->governor.level == before)
		return 0;
	capture->set_level = capture->governor.level;
	if (before == LEVEL_OFF)
		progress_learn(capture, false);
	rc = thread_detail_set_level(capture, before, err);
	if (rc == 0 && capture->set_level == LEVEL_OFF)
		progress_learn(capture, true);
	return rc;
}
