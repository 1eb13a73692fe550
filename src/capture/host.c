/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/host.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/backend.h"
#include "capture/off_cpu.h"
#include "capture/snapshot.h"
#include "trace/ops/own_logs.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/proc_stat.h"

/* More processes are not looked at: reading takes some 10 us each. */
enum { MAX_USERS = 4096 };

#define LOOK_NS 100000000 /* between two looks at the state of the process */

struct cpu_user {
	uint32_t pid, parent;
	uint64_t start_ticks; /* detects reuse of the PID */
	uint64_t ticks;
	uint64_t ended_ticks; /* of its children that have ended */
	bool descends;        /* from the target */
	char comm[16];
};

static uint64_t tick_ns(void)
{
	return 1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK);
}

static int host_by_pid(const void *a, const void *b)
{
	const struct cpu_user *one = a, *other = b;

	return one->pid < other->pid ? -1 : one->pid > other->pid;
}

static int by_use(const void *a, const void *b)
{
	const struct cpu_user *one = a, *other = b;

	return one->ticks > other->ticks ? -1 : one->ticks < other->ticks;
}

/* gotrace and its workers, but not the program that it has started: what they use is the cost of tracing,
 * which the summary has. */
static bool is_own_process(const struct proc_stat *stat, pid_t pid)
{
	return stat->pid == (uint32_t)getpid() || (stat->parent == getpid() && stat->pid != (uint32_t)pid);
}

static struct cpu_user user_of(const struct proc_stat *stat)
{
	struct cpu_user user = {.pid = stat->pid,
				.parent = (uint32_t)stat->parent,
				.start_ticks = stat->start_ticks,
				.ticks = stat->cpu_ticks,
				.ended_ticks = stat->children_ticks};

	memcpy(user.comm, stat->comm, sizeof(user.comm));
	return user;
}

static struct cpu_user children_of(const struct proc_stat *stat)
{
	return (struct cpu_user){.pid = stat->pid,
				 .parent = (uint32_t)stat->parent,
				 .start_ticks = stat->start_ticks,
				 .ticks = stat->children_ticks,
				 .comm = ENDED_CHILDREN};
}

/* Reads the CPU time of all processes but pid, and that of its children that have ended; of gotrace's own
 * into *own, ticks. Returns the number of the others; *users is to be freed. */
static size_t read_users(pid_t pid, struct cpu_user **users, uint64_t *own)
{
	DIR *proc = opendir("/proc");
	size_t n = 0, capacity = 0;
	struct dirent *entry;

	*users = NULL;
	*own = 0;
	while (proc && n < MAX_USERS && (entry = readdir(proc))) {
		unsigned long id = strtoul(entry->d_name, NULL, 10);
		struct proc_stat stat;
		char path[64];

		if (!id)
			continue;
		snprintf(path, sizeof(path), "/proc/%lu/stat", id);
		if (!proc_stat_read(path, &stat))
			continue;
		if (is_own_process(&stat, pid))
			*own += stat.cpu_ticks;
		else if (!array_grow(users, &capacity, n + 1, sizeof(**users)))
			(*users)[n++] = id == (unsigned long)pid ? children_of(&stat) : user_of(&stat);
	}
	if (proc)
		closedir(proc);
	return n;
}

void host_begin(struct host *host, pid_t pid)
{
	cpu_meter_open(&host->meter, pid);
	cpu_meter_read(&host->meter, &host->before);
	host->nusers = read_users(pid, &host->users, &host->own_ticks);
	if (host->nusers)
		qsort(host->users, host->nusers, sizeof(*host->users), host_by_pid);
	host->waited_known = off_cpu_waited(pid, &host->waited);
	host->began = now_ns();
	host_look(host);
}

/* Field 3 of /proc/PID/stat: T, or t for a debugger. */
static bool is_stopped(const struct host *host)
{
	char text[64];
	ssize_t n = pread(host->meter.stat, text, sizeof(text) - 1, 0);
	const char *name_end;

	text[n > 0 ? n : 0] = '\0';
	name_end = strrchr(text, ')');
	return name_end && name_end[1] == ' ' && (name_end[2] == 'T' || name_end[2] == 't');
}

void host_look(struct host *host)
{
	uint64_t now = now_ns();
	bool stopped;

	if (!host->began || (host->looked && now - host->looked < LOOK_NS))
		return;
	stopped = is_stopped(host);
	if (stopped && host->stopped)
		host->stopped_ns += now - host->looked;
	host->stopped = stopped;
	host->looked = now;
}

static int put_last_note(struct capture *capture, uint64_t end, const char *text)
{
	return note_put_at(capture, end, LOG_NOTE_DATED | capture->backend->note_flags(capture), text);
}

static int host_note_stopped(struct host *host, struct capture *capture, uint64_t end)
{
	struct stopped_log log;
	char text[HOST_LOG_TEXT];

	host_look(host);
	log = (struct stopped_log){.ns = host->stopped_ns, .still = host->stopped};
	if (!log.ns)
		return 0;
	stopped_log_print(&log, text);
	return put_last_note(capture, end, text);
}

static const struct cpu_user *find_user(const struct cpu_user *users, size_t n, uint32_t pid)
{
	struct cpu_user key = {.pid = pid};

	return n ? bsearch(&key, users, n, sizeof(*users), host_by_pid) : NULL;
}

/* Parents may change while the list is read, so that there may even be a circle. */
enum { MAX_DEPTH = 32 };

