/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/go14_tids.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "target/namespaces.h"
#include "util/rights.h"

/*
 * The kernel does not show a running thread's stack pointer, so several attempts may be needed. The spare M
 * for callbacks has no thread.
 */
#define TRIES 6

enum { STACKS = 2 }; /* per M: that of g0 and that of its current goroutine */

struct m_stacks {
	uint64_t lo[STACKS], hi[STACKS];
};

/* Line formats: "nr arg0 ... arg5 sp pc", or "-1 sp pc" (Linux fs/proc/base.c, proc_pid_syscall). */
bool go14_tids_parse(const char *line, uint64_t *sp)
{
	uint64_t pc;

	return sscanf(line, "-1 %" SCNx64 " %" SCNx64, sp, &pc) == 2 ||
	       sscanf(line, "%*u %*x %*x %*x %*x %*x %*x %" SCNx64 " %" SCNx64, sp, &pc) == 2;
}

/* Only the owner may read the file. */
static bool read_sp(pid_t pid, const char *tid, uint64_t *sp)
{
	struct rights before = rights_to_read();
	char path[64], line[256];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/syscall", (int)pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	rights_restore(&before);
	if (fd < 0)
		return false;
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	line[n > 0 ? n : 0] = '\0';
	return go14_tids_parse(line, sp);
}

/* Reads the bounds of each M's two stacks; 0 where there is none. */
static int read_bounds(const struct target *target, struct memory_batch *batch, const struct m_list *ms,
		       struct m_stacks *stacks)
{
	const struct go_layout *layout = &target->layout;
	struct memory_piece *pieces = calloc(ms->n * STACKS, sizeof(*pieces));
	size_t n = 0;
	int rc;

	if (!pieces)
		return -ENOMEM;
	for (size_t i = 0; i < ms->n * STACKS; i++) {
		const struct log_m *lm = &ms->all[i / STACKS];
		uint64_t g = lm->curg;

		if (i % STACKS == 0 && memory_read(target->pid, lm->m + layout->m_g0, &g, sizeof(g)))
			g = 0;
		if (g)
			pieces[n++] = (struct memory_piece){
				.address = g + layout->g_stack_lo, .size = 16, .owner = (uint32_t)i};
	}
	rc = memory_gather(batch, pieces, n);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct m_stacks *of = &stacks[pieces[i].owner / STACKS];

		if (!pieces[i].bytes)
			continue;
		memcpy(&of->lo[pieces[i].owner % STACKS], pieces[i].bytes, 8);
		memcpy(&of->hi[pieces[i].owner % STACKS], pieces[i].bytes + 8, 8);
	}
	free(pieces);
	return rc;
}

static void note_tid(struct m_list *ms, const struct m_stacks *stacks, uint32_t tid, uint64_t sp)
{
	for (size_t i = 0; i < ms->n; i++) {
		for (int k = 0; k < STACKS && !ms->all[i].tid; k++) {
			if (sp >= stacks[i].lo[k] && sp < stacks[i].hi[k])
				ms->all[i].tid = tid;
		}
	}
}

static void match_threads(pid_t pid, struct m_list *ms, const struct m_stacks *stacks)
{
	struct dirent *entry;
	char path[64];
	uint64_t sp;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		long tid = strtol(entry->d_name, NULL, 10);

		if (tid > 0 && tid <= INT32_MAX && read_sp(pid, entry->d_name, &sp))
			note_tid(ms, stacks, namespace_inner_tid(pid, (uint32_t)tid), sp);
	}
	if (dir)
		closedir(dir);
}

static bool has_unknown(const struct m_list *ms)
{
	for (size_t i = 0; i < ms->n; i++) {
		if (!ms->all[i].tid)
			return true;
	}
	return false;
}

int go14_tids_find(const struct target *target, struct memory_batch *batch, struct m_list *ms)
{
	struct m_stacks *stacks = calloc(ms->n + 1, sizeof(*stacks));
	int rc = stacks ? 0 : -ENOMEM;

	/* The list ends with the oldest M, m0, which belongs to the first thread. */
	if (rc == 0 && ms->n && !ms->all[ms->n - 1].tid)
		ms->all[ms->n - 1].tid = namespace_inner_tid(target->pid, (uint32_t)target->pid);
	for (int i = 0; rc == 0 && target->cgo && i < TRIES && has_unknown(ms); i++) {
		if (i)
			nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
		rc = read_bounds(target, batch, ms, stacks);
		if (rc == 0)
			match_threads(target->pid, ms, stacks);
	}
	free(stacks);
	return rc;
}
