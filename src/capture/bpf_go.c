/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/bpf_go.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "bpf/gotrace.skel.h"
#include "bpf/gotrace_before512.skel.h"
#include "capture/bpf_compat.h"
#include "capture/kernel.h"
#include "capture/bpf.h"
#include "capture/functions.h"

#define PROGRAM(name) ((struct gotrace_bpf *)0)->progs.name
#define SITE(name, number, program, go_handler, threads_handler)                                             \
	_Static_assert(sizeof(program) == sizeof(void *), "the program exists");
#include "bpf/site_list.h"
#undef SITE
#undef PROGRAM

static void choose_for_plan(struct bpf *bpf, const struct probe_plan *plan)
{
	struct bpf_object *object = bpf->skeleton->obj;

	for (unsigned i = 0; i < plan->n; i++) {
		const struct probe *probe = &plan->probes[i];

		attach_choose(&bpf->attachments, probe->is_copy ? attach_copy_program(object, probe->site)
								: attach_program(object, probe->site));
	}
}

/* Plugins of older releases are not probed. */
static bool has_plugins(const struct bpf_go_options *options)
{
	return options->plugins->is_possible && options->go_minor >= FIRST_PLUGINS;
}

/* Also chooses what a plugin may need that is opened later, and that not every program has. */
static void choose_for_plugins(struct bpf *bpf, const struct bpf_go_options *options)
{
	const struct plugin_set *plugins = options->plugins;
	static const uint8_t optional[] = {SITE_CORO, SITE_TASK_BEGIN, SITE_TASK_END, SITE_REGION_BEGIN,
					   SITE_LOG};

	if (!has_plugins(options))
		return;
	for (unsigned i = 0; i < plugins->n; i++) {
		if (plugins->all[i])
			choose_for_plan(bpf, &plugins->all[i]->plan);
	}
	for (unsigned i = 0; i < sizeof(optional); i++)
		attach_choose(&bpf->attachments, attach_program(bpf->skeleton->obj, optional[i]));
}

/* Loads only programs whose sites are in the plan, because verification takes time. */
static void choose_programs(struct bpf *bpf, const struct bpf_go_options *options)
{
	bool seconds = options->syscalls && options->features->preempted_calls;
	struct gotrace_bpf *skeleton = bpf->skeleton;

	if (!options->probe_only) {
		choose_for_plan(bpf, options->plan);
		choose_for_plugins(bpf, options);
	}
	for (unsigned site = SITE_FUNCTION_BEGIN; options->functions && site <= SITE_FUNCTION_END; site++)
		attach_choose(&bpf->attachments, attach_program(skeleton->obj, (uint8_t)site));
	for (unsigned site = SITE_REQUEST_BEGIN; options->requests && site <= SITE_REQUEST_END; site++)
		attach_choose(&bpf->attachments, attach_program(skeleton->obj, (uint8_t)site));
	attach_choose(&bpf->attachments, skeleton->progs.marker);
	attach_choose(&bpf->attachments, skeleton->progs.renew);
	attach_choose(&bpf->attachments, skeleton->progs.empty);
	bpf_program__set_autoload(skeleton->progs.sys_enter, options->syscalls);
	bpf_program__set_autoload(skeleton->progs.sys_exit, options->syscalls);
	bpf_program__set_autoload(skeleton->progs.sys_enter_backup, seconds);
	bpf_program__set_autoload(skeleton->progs.sys_exit_backup, seconds);
	bpf_program__set_autoload(skeleton->progs.cpu_sample, options->samples);
	bpf_program__set_autoload(skeleton->progs.list_progress, options->features->tracing);
}

/* Selects one of three programs by the order of the tracepoint's arguments, or none if the kernel's BTF
 * cannot be read. */
static void choose_off_cpu(struct bpf *bpf, const struct bpf_go_options *options)
{
	struct gotrace_bpf *skeleton = bpf->skeleton;
	enum switch_form form;
	struct error none;

	if (!options->off_cpu || options->probe_only ||
	    kernel_switch_form(options->features->btf, &form, &none)) {
		bpf_map__set_max_entries(skeleton->maps.off_cpu_slots, 1);
		return;
	}
	bpf->off_cpu = form == SWITCH_STATE_LAST    ? skeleton->progs.off_cpu
		       : form == SWITCH_STATE_FIRST ? skeleton->progs.off_cpu_516
						    : skeleton->progs.off_cpu_old;
	bpf_program__set_autoload(bpf->off_cpu, true);
	bpf_program__set_autoload(skeleton->progs.list_waiting, options->features->tracing);
	bpf_program__set_autoload(skeleton->progs.hard_interrupt, options->cpus);
	bpf_program__set_autoload(skeleton->progs.hard_interrupt_end, options->cpus);
	bpf_program__set_autoload(skeleton->progs.soft_interrupt, options->cpus);
	bpf_program__set_autoload(skeleton->progs.soft_interrupt_end, options->cpus);
}

