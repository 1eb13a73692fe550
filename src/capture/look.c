/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/look.h"

#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>

#include "bpf/gotrace.skel.h"
#include "capture/functions.h"

/* What the trace says when a level begins. */
static const char *const level_texts[] = {
	[LEVEL_EXACT] = "starts of goroutines are probed",
	[LEVEL_LIGHT] = "starts of goroutines are inferred",
	[LEVEL_SPANS] = "starts of goroutines are all that is probed: nobody knows who woke them",
	[LEVEL_FEW_FRAMES] = "stacks are cut short",
	[LEVEL_NO_SYSCALLS] = "system calls are left out",
	[LEVEL_OFF] = "over --max-overhead: nothing is seen from here on",
};

#define HEAP_SEEN   "sweeps and each growth of the heap are traced"
#define HEAP_POLLED "sweeps are left out, and the heap's size is read now and then: they were too many"

/* Several probes can have one site: the first of them stands for it. */
static bool is_first_of_site(const struct probe_plan *plan, unsigned which)
{
	for (unsigned i = 0; i < which; i++) {
		if (plan->probes[i].site == plan->probes[which].site)
			return false;
	}
	return true;
}

/* The sites that tell how a goroutine leaves its thread and who wakes it. */
static bool is_switch(uint8_t site)
{
	return site == SITE_PARK || site == SITE_READY || site == SITE_UNBLOCK || site == SITE_GOSCHED ||
	       site == SITE_GOYIELD || site == SITE_PREEMPTPARK;
}

bool look_at_heap(const struct capture *capture)
{
	return capture->shed.heap && capture->shed.level < LEVEL_SPANS;
}

static bool is_wanted(const struct capture *capture, uint8_t site)
{
	enum level level = capture->shed.level;

	if (level == LEVEL_OFF)
		return false;
	if (site == SITE_EXECUTE)
		return level != LEVEL_LIGHT;
	if (site == SITE_SYS_ENTER || site == SITE_SYS_EXIT)
		return capture->options.syscalls && !capture->options.probe_only && level < LEVEL_NO_SYSCALLS;
	if (is_heap_site(site))
		return look_at_heap(capture);
	return level < LEVEL_SPANS || !is_switch(site);
}

static int attach_one(struct capture *capture, uint8_t site, struct error *err)
{
	const struct capture_options *options = &capture->options;
	struct attachments *attachments = &capture->bpf.attachments;
	struct bpf_object *object = capture->bpf.skeleton->obj;

	if (!is_wanted(capture, site) || attach_is_on(attachments, site))
		return 0;
	if (site == SITE_SYS_ENTER || site == SITE_SYS_EXIT)
		return attach_tracepoint(attachments, object, site, err);
	return attach_site(attachments, object, options->pid, options->target->exe, options->plan, site,
			   options->probe_only ? "empty" : NULL, err);
}

static int attach_wanted(struct capture *capture, struct error *err)
{
	const struct capture_options *options = &capture->options;
	int rc = 0;

	for (unsigned i = 0; i < options->plan->n && rc == 0; i++) {
		if (is_first_of_site(options->plan, i))
			rc = attach_one(capture, options->plan->probes[i].site, err);
	}
	if (rc == 0 && options->functions && is_wanted(capture, SITE_FUNCTION_BEGIN) &&
	    !attach_is_on(&capture->bpf.attachments, SITE_FUNCTION_BEGIN))
		rc = functions_attach(&capture->bpf, options->pid, options->functions, err);
	if (rc == 0)
		rc = attach_one(capture, SITE_SYS_ENTER, err);
	return rc ? rc : attach_one(capture, SITE_SYS_EXIT, err);
}

static void drop_unwanted(struct capture *capture)
{
	bool drop[UINT8_MAX + 1] = {false};

	for (unsigned site = 1; site <= UINT8_MAX; site++)
		drop[site] = !is_wanted(capture, (uint8_t)site);
	attach_drop_sites(&capture->bpf.attachments, drop);
}

/* What the programs themselves do differently. */
static void set_variables(struct capture *capture)
{
	enum level level = capture->shed.level;
	struct gotrace_bpf *skeleton = capture->bpf.skeleton;

	skeleton->bss->most_frames = level >= LEVEL_FEW_FRAMES ? LOOK_FEW_FRAMES : STACK_DEPTH;
	skeleton->bss->spans_only = level >= LEVEL_SPANS;
}

