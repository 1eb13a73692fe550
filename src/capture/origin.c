/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/origin.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/backend.h"
#include "capture/snapshot.h"
#include "trace/ops/own_logs.h"

/* Larger environments are read up to here. The kernel allows 128 KiB for a variable, and more in all. */
enum { MAX_ENVIRONMENT = 256 << 10, MAX_CGROUP = 8192 };

/* Returns the number of bytes read, and ends them with a NUL, for which there is a place. */
static size_t read_start(pid_t pid, const char *name, char *text, size_t most)
{
	char path[64];
	size_t n = 0;
	ssize_t got = 1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && n < most && (got = read(fd, text + n, most - n)) > 0)
		n += (size_t)got;
	if (fd >= 0)
		close(fd);
	text[n] = '\0';
	return n;
}

static void origin_take_host(struct otel_resource *origin)
{
	char host[HOST_NAME_MAX + 1] = "";

	if (gethostname(host, sizeof(host) - 1) == 0)
		resource_set(origin, RESOURCE_HOST_NAME, host, strlen(host));
}

static void origin_take_process(struct otel_resource *origin, pid_t pid)
{
	char link[64], exe[PATH_MAX], number[16];
	ssize_t n;
	const char *name;

	snprintf(number, sizeof(number), "%d", (int)pid);
	resource_set(origin, RESOURCE_PID, number, strlen(number));
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = readlink(link, exe, sizeof(exe) - 1);
	if (n <= 0)
		return;
	exe[n] = '\0';
	name = strrchr(exe, '/');
	name = name ? name + 1 : exe;
	resource_set(origin, RESOURCE_EXECUTABLE, name, strcspn(name, " "));
}

/*
 * An environment may name another host, which may be the node of a container. It does not say which process
 * this is: a child has its parent's environment.
 */
void origin_read(struct otel_resource *origin, pid_t pid)
{
	char *text = malloc(MAX_ENVIRONMENT + 1);

	*origin = (struct otel_resource){0};
	origin_take_host(origin);
	if (text) {
		read_start(pid, "cgroup", text, MAX_CGROUP);
		resource_take_cgroup(origin, text);
		resource_take_environment(origin, text, read_start(pid, "environ", text, MAX_ENVIRONMENT));
		explicit_bzero(text, MAX_ENVIRONMENT);
	}
	free(text);
	origin_take_process(origin, pid);
}

int origin_note(const struct otel_resource *origin, struct capture *capture)
{
	char text[sizeof(RESOURCE_LOG) + RESOURCE_TEXT];
	unsigned next = 0;
	int rc = 0;

	strcpy(text, RESOURCE_LOG);
	while (rc == 0 && resource_print(origin, &next, text + strlen(RESOURCE_LOG)))
		rc = note_put(capture, capture->backend->note_flags(capture), text);
	return rc;
}
