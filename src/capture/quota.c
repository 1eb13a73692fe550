/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/quota.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns whether a line is the CPU controller's: "N:cpu,cpuacct:/path" in v1, "0::/path" in v2. */
static bool quota_line_is_of(char *line, bool v1)
{
	char *names = strchr(line, ':'), *rest, *name;

	if (!names)
		return false;
	rest = strchr(++names, ':');
	if (!rest)
		return false;
	*rest = '\0';
	if (!v1)
		return *names == '\0';
	while ((name = strsep(&names, ","))) {
		if (strcmp(name, "cpu") == 0)
			return true;
	}
	return false;
}

bool quota_path_of(FILE *lines, bool v1, char path[QUOTA_PATH])
{
	char line[512];

	while (fgets(line, sizeof(line), lines)) {
		char *at = strchr(line, ':');

		at = at ? strchr(at + 1, ':') : NULL;
		line[strcspn(line, "\n")] = '\0';
		if (at && strlen(at + 1) < QUOTA_PATH) {
			memcpy(path, at + 1, strlen(at + 1) + 1);
			if (quota_line_is_of(line, v1))
				return true;
		}
	}
	return false;
}

static bool quota_read_text(const char *directory, const char *name, char *text, size_t size)
{
	char path[QUOTA_PATH + 96];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* "30000 100000", "max 100000" */
static bool read_limit_v2(struct quota *quota, const char *directory)
{
	unsigned long long us, period;
	char text[64];

	if (!quota_read_text(directory, "cpu.max", text, sizeof(text)) ||
	    sscanf(text, "%llu %llu", &us, &period) != 2)
		return false;
	quota->quota_us = us;
	quota->period_us = period;
	return true;
}

/* A negative quota means no limit. */
static bool read_limit_v1(struct quota *quota, const char *directory)
{
	char text[64];
	long long us;

	if (!quota_read_text(directory, "cpu.cfs_quota_us", text, sizeof(text)))
		return false;
	us = strtoll(text, NULL, 10);
	if (us <= 0 || !quota_read_text(directory, "cpu.cfs_period_us", text, sizeof(text)))
		return false;
	quota->quota_us = (uint64_t)us;
	quota->period_us = strtoull(text, NULL, 10);
	return true;
}

/* Searches from the process's own cgroup upwards. */
static bool find_limit(struct quota *quota, const char *root)
{
	char directory[QUOTA_PATH + 64];
	char *slash;

	for (;;) {
		snprintf(directory, sizeof(directory), "%s%s", root, quota->path);
		if (quota->version == 1 ? read_limit_v1(quota, directory) : read_limit_v2(quota, directory))
			break;
		slash = strrchr(quota->path, '/');
		if (!slash || slash[1] == '\0')
			return false;
		slash[slash == quota->path] = '\0';
	}
	strncat(directory, "/cpu.stat", sizeof(directory) - strlen(directory) - 1);
	quota->stat = open(directory, O_RDONLY | O_CLOEXEC);
	return quota->stat >= 0;
}

static bool quota_find_in(struct quota *quota, pid_t pid, const char *root, unsigned version)
{
	char name[32];
	FILE *lines;
	bool found;

	snprintf(name, sizeof(name), "/proc/%d/cgroup", (int)pid);
	lines = fopen(name, "re");
	if (!lines)
		return false;
	found = quota_path_of(lines, version == 1, quota->path);
	fclose(lines);
	quota->version = version;
	return found && find_limit(quota, root);
}

/* Searches the usual mount points. */
void quota_open(struct quota *quota, pid_t pid)
{
	static const struct {
		const char *root;
		unsigned version;
	} places[] = {{"/sys/fs/cgroup", 2},
		      {"/sys/fs/cgroup/unified", 2},
		      {"/sys/fs/cgroup/cpu", 1},
		      {"/sys/fs/cgroup/cpu,cpuacct", 1}};

	if (quota->searched)
		return;
	quota->searched = true;
	quota->stat = -1;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (quota_find_in(quota, pid, places[i].root, places[i].version))
			return;
	}
}

static uint64_t figure(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, len) == 0 && line[len] == ' ')
			return strtoull(line + len, NULL, 10);
	}
	return 0;
}

/* v1 has throttled_time in ns, v2 throttled_usec. */
void quota_parse_stat(const char *text, struct log_quota *to)
{
	to->periods = figure(text, "nr_periods");
	to->throttled_periods = figure(text, "nr_throttled");
	to->throttled_ns = figure(text, "throttled_time") + figure(text, "throttled_usec") * 1000;
}

bool quota_read(const struct quota *quota, struct log_quota *to)
{
	char text[1024];
	ssize_t n = quota->stat >= 0 ? pread(quota->stat, text, sizeof(text) - 1, 0) : 0;

	if (n <= 0)
		return false;
	text[n] = '\0';
	*to = (struct log_quota){
		.quota_us = quota->quota_us, .period_us = quota->period_us, .version = quota->version};
	quota_parse_stat(text, to);
	return true;
}

void quota_close(struct quota *quota)
{
	if (quota->stat >= 0)
		close(quota->stat);
	quota->stat = -1;
}