int look_note(struct capture *capture, uint32_t flags, const char *text)
{
	size_t len = strlen(text);
	struct {
		struct log_note head;
		char text[128];
	} record = {.head = {.time = capture_now_ns(), .len = (uint32_t)len, .flags = flags}};

	memcpy(record.text, text, len);
	return drain_put(&capture->drain, LOG_NOTE, &record, sizeof(record.head) + len);
}

static uint32_t note_flags(const struct capture *capture)
{
	enum level now = capture->shed.level;
	uint32_t flags = look_at_heap(capture) ? 0 : LOG_NOTE_NO_HEAP;

	return flags | (now == LEVEL_OFF ? LOG_NOTE_GAP : now >= LEVEL_SPANS ? LOG_NOTE_SPANS : 0);
}

int look_begin(struct capture *capture, struct error *err)
{
	int rc = 0;

	shed_init(&capture->shed, &capture->options.shed, capture->stats.probe_hit_ns);
	set_variables(capture);
	if (capture->options.sample_hz && !capture->options.probe_only)
		rc = sampler_open(&capture->sampler, &capture->bpf, capture->options.sample_hz, err);
	if (rc == 0)
		rc = attach_wanted(capture, err);
	sampler_switch(&capture->sampler, true);
	if (rc == 0 && capture->shed.level >= LEVEL_SPANS)
		rc = look_note(capture, note_flags(capture), level_texts[capture->shed.level]);
	return rc;
}

/* A sweep that is open when its probes go would be told as over when they come again. */
static void forget_sweeps(struct capture *capture)
{
	int fd = bpf_map__fd(capture->bpf.skeleton->maps.sweeps);
	uint32_t tid;

	while (!look_at_heap(capture) && bpf_map_get_next_key(fd, NULL, &tid) == 0) {
		if (bpf_map_delete_elem(fd, &tid))
			return;
	}
}

/* What is added is there before anything is taken off. */
static int set_look(struct capture *capture, enum level before, bool heap_before, struct error *err)
{
	enum level now = capture->shed.level;
	/* Less was seen before than switches of goroutines: what they do now is read anew. */
	bool anew = before == LEVEL_OFF || (before >= LEVEL_SPANS && now < LEVEL_SPANS);
	bool heap = look_at_heap(capture);
	int rc;

	if (now > before)
		set_variables(capture);
	rc = attach_wanted(capture, err);
	if (rc)
		return rc;
	drop_unwanted(capture);
	forget_sweeps(capture);
	set_variables(capture);
	sampler_switch(&capture->sampler, now != LEVEL_OFF);
	rc = 0;
	if (heap != heap_before)
		rc = look_note(capture, note_flags(capture), heap ? HEAP_SEEN : HEAP_POLLED);
	if (rc == 0 && now != before)
		rc = look_note(capture, note_flags(capture) | (anew ? LOG_NOTE_SEEN : 0), level_texts[now]);
	if (rc == 0 && anew)
		rc = capture_snapshot(capture, err);
	return rc == -ESRCH ? 0 : rc; /* it is ending */
}

uint64_t look_extra_hits(const struct capture *capture, uint64_t calls)
{
	uint64_t usual = capture->stats.probe_hit_ns, call = capture->call_hit_ns;

	return usual && call > usual ? calls * (call - usual) / usual : 0;
}

int look_adapt(struct capture *capture, uint64_t now, struct error *err)
{
	struct tally *last = &capture->tally;
	struct tally this = {.ns = now,
			     .hits = drain_hits(&capture->drain) + capture->silent,
			     .syscalls = capture->drain.syscalls,
			     .stops = capture->drain.stops,
			     .heap = capture->drain.heap + capture->silent,
			     .functions = capture->drain.functions,
			     .cpu_ns = watch_cpu_ns(&capture->watch)};
	struct shed_figures figures = {
		.ns = now - last->ns,
		.syscalls = this.syscalls - last->syscalls,
		.hits = this.hits - last->hits - (this.syscalls - last->syscalls),
		.stops = this.stops - last->stops,
		.heap = this.heap - last->heap,
		.cpu_ns = this.cpu_ns - last->cpu_ns,
	};
	enum level before = capture->shed.level;
	bool heap = look_at_heap(capture), first = last->ns == 0;

	figures.hits += look_extra_hits(capture, this.functions - last->functions);
	if (!first && figures.ns < LOOK_SHED_MS * 1000000ull)
		return 0;
	*last = this;
	if (first || !shed_update(&capture->shed, &figures))
		return 0;
	return set_look(capture, before, heap, err);
}
