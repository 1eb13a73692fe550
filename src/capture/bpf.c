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

void bpf_begin(struct bpf *bpf, struct bpf_object *object, const struct features *features)
{
	int cpus = libbpf_num_possible_cpus();

	bpf->features = features;
	bpf->object = object;
	bpf->cpus = cpus > 0 ? (unsigned)cpus : 1;
	attach_init(&bpf->attachments);
	bpf->attachments.multi = features->multi;
}

static struct bpf_map *bpf_map_of(const struct bpf *bpf, const char *name)
{
	return bpf_object__find_map_by_name(bpf->object, name);
}

/* Possible CPUs, which glibc's sysconf(_SC_NPROCESSORS_CONF) counts, may be far more than the machine has:
 * all that a hypervisor could add. */
static unsigned count_present_cpus(void)
{
	char list[4096] = "";
	FILE *file = fopen("/sys/devices/system/cpu/present", "re");
	unsigned cpus = file && fgets(list, sizeof(list), file) ? rings_count_cpus(list) : 0;
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	if (file)
		fclose(file);
	return cpus ? cpus : online > 0 ? (unsigned)online : 1;
}

/* A CPU that is added later uses the last ring (bpf/ring.bpf.h, output()). */
void bpf_plan_rings(struct bpf *bpf, uint32_t bytes, unsigned rings, const struct ring_constants *constants)
{
	bpf->rings = rings_plan(count_present_cpus(), rings, bytes);
	*constants->wake_at = rings_wake_at(&bpf->rings);
	if (bpf->rings.count == 1) {
		bpf_map__set_max_entries(bpf_map_of(bpf, "ring"), bpf->rings.bytes);
		return;
	}
	*constants->count = bpf->rings.count;
	*constants->shift = bpf->rings.shift;
	bpf_map__set_max_entries(bpf_map_of(bpf, "rings"), bpf->rings.count);
}

/* With several rings, the object contains only an array for them, and they are created here. */
int bpf_make_rings(struct bpf *bpf, struct error *err)
{
	int array = bpf_map__fd(bpf_map_of(bpf, "rings"));

	if (bpf->rings.count == 1) {
		bpf->ring_fds[0] = bpf_map__fd(bpf_map_of(bpf, "ring"));
		return 0;
	}
	for (uint32_t i = 0; i < bpf->rings.count; i++) {
		int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "gotrace_ring", 0, 0, bpf->rings.bytes, NULL);

		if (fd < 0)
			return error_set(err, errno,
					 "cannot create %u rings of %u KiB: %s; try a smaller --ring-size",
					 bpf->rings.count, bpf->rings.bytes >> 10, strerror(errno));
		bpf->ring_fds[i] = fd;
		bpf->rings_made = i + 1;
		if (bpf_map_update_elem(array, &i, &fd, BPF_ANY))
			return error_set(err, errno, "cannot create the array of rings: %s", strerror(errno));
	}
	return 0;
}

int bpf_read_counters(const struct bpf *bpf, uint64_t counts[COUNTERS])
{
	int fd = bpf_map__fd(bpf_map_of(bpf, "counters"));
	uint64_t(*values)[COUNTERS] = calloc(bpf->cpus, sizeof(*values));
	uint32_t key = 0;

	if (!values)
		return -ENOMEM;
	memset(counts, 0, COUNTERS * sizeof(*counts));
	if (bpf_map_lookup_elem(fd, &key, values))
		memset(values, 0, bpf->cpus * sizeof(*values));
	for (unsigned cpu = 0; cpu < bpf->cpus; cpu++) {
		for (unsigned which = 0; which < COUNTERS; which++)
			counts[which] += values[cpu][which];
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

/* Counts the misses of first programs, minus the hits that their backups handled. "own_call" and "empty" are
 * for gotrace itself, so they are left out. */
uint64_t bpf_read_missed(const struct bpf *bpf)
{
	uint64_t missed = 0, counts[COUNTERS] = {0};
	struct bpf_program *program;

	bpf_object__for_each_program(program, bpf->object)
	{
		const char *name = bpf_program__name(program);

		if (!attach_is_backup(program) && strcmp(name, "own_call") != 0 && strcmp(name, "empty") != 0)
			missed += misses_of(program);
	}
	bpf_read_counters(bpf, counts);
	return missed > counts[HITS_BACKUP] ? missed - counts[HITS_BACKUP] : 0;
}

/* Clears all entries in one call. Arrays support batches from Linux 5.6 on. */
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
	if (bpf->destroy)
		bpf->destroy(bpf);
	bpf->object = NULL;
}

int bpf_iterate_tasks(const struct bpf_program *program, uint32_t tgid, struct bpf_link **link)
{
	union bpf_iter_link_info which = {.task = {.pid = tgid}};
	DECLARE_LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &which,
			    .link_info_len = sizeof(which));
	int fd;

	*link = bpf_program__attach_iter(program, tgid ? &options : NULL);
	if (!*link && errno == ESRCH)
		return -ESRCH;
	if (!*link)
		*link = bpf_program__attach_iter(program, NULL);
	fd = *link ? bpf_iter_create(bpf_link__fd(*link)) : -1;
	return fd < 0 ? -errno : fd;
}