/* The users are sorted by PID. */
static bool descends_from(const struct cpu_user *users, size_t n, const struct cpu_user *user, uint32_t pid)
{
	for (unsigned depth = 0; user && user->pid != pid && depth < MAX_DEPTH; depth++) {
		if (user->parent == pid)
			return true;
		user = find_user(users, n, user->parent);
	}
	return false;
}

/* Leaves in the users what they used since the beginning, those first that used most. */
static void subtract(const struct host *host, struct cpu_user *users, size_t n)
{
	if (!n)
		return;
	qsort(users, n, sizeof(*users), host_by_pid);
	for (size_t i = 0; i < n; i++)
		users[i].descends = descends_from(users, n, &users[i], (uint32_t)host->meter.pid);
	for (size_t i = 0; i < n; i++) {
		const struct cpu_user *before = find_user(host->users, host->nusers, users[i].pid);

		if (before && before->start_ticks == users[i].start_ticks) {
			users[i].ticks = cpu_figure_grown(before->ticks, users[i].ticks, true);
			users[i].ended_ticks =
				cpu_figure_grown(before->ended_ticks, users[i].ended_ticks, true);
		} else if (host->nusers == MAX_USERS) {
			/* perhaps it was there, but was not looked at */
			users[i].ticks = users[i].ended_ticks = 0;
		}
	}
	qsort(users, n, sizeof(*users), by_use);
}

/* users: those that used most come first. */
static int note_descendants(const struct host *host, struct capture *capture, uint64_t end,
			    const struct cpu_user *users, size_t n)
{
	struct descendants_log log = {.used_ns = 0};
	char text[HOST_LOG_TEXT];

	for (size_t i = 0; i < n; i++) {
		if (users[i].pid == (uint32_t)host->meter.pid)
			log.used_ns += users[i].ticks * tick_ns();
		if (!users[i].descends)
			continue;
		log.used_ns += (users[i].ticks + users[i].ended_ticks) * tick_ns();
		log.live++;
		if (log.pid || !users[i].ticks)
			continue;
		log.pid = users[i].pid;
		memcpy(log.name, users[i].comm, sizeof(log.name));
	}
	if (!log.used_ns)
		return 0;
	descendants_log_print(&log, text);
	return put_last_note(capture, end, text);
}

static int note_users(struct capture *capture, uint64_t end, uint64_t length, const struct cpu_user *users,
		      size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && i < MAX_BESIDE && rc == 0; i++) {
		struct beside_log log = {.pid = users[i].pid, .used_ns = users[i].ticks * tick_ns()};
		char text[HOST_LOG_TEXT];

		if (log.used_ns * 50 < length)
			break;
		memcpy(log.name, users[i].comm, sizeof(users[i].comm));
		beside_log_print(&log, text);
		rc = put_last_note(capture, end, text);
	}
	return rc;
}

static uint32_t percent_of_cpus(uint64_t before, uint64_t after, uint64_t all)
{
	return (uint32_t)(100 * cpu_figure_grown(before, after, true) / all);
}

int host_end(struct host *host, struct capture *capture, uint64_t end)
{
	const struct cpu_limit *before = &host->before;
	struct cpu_limit after;
	char text[HOST_LOG_TEXT];
	struct cpu_user *users;
	struct kernel_log kernel;
	struct host_log log;
	uint64_t own, waited;
	bool same_group;
	size_t n;
	int rc;

	if (!host->began || !before->known)
		return 0;
	cpu_meter_read(&host->meter, &after);
	if (!after.known)
		return 0;
	n = read_users(host->meter.pid, &users, &own);
	own = cpu_figure_grown(host->own_ticks, own, true);
	same_group = before->quota_id == after.quota_id;
	log = (struct host_log){
		.cpus = (uint32_t)after.cpus,
		.quota_us = (uint64_t)(after.quota_cpus * (double)after.period_ns / 1000),
		.period_us = after.period_ns / 1000,
		.throttled = cpu_figure_grown(before->throttled, after.throttled, same_group),
		.throttled_ns = cpu_figure_grown(before->throttled_ns, after.throttled_ns, same_group),
		.used_ns = cpu_figure_grown(before->cpu_ns, after.cpu_ns, true),
		.length_ns = now_ns() - host->began,
	};
	/* What threads that have ended since waited is not known. */
	if (host->waited_known && off_cpu_waited(host->meter.pid, &waited))
		log.waited_ns = cpu_figure_grown(host->waited, waited, true);
	if (after.all > before->all) {
		/* What gotrace uses is the cost of tracing, and no neighbour. */
		log.busy_percent = percent_of_cpus(before->busy + own, after.busy, after.all - before->all);
		log.stolen_percent = percent_of_cpus(before->stolen, after.stolen, after.all - before->all);
	}
	kernel = (struct kernel_log){
		.faults = cpu_figure_grown(before->faults, after.faults, true),
		.kernel_ns = cpu_figure_grown(before->kernel_ns, after.kernel_ns, true),
	};
	host_log_print(&log, text);
	rc = put_last_note(capture, end, text);
	kernel_log_print(&kernel, text);
	if (rc == 0)
		rc = put_last_note(capture, end, text);
	subtract(host, users, n);
	if (rc == 0)
		rc = note_users(capture, end, log.length_ns, users, n);
	if (rc == 0)
		rc = note_descendants(host, capture, end, users, n);
	if (rc == 0)
		rc = host_note_stopped(host, capture, end);
	free(users);
	return rc;
}

void host_free(struct host *host)
{
	if (host->began)
		cpu_meter_close(&host->meter);
	free(host->users);
}
