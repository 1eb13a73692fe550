/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/bpf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/record.h"
#include "bpf/gotrace.skel.h"
#include "bpf/gotrace_before512.skel.h"
#include "capture/bpf_threads.h"
#include "capture/fit.h"

/* libbpf tells details by a callback without a context; the last warning goes into our own line. */
static char last_warning[256];

const char *bpf_last_warning(void)
{
	return last_warning;
}

static int keep_warning(enum libbpf_print_level level, const char *fmt, va_list args)
{
	if (level == LIBBPF_WARN)
		vsnprintf(last_warning, sizeof(last_warning), fmt, args);
	last_warning[strcspn(last_warning, "\n")] = '\0';
	return 0;
}

void bpf_keep_warnings(void)
{
	libbpf_set_print(keep_warning);
}

/* The kernel verifies what is loaded, which takes time: only what the plan has a site for. */
static void choose_programs(struct bpf *bpf, const struct bpf_options *options)
{
	bool seconds = options->syscalls && options->features->preempted_calls;
	struct gotrace_bpf *skeleton = bpf->skeleton;

	bpf->attachments.multi = options->features->multi;
	bpf->attachments.old = options->go_minor <= OLD_LAST;
	for (unsigned i = 0; i < options->plan->n && !options->probe_only; i++)
		attach_choose(&bpf->attachments, attach_program(skeleton->obj, &bpf->attachments,
								options->plan->probes[i].site));
	for (unsigned site = SITE_FUNCTION_BEGIN; options->functions && site <= SITE_FUNCTION_END; site++)
		attach_choose(&bpf->attachments,
			      attach_program(skeleton->obj, &bpf->attachments, (uint8_t)site));
	if (options->probe_only)
		attach_choose(&bpf->attachments, skeleton->progs.empty);
	attach_choose(&bpf->attachments, skeleton->progs.marker);
	attach_choose(&bpf->attachments, skeleton->progs.calibrate);
	bpf_program__set_autoload(skeleton->progs.sys_enter, options->syscalls);
	bpf_program__set_autoload(skeleton->progs.sys_exit, options->syscalls);
	bpf_program__set_autoload(skeleton->progs.sys_enter_again, seconds);
	bpf_program__set_autoload(skeleton->progs.sys_exit_again, seconds);
	bpf_program__set_autoload(skeleton->progs.cpu_sample, options->samples);
}

static struct bpf_map *map_of(const struct bpf *bpf, const char *name)
{
	return bpf_object__find_map_by_name(bpf->object, name);
}

/* CPUs that are there or may be switched on: those that only a hypervisor could add are not counted. */
void bpf_plan_rings(struct bpf *bpf, uint32_t bytes, unsigned rings, uint32_t *count, uint32_t *shift)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	bpf->rings = rings_plan(cpus > 0 ? (unsigned)cpus : 1, rings, bytes);
	if (bpf->rings.count == 1) {
		bpf_map__set_max_entries(map_of(bpf, "ring"), bpf->rings.bytes);
		return;
	}
	*count = bpf->rings.count;
	*shift = bpf->rings.shift;
	bpf_map__set_max_entries(map_of(bpf, "rings"), bpf->rings.count);
}

/* Several rings are made here: the object has the array for them. */
int bpf_make_rings(struct bpf *bpf, struct error *err)
{
	int array = bpf_map__fd(map_of(bpf, "rings"));

	if (bpf->rings.count == 1) {
		bpf->ring_fds[0] = bpf_map__fd(map_of(bpf, "ring"));
		return 0;
	}
	for (uint32_t i = 0; i < bpf->rings.count; i++) {
		int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "gotrace_ring", 0, 0, bpf->rings.bytes, NULL);

		if (fd < 0)
			return error_set(err, errno,
					 "cannot make %u rings of %u KiB: %s; try a smaller --ring-size",
					 bpf->rings.count, bpf->rings.bytes >> 10, strerror(errno));
		bpf->ring_fds[i] = fd;
		bpf->rings_made = i + 1;
		if (bpf_map_update_elem(array, &i, &fd, BPF_ANY))
			return error_set(err, errno, "the kernel refused an array of rings: %s",
					 strerror(errno));
	}
	return 0;
}

