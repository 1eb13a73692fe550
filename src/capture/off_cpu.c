/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/off_cpu.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "bpf/gotrace.skel.h"
#include "util/clock.h"

enum {
	MAX_TIMES = 1024, /* limit on threads whose times are read: about 10 us each */
	MAX_OPEN = 256,
	MAX_REPEATED = 4096, /* limit on threads whose CPU is repeated in each generation */
};

/* --- CPU times --- */

static bool read_time(int tasks, const char *name, struct log_thread_time *time)
{
	unsigned long long cpu, wait;
	char path[32], text[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%.10s/schedstat", name);
	fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	if (sscanf(text, "%llu %llu", &cpu, &wait) != 2)
		return false;
	*time = (struct log_thread_time){
		.tid = (uint32_t)strtoul(name, NULL, 10), .cpu_ns = cpu, .wait_ns = wait};
	return true;
}

static unsigned read_times(pid_t pid, struct log_thread_time *times)
{
	const struct dirent *entry;
	char path[32];
	unsigned n = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && n < MAX_TIMES && (entry = readdir(tasks))) {
		if (entry->d_name[0] != '.' && read_time(dirfd(tasks), entry->d_name, &times[n]))
			n++;
	}
	if (tasks)
		closedir(tasks);
	return n;
}

bool off_cpu_waited(pid_t pid, uint64_t *ns)
{
	struct log_thread_time *times = calloc(MAX_TIMES, sizeof(*times));
	unsigned n = times ? read_times(pid, times) : 0;

	*ns = 0;
	for (unsigned i = 0; i < n; i++)
		*ns += times[i].wait_ns;
	free(times);
	return n && n < MAX_TIMES;
}

static int log_times(struct capture *capture)
{
	struct log_thread_times *times =
		calloc(1, sizeof(*times) + MAX_TIMES * sizeof(struct log_thread_time));
	struct log_thread_time *all = (struct log_thread_time *)(times + 1);
	int rc = 0;

	if (!times)
		return -ENOMEM;
	times->time = now_ns();
	times->n = read_times(capture->options.pid, all);
	if (times->n)
		rc = drain_put(&capture->drain, LOG_THREAD_TIMES, times,
			       sizeof(*times) + times->n * sizeof(*all));
	free(times);
	return rc;
}

/* --- threads without a CPU --- */

void off_cpu_find_waiting(struct capture *capture)
{
	const struct bpf_program *program = capture->bpf.skeleton->progs.list_waiting;
	struct bpf_link *link;
	char nothing[64];
	int list;

	if (!bpf_program__autoload(program))
		return;
	list = bpf_iterate_tasks(program, (uint32_t)capture->options.pid, &link);
	/* The program writes nothing: a read goes through all tasks, unless it is interrupted. */
	while (list >= 0 && read(list, nothing, sizeof(nothing)) < 0 && (errno == EINTR || errno == EAGAIN))
		;
	if (list >= 0)
		close(list);
	bpf_link__destroy(link);
}

/* The programs may change a slot while it is copied, so it may mix two threads; readers of the log tolerate
 * that. */
static bool off_cpu_is_open(const struct off_cpu_slot *slot, uint64_t now)
{
	return slot->pid && slot->since && slot->since < now && slot->left <= LEFT_STOPPED;
}

static unsigned find_cpus(const volatile struct off_cpu_slot *slots, uint64_t now, struct raw_record *records)
{
	unsigned found = 0;

	for (uint32_t i = 0; i < OFF_CPU_SLOTS && found < MAX_REPEATED; i++) {
		struct off_cpu_slot slot;

		if (!slots[i].cpu_pid)
			continue;
		slot = slots[i];
		if (slot.cpu)
			records[found++] = (struct raw_record){
				.tid = slot.cpu_tid, .site = SITE_CPU, .time = now, .arg = slot.cpu};
	}
	return found;
}

static unsigned find_open(const volatile struct off_cpu_slot *slots, uint64_t now, struct raw_record *records)
{
	unsigned found = 0;

	for (uint32_t i = 0; i < OFF_CPU_SLOTS && found < MAX_OPEN; i++) {
		struct off_cpu_slot slot;

		if (!slots[i].pid)
			continue;
		slot = slots[i];
		if (!off_cpu_is_open(&slot, now))
			continue;
		records[found++] = (struct raw_record){
			.tid = slot.tid,
			.site = SITE_OFF_CPU,
			.status = slot.left,
			.time = now,
			.g = slot.by,
			.goid = slot.comm[0],
			.p = slot.comm[1],
			.arg = slot.since,
			.arg2 = slot.is_throttled ? now - slot.since : 0,
		};
	}
	return found;
}

#define SLOTS_BYTES (OFF_CPU_SLOTS * sizeof(struct off_cpu_slot))

/* Nearly all slots are empty, so they are read in place. They stay mapped, as mapping 320 pages takes longer
 * than reading them. Returns NULL if they cannot be mapped. */
static const volatile struct off_cpu_slot *map_slots(struct capture *capture)
{
	int map = bpf_map__fd(capture->bpf.skeleton->maps.off_cpu_slots);
	void *slots;

	if (capture->off_cpu_slots)
		return capture->off_cpu_slots;
	slots = mmap(NULL, SLOTS_BYTES, PROT_READ, MAP_SHARED, map, 0);
	capture->off_cpu_slots = slots == MAP_FAILED ? NULL : slots;
	return capture->off_cpu_slots;
}

void off_cpu_close(struct capture *capture)
{
	if (capture->off_cpu_slots)
		munmap((void *)(uintptr_t)capture->off_cpu_slots, SLOTS_BYTES);
	capture->off_cpu_slots = NULL;
}

static int log_open(struct capture *capture)
{
	const volatile struct off_cpu_slot *slots = map_slots(capture);
	struct raw_record *records = calloc(MAX_OPEN + MAX_REPEATED, sizeof(*records));
	uint64_t now = now_ns();
	unsigned found = 0;
	int rc = 0;

	if (slots && records)
		found = find_open(slots, now, records);
	if (slots && records && capture->options.cpus)
		found += find_cpus(slots, now, records + found);
	if (found)
		rc = drain_put(&capture->drain, LOG_RECORDS, records, found * sizeof(*records));
	free(records);
	return rc;
}

/* --- CPU quota, and the combined report --- */

static int log_quota(struct capture *capture)
{
	struct {
		struct log_quota head;
		char path[CGROUP_TEXT];
	} record;
	struct cpu_limit limit;

	if (!capture->host.began)
		return 0;
	cpu_meter_read(&capture->host.meter, &limit);
	if (limit.quota_cpus <= 0)
		return 0;
	record.head = (struct log_quota){
		.time = now_ns(),
		.quota_us = limit.quota_us,
		.period_us = limit.period_ns / 1000,
		.periods = limit.periods,
		.throttled_periods = limit.throttled,
		.throttled_ns = limit.throttled_ns,
		.version = limit.quota_version,
		.len = (uint32_t)snprintf(record.path, sizeof(record.path), "%s", limit.quota_cgroup),
	};
	return drain_put(&capture->drain, LOG_QUOTA, &record, sizeof(record.head) + record.head.len);
}

int off_cpu_log(struct capture *capture)
{
	int rc = 0;

	if (!capture->bpf.off_cpu)
		return 0;
	if (attach_is_on(&capture->bpf.attachments, SITE_OFF_CPU))
		rc = log_open(capture);
	if (rc == 0)
		rc = log_times(capture);
	return rc ? rc : log_quota(capture);
}
