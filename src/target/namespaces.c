/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* PROC_PID_INIT_INO (include/linux/proc_ns.h since Linux 3.8): the inode of the initial pid namespace. */
#define INITIAL_INODE 0xEFFFFFFCu

#define STATUS_BYTES 4096 /* NSpid is among the first lines of a status file */

bool namespace_is_initial(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	return stat(path, &st) || st.st_ino == INITIAL_INODE;
}

unsigned namespace_ids(const char *status, uint32_t *first, uint32_t *last)
{
	static const char name[] = "\nNSpid:";
	const char *at = strstr(status, name);
	unsigned n = 0;

	*first = *last = 0;
	if (!at)
		return 0;
	at += sizeof(name) - 1;
	for (;;) {
		unsigned long id;
		char *end;

		while (*at == '\t' || *at == ' ')
			at++;
		if (*at < '0' || *at > '9')
			return n;
		id = strtoul(at, &end, 10);
		if (id > INT32_MAX)
			return n;
		*last = (uint32_t)id;
		if (n++ == 0)
			*first = *last;
		at = end;
	}
}

static unsigned read_ids(const char *path, uint32_t *first, uint32_t *last)
{
	char text[STATUS_BYTES];
	ssize_t n = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	return namespace_ids(text, first, last);
}

uint32_t namespace_inner_tid(pid_t pid, uint32_t tid)
{
	uint32_t first, last;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%u/status", (int)pid, tid);
	return read_ids(path, &first, &last) ? last : tid;
}

/* Without NSpid (before Linux 4.1) the namespace is unknown, and no error is reported. */
int namespace_check_proc(struct error *err)
{
	uint32_t first, last;
	unsigned n = read_ids("/proc/self/status", &first, &last);

	if (n == 1 && first == (uint32_t)getpid())
		return 0;
	if (n == 0 && access("/proc/self", F_OK) == 0)
		return 0;
	return error_set(err, ENOTSUP,
			 "/proc belongs to another pid namespace: start gotrace where /proc was mounted, or "
			 "mount one here (unshare --mount-proc)");
}
