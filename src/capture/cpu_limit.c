/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/cpu_limit.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/hash.h"
#include "util/machine.h"

/* Where systemd and others mount the hierarchies, below CGROUP_TOP. */
static const char *const v2_roots[] = {"", "/unified"};
static const char *const v1_roots[] = {"/cpu,cpuacct", "/cpu"};
static const char *const v1_usage_roots[] = {"/cpu,cpuacct", "/cpuacct"};

static bool read_file(const char *directory, const char *name, char *text, size_t size)
{
	char path[PATH_MAX];
	FILE *file;
	size_t n;

	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	n = fread(text, 1, size - 1, file);
	text[n] = '\0';
	fclose(file);
	return n > 0;
}

static bool read_again(int fd, char *text, size_t size)
{
	ssize_t n = pread(fd, text, size - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Returns the number after `word` at the beginning of a line, or 0 if there is none. */
static uint64_t field(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, word, n) == 0 && line[n] == ' ')
			return strtoull(line + n + 1, NULL, 10);
	}
	return 0;
}

/* Without a seed: two paths of a process get the same id only by chance. */
static uint64_t path_id(const char *path)
{
	return hash_bytes(0, path, strlen(path));
}

/* cgroup: the directory's path below the root of its hierarchy. */
static void take_quota(struct cpu_limit *limit, const char *directory, const char *cgroup, double quota_us,
		       double period_us, bool v1)
{
	char text[4096];

	if (quota_us <= 0 || period_us <= 0 ||
	    (limit->quota_cpus > 0 && limit->quota_cpus <= quota_us / period_us))
		return;
	limit->quota_cpus = quota_us / period_us;
	limit->quota_us = (uint64_t)quota_us;
	limit->period_ns = (uint64_t)(period_us * 1000);
	limit->quota_id = path_id(directory);
	limit->quota_version = v1 ? 1 : 2;
	snprintf(limit->quota_cgroup, sizeof(limit->quota_cgroup), "%s", *cgroup ? cgroup : "/");
	if (!read_file(directory, "cpu.stat", text, sizeof(text)))
		return;
	limit->periods = field(text, "nr_periods");
	limit->throttled = field(text, "nr_throttled");
	limit->throttled_ns = v1 ? field(text, "throttled_time") : 1000 * field(text, "throttled_usec");
}

/* A quota of -1 or "max" is none. */
static void read_limit(struct cpu_limit *limit, const char *directory, const char *cgroup, bool v1)
{
	char text[128], period[128];
	double quota_us = 0, period_us = 0;

	if (v1) {
		if (read_file(directory, "cpu.cfs_quota_us", text, sizeof(text)) &&
		    read_file(directory, "cpu.cfs_period_us", period, sizeof(period)))
			take_quota(limit, directory, cgroup, strtod(text, NULL), strtod(period, NULL), v1);
	} else if (read_file(directory, "cpu.max", text, sizeof(text)) &&
		   sscanf(text, "%lf %lf", &quota_us, &period_us) == 2) {
		take_quota(limit, directory, cgroup, quota_us, period_us, v1);
	}
}

/* Prints a path of three parts. Returns false if it is too long, or leads out of the namespace's root. */
static bool path_of_cgroup(char path[PATH_MAX], const char *top, const char *root, const char *cgroup)
{
	return snprintf(path, PATH_MAX, "%s%s%s", top, root, cgroup) < PATH_MAX && !strstr(cgroup, "/..");
}

/* Reads the limits of the cgroup and its ancestors. */
static void read_ancestors(struct cpu_limit *limit, const char *top, const char *root, const char *cgroup,
			   bool v1)
{
	char path[PATH_MAX], *below = path + strlen(top) + strlen(root), *slash;

	if (!path_of_cgroup(path, top, root, cgroup))
		return;
	do {
		read_limit(limit, path, below, v1);
		slash = strrchr(below, '/');
		if (slash)
			*slash = '\0';
	} while (slash);
}

/* Returns whether a list such as "cpuset,cpu" contains the controller. */
static bool has_controller(const char *controllers, const char *wanted)
{
	size_t n = strlen(wanted);

	for (const char *at = controllers; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
		if (strncmp(at, wanted, n) == 0 && (at[n] == ',' || !at[n]))
			return true;
	}
	return false;
}