static void destroy(struct bpf *bpf)
{
	gotrace_bpf__destroy(bpf->skeleton);
	bpf->skeleton = NULL;
}

/* Sets the programs' constants. */
static void set_constants(struct gotrace_bpf *skeleton, const struct bpf_go_options *options)
{
	struct gotrace_bpf__rodata *constants = skeleton->rodata;

	constants->probed_tasks = !options->features->pointers;
	constants->preempted_calls = options->features->preempted_calls;
	constants->runs_returns = options->features->register_writes;
	constants->has_shadow_stacks = options->features->shadow_stacks;
	constants->layout = *options->layout;
	constants->layout.task_key_type = options->plan->task_key_type;
	constants->layout.task_type = options->plan->task_type;
	constants->layout.region_flag_register = options->plan->region_flag_register;
	if (!options->plan->bubbles)
		constants->layout.g_bubble = LAYOUT_ABSENT; /* no hit needs to look for a bubble */
	constants->g_labels = options->plan->g_labels;
	constants->alloc_layout = *options->alloc_layout;
	constants->target_tgid = constants->progress_tgid = options->tgid;
	constants->inner_tids = options->inner_tids;
	constants->go_minor = options->go_minor;
	constants->stop_skip = options->go_minor >= 25 ? 0 : 1;
	constants->hidden_p_changes = options->go_minor <= 25 || options->cgo;
	constants->watch_cpus = options->cpus;
	constants->syscall_oldp = options->go_minor <= 25;
	constants->may_have_plugins = has_plugins(options);
	constants->wait_reason_text = options->go_minor <= 10;
	memcpy((void *)constants->park_skips, options->park_skips, PARK_SKIPS);
	memcpy((void *)constants->wait_texts, options->wait_texts, sizeof(options->wait_texts));
}

static bool has_copies(const struct probe_plan *plan)
{
	for (unsigned i = 0; i < plan->n; i++) {
		if (plan->probes[i].is_copy)
			return true;
	}
	return false;
}

static int load(struct bpf *bpf, const struct bpf_go_options *options, struct error *err)
{
	struct compat_variants variants = {.before_512 = {.data = NULL}};
	int rc;

	if (has_copies(options->plan) && !options->features->cookies)
		return error_set(
			err, ENOTSUP,
			"the compiler inlined probed functions (profile-guided optimisation), and probes "
			"there need Linux 5.15; build the program with -pgo=off, or trace it as threads "
			"(--as c)");
	bpf->destroy = destroy;
	bpf->skeleton = calloc(1, sizeof(*bpf->skeleton));
	if (!bpf->skeleton || gotrace_bpf__create_skeleton(bpf->skeleton))
		return error_set(err, ENOMEM, "out of memory");
	variants.before_512.data = gotrace_before512_bpf__elf_bytes(&variants.before_512.size);
	rc = compat_open(options->features, bpf->skeleton->skeleton, &variants, err);
	if (rc)
		return rc;
	bpf_begin(bpf, bpf->skeleton->obj, options->features);
	set_constants(bpf->skeleton, options);
	values_prepare(bpf, options->values, (bool *)&bpf->skeleton->rodata->reads_values);
	choose_programs(bpf, options);
	choose_off_cpu(bpf, options);
	compat_choose(options->features, bpf->object);
	bpf_plan_rings(bpf, options->ring_bytes, options->rings, &RING_CONSTANTS(bpf->skeleton->rodata));
	rc = gotrace_bpf__load(bpf->skeleton);
	if (rc)
		return error_set(err, -rc, "the kernel refused the BPF programs: %s (%s)", strerror(-rc),
				 libbpf_log_last());
	if (!options->probe_only)
		bpf->lease = (volatile struct lease *)&bpf->skeleton->bss->lease;
	return bpf_make_rings(bpf, err);
}

/* If loading fails with the sched_switch program, tries again without it. */
int bpf_load_go(struct bpf *bpf, const struct bpf_go_options *options, struct error *err)
{
	struct bpf_go_options less = *options;
	int rc = load(bpf, options, err);

	if (rc == 0 || !bpf->off_cpu)
		return rc;
	destroy(bpf);
	bpf->off_cpu = NULL;
	less.off_cpu = less.cpus = false;
	return load(bpf, &less, err);
}

void bpf_set_places(struct bpf *bpf, const struct go_places *places)
{
	memcpy((void *)&bpf->skeleton->bss->places, places, sizeof(*places));
}
