/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/thread_detail.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/proc_stat.h"

enum {
	PATH_SIZE = 128,
	LINE_SIZE = 1024,
	MAX_THREADS = 1 << 20,
	TASK_EXITING = 0x4, /* PF_EXITING in include/linux/sched.h */
};

/* State letters of fs/proc/array.c. */
static uint8_t left_by_letter(char letter)
{
	switch (letter) {
	case 'R':
		return LEFT_RUNNABLE;
	case 'S':
	case 'I':
		return LEFT_ASLEEP;
	case 'D':
		return LEFT_DISK;
	case 'X':
	case 'x':
	case 'Z':
		return LEFT_DEAD;
	default:
		return LEFT_STOPPED;
	}
}

bool proc_threads_parse_stat(const char *line, long ticks_a_second, struct raw_thread *thread)
{
	struct proc_stat stat;

	if (ticks_a_second <= 0 || !proc_stat_parse(line, &stat))
		return false;
	thread->tid = stat.pid;
	memcpy(thread->comm, stat.comm, sizeof(thread->comm));
	thread->left = left_by_letter(stat.state);
	thread->exiting = !!(stat.flags & TASK_EXITING);
	thread->start_ns = stat.start_ticks * (1000000000u / (uint64_t)ticks_a_second);
	thread->cpu = stat.cpu < 0 ? 0 : (uint32_t)stat.cpu;
	return true;
}

/* fs/proc/base.c, proc_pid_syscall: "running", "-1 SP PC", or "NUMBER six arguments SP PC". */
bool proc_threads_parse_syscall(const char *line, struct raw_thread *thread)
{
	long number;
	int at;

	if (sscanf(line, "%ld%n", &number, &at) != 1)
		return false;
	if (number < 0) {
		if (sscanf(line + at, " %" SCNx64 " %" SCNx64, &thread->sp, &thread->ip) != 2)
			return false;
		thread->ip++; /* the interrupted instruction's address, plus 1 */
		return true;
	}
	if (sscanf(line + at, " %*x %*x %*x %*x %*x %*x %" SCNx64 " %" SCNx64, &thread->sp, &thread->ip) != 2)
		return false;
	thread->call = (uint64_t)number + 1;
	return true;
}

static bool read_line(const char *directory, const char *tid, const char *name, char *line)
{
	char path[PATH_SIZE + 64];
	FILE *file;
	bool read;

	snprintf(path, sizeof(path), "%s/%.20s/%s", directory, tid, name);
	file = fopen(path, "re");
	read = file && fgets(line, LINE_SIZE, file);
	if (file)
		fclose(file);
	return read;
}

/* voluntary_ctxt_switches and nonvoluntary_ctxt_switches. */
static uint64_t read_switches(const char *directory, const char *tid)
{
	char path[PATH_SIZE + 64], line[LINE_SIZE];
	uint64_t sum = 0, one;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%.20s/status", directory, tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "voluntary_ctxt_switches: %" SCNu64, &one) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %" SCNu64, &one) == 1)
			sum += one;
	}
	if (file)
		fclose(file);
	return sum;
}

static bool read_thread(const char *directory, const char *tid, struct raw_thread *thread)
{
	char line[LINE_SIZE];

	/* Read the count before the registers: if it has not changed later, neither have they. */
	thread->switches = read_switches(directory, tid);
	if (!read_line(directory, tid, "stat", line) ||
	    !proc_threads_parse_stat(line, sysconf(_SC_CLK_TCK), thread))
		return false;
	if (read_line(directory, tid, "syscall", line))
		proc_threads_parse_syscall(line, thread); /* "running" has no registers */
	return true;
}

int proc_threads_add(const char *proc, uint32_t tgid, struct raw_thread **found, int n)
{
	char directory[PATH_SIZE];
	struct dirent *entry;
	DIR *tasks;

	snprintf(directory, sizeof(directory), "%.64s/%" PRIu32 "/task", proc, tgid);
	tasks = opendir(directory);
	while (tasks && n < MAX_THREADS && (entry = readdir(tasks))) {
		struct raw_thread thread = {.tgid = tgid}, *more;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' ||
		    !read_thread(directory, entry->d_name, &thread))
			continue;
		more = realloc(*found, ((size_t)n + 1) * sizeof(*more));
		if (!more) {
			closedir(tasks);
			return -ENOMEM;
		}
		*found = more;
		more[n++] = thread;
	}
	if (tasks)
		closedir(tasks);
	return n;
}