/* The root's figures are those of the machine, so the root does not count as the process's own cgroup. */
static void read_usage(struct cpu_limit *limit, const char *top, const char *root, const char *cgroup,
		       bool v1)
{
	char path[PATH_MAX], text[4096];

	if (strcmp(cgroup, "/") == 0 || !path_of_cgroup(path, top, root, cgroup) ||
	    !read_file(path, v1 ? "cpuacct.usage" : "cpu.stat", text, sizeof(text)))
		return;
	limit->group_id = path_id(path);
	limit->group_cpu_ns = v1 ? strtoull(text, NULL, 10) : 1000 * field(text, "usage_usec");
}

void cpu_limit_take_cgroup(struct cpu_limit *limit, const char *top, char *line)
{
	char *controllers = strchr(line, ':'), *cgroup = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!cgroup)
		return;
	*cgroup++ = '\0';
	controllers++;
	for (unsigned i = 0; i < 2; i++) {
		if (!*controllers) {
			read_usage(limit, top, v2_roots[i], cgroup, false);
			read_ancestors(limit, top, v2_roots[i], cgroup, false);
		}
		if (has_controller(controllers, "cpuacct"))
			read_usage(limit, top, v1_usage_roots[i], cgroup, true);
		if (has_controller(controllers, "cpu"))
			read_ancestors(limit, top, v1_roots[i], cgroup, true);
	}
}

/* minflt, majflt, utime, stime and rss are fields 10, 12, 14, 15 and 24. Field 2, in parentheses, may contain
 * any character. */
static bool take_process(struct cpu_limit *limit, int stat)
{
	char text[1024];
	const char *at = read_again(stat, text, sizeof(text)) ? strrchr(text, ')') : NULL;
	unsigned long long minor = 0, major = 0, user = 0, kernel = 0, tick;
	long pages = 0;

	if (!at || sscanf(at + 1,
			  " %*c %*d %*d %*d %*d %*d %*u %llu %*u %llu %*u %llu %llu %*d %*d %*d %*d %*d %*d "
			  "%*u %*u %ld",
			  &minor, &major, &user, &kernel, &pages) != 5)
		return false;
	tick = 1000000000ull / (unsigned long long)sysconf(_SC_CLK_TCK);
	limit->cpu_ns = (user + kernel) * tick;
	limit->kernel_ns = kernel * tick;
	limit->faults = minor + major;
	limit->rss_bytes = pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
	return true;
}

static void take_machine(struct cpu_limit *limit)
{
	char text[512];
	enum { IDLE = 3, IOWAIT = 4, STEAL = 7, FIELDS = 8 };
	unsigned long long ticks[FIELDS] = {0};

	if (!read_file("/proc", "stat", text, sizeof(text)) ||
	    sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &ticks[0], &ticks[1], &ticks[2],
		   &ticks[IDLE], &ticks[IOWAIT], &ticks[5], &ticks[6], &ticks[STEAL]) != FIELDS)
		return;
	for (unsigned i = 0; i < FIELDS; i++)
		limit->all += ticks[i];
	limit->stolen = ticks[STEAL];
	limit->busy = limit->all - ticks[IDLE] - ticks[IOWAIT] - ticks[STEAL];
}

static int cpu_limit_open_file(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

void cpu_meter_open(struct cpu_meter *meter, pid_t pid)
{
	*meter = (struct cpu_meter){.pid = pid,
				    .stat = cpu_limit_open_file(pid, "stat"),
				    .cgroup = cpu_limit_open_file(pid, "cgroup")};
}

void cpu_meter_read(const struct cpu_meter *meter, struct cpu_limit *limit)
{
	char text[8192], *rest = NULL;
	uint64_t exact;
	cpu_set_t sets[CPU_SETS];

	*limit = (struct cpu_limit){0};
	if (sched_getaffinity(meter->pid, sizeof(sets), sets))
		return;
	limit->known = true;
	limit->cpus = CPU_COUNT_S(sizeof(sets), sets);
	/* Ticks of 10 ms, of user and kernel, are nothing at all for an idle program. If the file is no
	 * longer read, another process may have the number. */
	if (take_process(limit, meter->stat)) {
		exact = clock_process_ns(meter->pid);
		limit->cpu_ns = exact ? exact : limit->cpu_ns;
	}
	take_machine(limit);
	if (!read_again(meter->cgroup, text, sizeof(text)))
		return;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		cpu_limit_take_cgroup(limit, CGROUP_TOP, line);
}

void cpu_meter_close(struct cpu_meter *meter)
{
	if (meter->stat >= 0)
		close(meter->stat);
	if (meter->cgroup >= 0)
		close(meter->cgroup);
}
