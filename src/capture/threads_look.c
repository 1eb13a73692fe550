/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How closely threads are looked at: less when it costs too much (--max-overhead). */
#include "capture/threads_look.h"

#include <errno.h>

#include "capture/bpf_threads.h"
#include "capture/functions.h"
#include "capture/look.h"

static enum level last_level(const struct capture *capture)
{
	bool limited = capture->options.shed.max_percent && !capture->options.children;

	return limited ? LEVEL_OFF : LEVEL_SPANS;
}

void threads_look_begin(struct capture *capture)
{
	struct shed_options options = capture->options.shed;

	/* What is above, and the next one, are about goroutines. */
	options.first = LEVEL_SPANS;
	options.last = last_level(capture);
	shed_init(&capture->shed, &options, capture->stats.probe_hit_ns);
}

static const char *text_of(enum level level)
{
	switch (level) {
	case LEVEL_FEW_FRAMES:
		return "stacks are cut short";
	case LEVEL_NO_SYSCALLS:
		return "system calls are left out";
	case LEVEL_OFF:
		return "over --max-overhead: nothing is seen from here on";
	default:
		return "all is seen";
	}
}

static bool sees_calls(const struct capture *capture)
{
	return capture->options.syscalls && capture->shed.level < LEVEL_NO_SYSCALLS;
}

bool threads_look_at_calls(const struct capture *capture)
{
	return sees_calls(capture);
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

static int set_programs(struct capture *capture, enum level before, struct error *err)
{
	enum level now = capture->shed.level;
	int rc;

	bpf_cut_stacks(&capture->bpf, now >= LEVEL_FEW_FRAMES ? LOOK_FEW_FRAMES : 0);
	if (now == LEVEL_OFF)
		bpf_see_nobody(&capture->bpf);
	rc = bpf_see_calls(&capture->bpf, sees_calls(capture), err);
	if (rc == 0)
		rc = set_functions(capture, now != LEVEL_OFF, err);
	if (rc == 0 && before == LEVEL_OFF)
		bpf_see(&capture->bpf, (uint32_t)capture->options.pid);
	sampler_switch(&capture->sampler, now != LEVEL_OFF);
	return rc;
}

static int set_look(struct capture *capture, enum level before, struct error *err)
{
	enum level now = capture->shed.level;
	uint32_t flags = now == LEVEL_OFF ? LOG_NOTE_GAP : before == LEVEL_OFF ? LOG_NOTE_SEEN : 0;
	int rc = set_programs(capture, before, err);

	if (rc)
		return rc;
	rc = look_note(capture, flags | (sees_calls(capture) ? 0 : LOG_NOTE_NO_CALLS), text_of(now));
	if (rc == 0 && before == LEVEL_OFF)
		rc = capture_snapshot(capture, err);
	return rc == -ESRCH ? 0 : rc; /* it is ending */
}

int threads_look_adapt(struct capture *capture, uint64_t now, struct error *err)
{
	struct tally *last = &capture->tally;
	struct tally this = {.ns = now,
			     .hits = drain_hits(&capture->drain) + capture->silent,
			     .functions = capture->drain.functions,
			     .cpu_ns = watch_cpu_ns(&capture->watch)};
	struct shed_figures figures = {.ns = now - last->ns,
				       .hits = this.hits - last->hits +
					       look_extra_hits(capture, this.functions - last->functions),
				       .cpu_ns = this.cpu_ns - last->cpu_ns};
	enum level before = capture->shed.level;
	bool first = last->ns == 0;

	if (last_level(capture) != LEVEL_OFF || (!first && figures.ns < LOOK_SHED_MS * 1000000ull))
		return 0;
	*last = this;
	if (first || !shed_update(&capture->shed, &figures) || capture->shed.level == before)
		return 0;
	return set_look(capture, before, err);
}
