/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/proc_stat.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Field numbers. */
enum {
	PARENT = 4,
	FLAGS = 9,
	USER = 14,
	KERNEL = 15,
	CHILDREN_USER = 16,
	CHILDREN_KERNEL = 17,
	THREADS = 20,
	START = 22,
	SIZE = 23,
	STACK_START = 28,
	CPU = 39,
	FIELDS
};

/* Reads the numbers after the state: field 4 and following. */
static bool read_numbers(const char *at, uint64_t fields[FIELDS])
{
	for (unsigned i = PARENT; i < FIELDS; i++) {
		char *end;

		fields[i] =
			*at == ' ' && at[1] == '-' ? (uint64_t)strtoll(at, &end, 10) : strtoull(at, &end, 10);
		if (end == at)
			return false;
		at = end;
	}
	return true;
}

static void copy_name(struct proc_stat *stat, const char *name, size_t len)
{
	len = len < sizeof(stat->comm) - 1 ? len : sizeof(stat->comm) - 1;
	memset(stat->comm, 0, sizeof(stat->comm));
	memcpy(stat->comm, name, len);
}

/* The name may contain any characters, including parentheses and newlines; the last parenthesis ends it. */
bool proc_stat_parse(const char *text, struct proc_stat *stat)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	uint64_t fields[FIELDS];
	char *end;

	stat->pid = (uint32_t)strtoul(text, &end, 10);
	if (end == text || !open || !close || close < open || close[1] != ' ' || !close[2] ||
	    !read_numbers(close + 3, fields))
		return false;
	copy_name(stat, open + 1, (size_t)(close - open - 1));
	stat->state = close[2];
	stat->parent = (int32_t)fields[PARENT];
	stat->flags = (uint32_t)fields[FLAGS];
	stat->cpu_ticks = fields[USER] + fields[KERNEL];
	stat->children_ticks = fields[CHILDREN_USER] + fields[CHILDREN_KERNEL];
	stat->threads = (int32_t)fields[THREADS];
	stat->start_ticks = fields[START];
	stat->size = fields[SIZE];
	stat->stack_start = fields[STACK_START];
	stat->cpu = (int32_t)fields[CPU];
	return true;
}

bool proc_stat_read(const char *path, struct proc_stat *stat)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[2048];
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return proc_stat_parse(text, stat);
}
