/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/probe_set.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>

#include "bpf/gotrace.skel.h"
#include "capture/functions.h"
#include "capture/gap.h"
#include "capture/off_cpu.h"
#include "capture/snapshot.h"
#include "capture/tally.h"
#include "util/clock.h"
#include "trace/ops/gap_log.h"
#include "trace/ops/own_logs.h"

/* The note in the trace that begins each level. */
static const char *const level_texts[] = {
	[LEVEL_EXACT] = STARTS_PROBED_LOG,        [LEVEL_LIGHT] = STARTS_INFERRED_LOG,
	[LEVEL_STARTS_ONLY] = STARTS_ONLY_LOG,    [LEVEL_FEW_FRAMES] = FEW_FRAMES_LOG,
	[LEVEL_NO_SYSCALLS] = CALLS_LEFT_OUT_LOG, [LEVEL_OFF] = GAP_LOG_BEGIN GAP_LOG_LIMIT,
};

#define HEAP_SEEN   "sweeps and each growth of the heap are traced"
#define HEAP_POLLED "sweeps are left out, and the heap's size is sampled: there were too many sweeps"

/* Several probes can have the same site. The first one represents it. */
static bool is_first_of_site(const struct probe_plan *plan, unsigned which)
{
	for (unsigned i = 0; i < which; i++) {
		if (plan->probes[i].site == plan->probes[which].site)
			return false;
	}
	return true;
}

/* Sites at which a goroutine leaves its thread or is woken. */
static bool probe_set_is_switch(uint8_t site)
{
	return site == SITE_PARK || site == SITE_READY || site == SITE_UNBLOCK || site == SITE_GOSCHED ||
	       site == SITE_GOYIELD || site == SITE_PREEMPTPARK;
}

bool probe_set_has_heap(const struct capture *capture)
{
	return capture->governor.heap && capture->governor.level < LEVEL_STARTS_ONLY;
}

static bool probe_set_is_wanted(const struct capture *capture, uint8_t site)
{
	enum detail_level level = capture->governor.level;

	if (site == SITE_PLUGIN)
		return !capture->options.probe_only;
	if (level == LEVEL_OFF)
		return false;
	if (site == SITE_EXECUTE)
		return level != LEVEL_LIGHT;
	if (site == SITE_SYS_ENTER || site == SITE_SYS_EXIT)
		return capture->options.syscalls && !capture->options.probe_only && level < LEVEL_NO_SYSCALLS;
	if (site == SITE_OFF_CPU)
		return capture->bpf.off_cpu && level < LEVEL_FEW_FRAMES;
	if (is_heap_site(site))
		return probe_set_has_heap(capture);
	return level < LEVEL_STARTS_ONLY || !probe_set_is_switch(site);
}

static int attach_interrupts(struct capture *capture, struct error *err)
{
	const struct gotrace_bpf *skeleton = capture->bpf.skeleton;
	const struct bpf_program *programs[] = {
		skeleton->progs.hard_interrupt, skeleton->progs.hard_interrupt_end,
		skeleton->progs.soft_interrupt, skeleton->progs.soft_interrupt_end};
	int rc = 0;

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]) && rc == 0; i++)
		rc = attach_traced(&capture->bpf.attachments, skeleton->obj, programs[i], SITE_OFF_CPU, err);
	return rc;
}

static int attach_off_cpu(struct capture *capture, struct error *err)
{
	int rc = attach_traced(&capture->bpf.attachments, capture->bpf.skeleton->obj, capture->bpf.off_cpu,
			       SITE_OFF_CPU, err);

	if (rc == 0 && capture->options.cpus)
		rc = attach_interrupts(capture, err);
	if (rc == 0)
		off_cpu_find_waiting(capture);
	return rc;
}

static int attach_one(struct capture *capture, uint8_t site, struct error *err)
{
	const struct capture_options *options = &capture->options;
	struct attachments *attachments = &capture->bpf.attachments;
	struct bpf_object *object = capture->bpf.skeleton->obj;

	if (!probe_set_is_wanted(capture, site) || attach_is_on(attachments, site))
		return 0;
	if (site == SITE_SYS_ENTER || site == SITE_SYS_EXIT)
		return attach_tracepoint(attachments, object, site, err);
	if (site == SITE_OFF_CPU)
		return attach_off_cpu(capture, err);
	return attach_site(attachments, object, options->pid, options->target->exe, options->plan, site,
			   options->probe_only ? "empty" : NULL, err);
}