int bpf_load(struct bpf *bpf, const struct bpf_options *options, struct error *err)
{
	struct fit_bytes old = {.data = NULL};
	int cpus = libbpf_num_possible_cpus(), rc;

	bpf->skeleton = calloc(1, sizeof(*bpf->skeleton));
	if (!bpf->skeleton || gotrace_bpf__create_skeleton(bpf->skeleton))
		return error_set(err, ENOMEM, "out of memory");
	old.data = gotrace_before512_bpf__elf_bytes(&old.size);
	rc = fit_open(options->features, bpf->skeleton->skeleton, &old, err);
	if (rc)
		return rc;
	bpf->object = bpf->skeleton->obj;
	bpf->skeleton->rodata->probed_tasks = !options->features->pointers;
	bpf->skeleton->rodata->preempted_calls = options->features->preempted_calls;
	bpf->cpus = cpus > 0 ? (unsigned)cpus : 1;
	bpf->skeleton->rodata->layout = *options->layout;
	bpf->skeleton->rodata->layout.task_key_type = options->plan->task_key_type;
	bpf->skeleton->rodata->layout.task_type = options->plan->task_type;
	bpf->skeleton->rodata->layout.region_flag_register = options->plan->region_flag_register;
	bpf->skeleton->rodata->alloc_layout = *options->alloc_layout;
	bpf->skeleton->rodata->target_tgid = options->tgid;
	bpf->skeleton->rodata->inner_tids = options->inner_tids;
	bpf->skeleton->rodata->go_minor = options->go_minor;
	bpf->skeleton->rodata->stop_skip = options->go_minor >= 25 ? 0 : 1;
	bpf->skeleton->rodata->quiet_ps = options->go_minor <= 25 || options->cgo;
	bpf->skeleton->rodata->syscall_oldp = options->go_minor <= 25;
	bpf->skeleton->rodata->scan_stacks = options->go_minor <= OLD_LAST;
	bpf->skeleton->rodata->wait_reason_text = options->go_minor <= 10;
	memcpy((void *)bpf->skeleton->rodata->park_skips, options->park_skips, PARK_SKIPS);
	memcpy((void *)bpf->skeleton->rodata->wait_texts, options->wait_texts, sizeof(options->wait_texts));
	choose_programs(bpf, options);
	fit_programs(options->features, bpf->object);
	bpf_plan_rings(bpf, options->ring_bytes, options->rings,
		       (uint32_t *)&bpf->skeleton->rodata->ring_count,
		       (uint32_t *)&bpf->skeleton->rodata->ring_shift);
	rc = gotrace_bpf__load(bpf->skeleton);
	if (rc)
		return error_set(err, -rc, "the kernel refused the BPF programs: %s (%s)", strerror(-rc),
				 last_warning);
	return bpf_make_rings(bpf, err);
}

void bpf_tell_places(struct bpf *bpf, const struct go_places *places)
{
	memcpy((void *)&bpf->skeleton->bss->places, places, sizeof(*places));
}

int bpf_read_losses(const struct bpf *bpf, uint64_t losses[BPF_LOSSES])
{
	int fd = bpf_map__fd(map_of(bpf, "losses"));
	uint64_t *values = calloc(bpf->cpus, sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (uint32_t which = 0; which < BPF_LOSSES; which++) {
		losses[which] = 0;
		if (bpf_map_lookup_elem(fd, &which, values))
			continue;
		for (unsigned cpu = 0; cpu < bpf->cpus; cpu++)
			losses[which] += values[cpu];
	}
	free(values);
	return 0;
}

static uint64_t misses_of(const struct bpf_program *program)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);
	int fd = bpf_program__fd(program);

	return fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) ? info.recursion_misses : 0;
}

/* What a second program is left out of is lost where the first one was, too; calibrate is about gotrace
 * itself. */
uint64_t bpf_read_missed(const struct bpf *bpf)
{
	uint64_t missed = 0, counts[BPF_LOSSES] = {0};
	struct bpf_program *program;

	bpf_object__for_each_program(program, bpf->object)
	{
		if (!attach_is_second(program) && strcmp(bpf_program__name(program), "calibrate") != 0)
			missed += misses_of(program);
	}
	bpf_read_losses(bpf, counts);
	return missed > counts[BPF_HITS_AGAIN] ? missed - counts[BPF_HITS_AGAIN] : 0;
}

/* All entries in one call: an array takes a batch from Linux 5.6 on. */
int bpf_forget_stacks(const struct bpf *bpf)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(bpf->object, "sent_stacks");
	uint32_t n = bpf_map__max_entries(map), count = n;
	uint32_t *keys = calloc(n, sizeof(*keys));
	void *nothing = calloc(n, bpf_map__value_size(map));
	int rc = -ENOMEM;

	for (uint32_t i = 0; keys && i < n; i++)
		keys[i] = i;
	if (keys && nothing)
		rc = bpf_map_update_batch(bpf_map__fd(map), keys, nothing, &count, NULL);
	free(keys);
	free(nothing);
	return rc;
}

void bpf_unload(struct bpf *bpf)
{
	attach_none(&bpf->attachments);
	while (bpf->rings_made)
		close(bpf->ring_fds[--bpf->rings_made]);
	if (bpf->skeleton)
		gotrace_bpf__destroy(bpf->skeleton);
	else
		bpf_unload_threads(bpf);
	bpf->skeleton = NULL;
	bpf->object = NULL;
}
