/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/look.h"

#include <string.h>

#include "bpf/gotrace.skel.h"

enum { SHED_MS = 100 }; /* between two looks at the cost */

/* Several probes can have one site: the first of them stands for it. */
static bool is_first_of_site(const struct probe_plan *plan, unsigned which)
{
	for (unsigned i = 0; i < which; i++) {
		if (plan->probes[i].site == plan->probes[which].site)
			return false;
	}
	return true;
}

static bool is_wanted(const struct capture *capture, uint8_t site)
{
	return site != SITE_EXECUTE || capture->shed.level == LEVEL_EXACT;
}

static int attach_one(struct capture *capture, uint8_t site, struct error *err)
{
	const struct capture_options *options = &capture->options;

	if (!is_wanted(capture, site))
		return 0;
	return attach_site(&capture->bpf.attachments, capture->bpf.skeleton->obj, options->pid,
			   options->target->exe, options->plan, site, options->probe_only ? "empty" : NULL,
			   err);
}

static int attach_syscalls(struct capture *capture, struct error *err)
{
	const struct capture_options *options = &capture->options;
	struct attachments *attachments = &capture->bpf.attachments;
	struct bpf_object *object = capture->bpf.skeleton->obj;
	int rc;

	if (!options->syscalls || options->probe_only || capture->shed.level >= LEVEL_NO_SYSCALLS)
		return 0;
	rc = attach_tracepoint(attachments, object, SITE_SYS_ENTER, err);
	return rc ? rc : attach_tracepoint(attachments, object, SITE_SYS_EXIT, err);
}

static int attach_all(struct capture *capture, struct error *err)
{
	const struct capture_options *options = &capture->options;
	int rc = 0;

	for (unsigned i = 0; i < options->plan->n && rc == 0; i++) {
		if (is_first_of_site(options->plan, i))
			rc = attach_one(capture, options->plan->probes[i].site, err);
	}
	return rc ? rc : attach_syscalls(capture, err);
}

int look_begin(struct capture *capture, struct error *err)
{
	shed_init(&capture->shed, &capture->options.shed, capture->stats.probe_hit_ns);
	return attach_all(capture, err);
}

static int note(struct capture *capture, uint32_t flags, const char *text)
{
	size_t len = strlen(text);
	struct {
		struct log_note head;
		char text[128];
	} record = {.head = {.time = capture_now_ns(), .len = (uint32_t)len, .flags = flags}};

	memcpy(record.text, text, len);
	return drain_put(&capture->drain, LOG_NOTE, &record, sizeof(record.head) + len);
}

/* Everything off but the marker, or everything on again; what happened meanwhile is not known. */
static int switch_off(struct capture *capture)
{
	attach_drop_sites(&capture->bpf.attachments);
	return note(capture, LOG_NOTE_GAP, "over --max-overhead: nothing is seen from here on");
}

static int switch_on(struct capture *capture, struct error *err)
{
	int rc = attach_all(capture, err);

	if (rc == 0)
		rc = note(capture, LOG_NOTE_SEEN, "seen again");
	return rc ? rc : capture_snapshot(capture, err);
}

static int set_level(struct capture *capture, enum level before, struct error *err)
{
	struct attachments *attachments = &capture->bpf.attachments;
	enum level now = capture->shed.level;
	int rc;

	if (now == LEVEL_OFF)
		return switch_off(capture);
	if (before == LEVEL_OFF)
		return switch_on(capture, err);
	if (!capture->options.syscalls && (now == LEVEL_NO_SYSCALLS || before == LEVEL_NO_SYSCALLS))
		return 0; /* the user has left them out */
	switch (now) {
	case LEVEL_EXACT:
		rc = attach_one(capture, SITE_EXECUTE, err);
		return rc ? rc : note(capture, 0, "starts of goroutines are probed");
	case LEVEL_LIGHT:
		if (before == LEVEL_NO_SYSCALLS) {
			rc = attach_syscalls(capture, err);
			return rc ? rc : note(capture, 0, "system calls are traced again");
		}
		attach_drop_site(attachments, SITE_EXECUTE);
		return note(capture, 0, "starts of goroutines are inferred");
	default:
		attach_drop_site(attachments, SITE_SYS_ENTER);
		attach_drop_site(attachments, SITE_SYS_EXIT);
		return note(capture, 0, "over --max-overhead: system calls are left out");
	}
}

int look_adapt(struct capture *capture, uint64_t now, struct error *err)
{
	struct tally *last = &capture->tally;
	struct tally this = {.ns = now,
			     .records = capture->drain.records + capture->silent,
			     .syscalls = capture->drain.syscalls,
			     .stops = capture->drain.stops,
			     .cpu_ns = watch_cpu_ns(&capture->watch)};
	struct shed_figures figures = {
		.ns = now - last->ns,
		.syscalls = this.syscalls - last->syscalls,
		.hits = this.records - last->records - (this.syscalls - last->syscalls),
		.stops = this.stops - last->stops,
		.cpu_ns = this.cpu_ns - last->cpu_ns,
	};
	enum level before = capture->shed.level;
	bool first = last->ns == 0;

	if (!first && figures.ns < SHED_MS * 1000000ull)
		return 0;
	*last = this;
	if (first || !shed_update(&capture->shed, &figures))
		return 0;
	return set_level(capture, before, err);
}