static int attach_in_plugin(struct capture *capture, const struct target_plugin *plugin, uint8_t site,
			    struct error *err)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", plugin->fd);
	return attach_site(&capture->bpf.attachments, capture->bpf.skeleton->obj, capture->options.pid, path,
			   &plugin->plan, site, capture->options.probe_only ? "empty" : NULL, err);
}

/* on: sites that are left out, because they are attached already; NULL = none. */
static int attach_plugin(struct capture *capture, const struct target_plugin *plugin, const bool *on,
			 struct error *err)
{
	int rc = 0;

	for (unsigned i = 0; i < plugin->plan.n && rc == 0; i++) {
		uint8_t site = plugin->plan.probes[i].site;

		if (is_first_of_site(&plugin->plan, i) && probe_set_is_wanted(capture, site) &&
		    !(on && on[site]))
			rc = attach_in_plugin(capture, plugin, site, err);
	}
	return rc;
}

int probe_set_attach_plugin(struct capture *capture, const struct target_plugin *plugin, struct error *err)
{
	struct error inner = {""};
	int rc = attach_plugin(capture, plugin, NULL, &inner);

	return rc ? error_set(err, -rc, "%s: %s", plugin->name, inner.text) : 0;
}

/* Of plugins that have been attached before. */
static int attach_plugins(struct capture *capture, const bool *on, struct error *err)
{
	const struct plugin_set *set = &capture->plugins;
	int rc = 0;

	for (unsigned i = 0; i < set->attached && rc == 0; i++)
		rc = set->all[i] ? attach_plugin(capture, set->all[i], on, err) : 0;
	return rc;
}

static int attach_wanted(struct capture *capture, struct error *err)
{
	const struct capture_options *options = &capture->options;
	bool on[UINT8_MAX + 1];
	int rc = 0;

	for (unsigned site = 0; site <= UINT8_MAX; site++)
		on[site] = attach_is_on(&capture->bpf.attachments, (uint8_t)site);

	for (unsigned i = 0; i < options->plan->n && rc == 0; i++) {
		if (is_first_of_site(options->plan, i))
			rc = attach_one(capture, options->plan->probes[i].site, err);
	}
	if (rc == 0)
		rc = attach_plugins(capture, on, err);
	if (rc == 0 && options->functions && probe_set_is_wanted(capture, SITE_FUNCTION_BEGIN) &&
	    !functions_are_on(&capture->bpf, options->functions))
		rc = functions_attach(&capture->bpf, options->pid, options->functions, err);
	if (rc == 0)
		rc = attach_one(capture, SITE_SYS_ENTER, err);
	if (rc == 0)
		rc = attach_one(capture, SITE_OFF_CPU, err);
	return rc ? rc : attach_one(capture, SITE_SYS_EXIT, err);
}

static void drop_unwanted(struct capture *capture)
{
	bool drop[UINT8_MAX + 1] = {false};

	for (unsigned site = 1; site <= UINT8_MAX; site++)
		drop[site] = !probe_set_is_wanted(capture, (uint8_t)site);
	attach_drop_sites(&capture->bpf.attachments, drop);
}

/* Sets the programs' variables that depend on the level. */
static void set_variables(struct capture *capture)
{
	enum detail_level level = capture->governor.level;
	struct gotrace_bpf *skeleton = capture->bpf.skeleton;

	skeleton->bss->most_frames = level >= LEVEL_FEW_FRAMES ? FEW_FRAMES : STACK_DEPTH;
	skeleton->bss->starts_only = level >= LEVEL_STARTS_ONLY;
}

const char *probe_set_text(enum detail_level level)
{
	return level_texts[level];
}

uint32_t probe_set_flags(const struct capture *capture)
{
	return (probe_set_has_heap(capture) ? 0 : LOG_NOTE_NO_HEAP) |
	       (capture->governor.level >= LEVEL_STARTS_ONLY ? LOG_NOTE_SPANS : 0);
}

int probe_set_begin(struct capture *capture, struct error *err)
{
	int rc = 0;

	governor_init(&capture->governor, &capture->options.governor);
	capture->set_level = capture->noted = capture->governor.level;
	set_variables(capture);
	if (capture->options.sample_hz && !capture->options.probe_only)
		rc = sampler_open(&capture->sampler, &capture->bpf, capture->options.sample_hz, err);
	if (rc == 0)
		rc = attach_wanted(capture, err);
	sampler_switch(&capture->sampler, true);
	if (rc == 0 && capture->governor.level >= LEVEL_STARTS_ONLY)
		rc = note_put(capture, probe_set_flags(capture), level_texts[capture->governor.level]);
	return rc;
}

/* Discards open sweeps once their probes are removed. They would be recorded as ending when the probes are
 * attached again. */
static void forget_sweeps(struct capture *capture)
{
	int fd = bpf_map__fd(capture->bpf.skeleton->maps.sweeps);
	uint32_t tid;

	while (!probe_set_has_heap(capture) && bpf_map_get_next_key(fd, NULL, &tid) == 0) {
		if (bpf_map_delete_elem(fd, &tid))
			return;
	}
}

/* New probes are attached before old ones are removed. */
static int set_probes(struct capture *capture, bool less, struct error *err)
{
	int rc;

	if (less)
		set_variables(capture);
	rc = attach_wanted(capture, err);
	if (rc)
		return rc;
	drop_unwanted(capture);
	forget_sweeps(capture);
	set_variables(capture);
	sampler_switch(&capture->sampler, capture->governor.level != LEVEL_OFF);
	return 0;
}

/* Notes in the log what is recorded from here on. */
static int note_change(struct capture *capture, enum detail_level before, bool heap_before, struct error *err)
{
	enum detail_level now = capture->governor.level;
	/* Switches of goroutines were not recorded before, so their state is read again. */
	bool resumed = before >= LEVEL_STARTS_ONLY && now < LEVEL_STARTS_ONLY,
	     heap = probe_set_has_heap(capture);
	uint32_t flags = probe_set_flags(capture);
	int rc = 0;

	if (heap != heap_before)
		rc = note_put(capture, flags, heap ? HEAP_SEEN : HEAP_POLLED);
	if (rc == 0)
		rc = note_level(capture, flags | (resumed ? LOG_NOTE_RESUMED : 0));
	if (rc == 0 && resumed)
		rc = capture_snapshot(capture, err);
	return rc == -ESRCH ? 0 : rc; /* it is exiting */
}

static int probe_set_set_level(struct capture *capture, enum detail_level before, bool heap_before,
			       struct error *err)
{
	enum detail_level now = capture->governor.level;
	int rc;

	if (now == LEVEL_OFF)
		gap_pause(capture, level_texts[now]);
	rc = set_probes(capture, now > before, err);
	if (now != LEVEL_OFF)
		gap_end_pause(capture);
	/* In a gap nothing is recorded, and a snapshot follows its end. */
	return rc || capture->gap.state != GAP_NONE ? rc : note_change(capture, before, heap_before, err);
}

int probe_set_adapt(struct capture *capture, uint64_t now, struct error *err)
{
	enum detail_level before = capture->set_level;
	bool heap = probe_set_has_heap(capture), changed = capture->level_lowered;
	struct governor_figures figures;
	int rc;

	if (!tally_take(capture, now, &figures))
		return 0;
	/* A gap for another reason says nothing about the cost. */
	if (capture->gap.state == GAP_NONE || capture->governor.level == LEVEL_OFF)
		changed = governor_update(&capture->governor, &figures) || changed;
	if (!changed)
		return 0;
	capture->level_lowered = false;
	capture->set_level = capture->governor.level;
	if (before == LEVEL_OFF)
		progress_learn(capture, false);
	rc = probe_set_set_level(capture, before, heap, err);
	if (rc == 0 && capture->set_level == LEVEL_OFF)
		progress_learn(capture, true);
	return rc;
}
