/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/processes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/bpf_threads.h"
#include "target/descendants.h"
#include "target/process.h"
#include "util/clock.h"
#include "util/message.h"

enum {
	ROUNDS = 100,              /* limit on searches: each finds only what the previous one missed */
	MAX_PROCESSES = 1024,      /* at a time: bpf/thread.bpf.h */
	REFRESH_NS = 20 * 1000000, /* limit per call: the ring must not wait */
};

/* Ignores a process that has ended. Reports code that does not fit: it has no stacks. */
static int process_refresh_tables(const struct processes *processes, pid_t pid, struct error *err)
{
	struct error line = {""};
	int rc = native_tables_refresh(processes->tables, pid, &line);

	if (rc == -ENOSPC)
		message("%s", line.text);
	if (rc != -ENOMEM)
		return 0;
	*err = line;
	return rc;
}

int processes_find(struct processes *processes, pid_t root, struct error *err)
{
	pid_t *pids;
	int n = descendants("/proc", root, &pids, err),
	    rc = n < 0 ? n : process_refresh_tables(processes, root, err);

	for (int i = 0; i < n && rc == 0; i++)
		rc = process_refresh_tables(processes, pids[i], err);
	free(n < 0 ? NULL : pids);
	return rc;
}

/* --- at the start --- */

static void warn_full(struct processes *processes)
{
	if (!processes->full)
		message("too many processes to trace at once: some are not traced");
	processes->full = true;
}

static int add_found(struct processes *processes, pid_t pid)
{
	pid_t *bigger = realloc(processes->found, (processes->nfound + 1) * sizeof(*bigger));

	if (!bigger || map64_set(&processes->live, (uint64_t)pid, 1) ||
	    map64_set(&processes->stale, (uint64_t)pid, 1)) {
		processes->found = bigger ? bigger : processes->found;
		return -ENOMEM;
	}
	processes->found = bigger;
	processes->found[processes->nfound++] = pid;
	return 0;
}

/* Returns how many were new, or -ENOMEM. Fork records show those that the kernel already follows. */
static int follow_some(struct processes *processes, const struct bpf *bpf, const pid_t *pids, int n)
{
	int found = 0;

	for (int i = 0; i < n; i++) {
		int rc = bpf_follow(bpf, (uint32_t)pids[i]);

		if (rc == -E2BIG)
			warn_full(processes);
		if (rc == 1 && add_found(processes, pids[i]))
			return -ENOMEM;
		found += rc == 1;
	}
	return found;
}

static int follow_descendants(struct processes *processes, const struct bpf *bpf, pid_t root, int rounds,
			      struct error *err)
{
	for (int round = 0; round < rounds; round++) {
		pid_t *pids;
		int found, n = descendants("/proc", root, &pids, err);

		if (n < 0)
			return n;
		found = follow_some(processes, bpf, pids, n);
		free(pids);
		if (found <= 0)
			return found ? error_set(err, ENOMEM, "out of memory") : 0;
	}
	return 0;
}

int processes_follow(struct processes *processes, const struct bpf *bpf, pid_t root, struct error *err)
{
	int rc = bpf_follow(bpf, (uint32_t)root);

	if (rc < 0)
		return error_set(err, -rc, "cannot select the process in BPF: %s", strerror(-rc));
	if (map64_set(&processes->live, (uint64_t)root, 1))
		return error_set(err, ENOMEM, "out of memory");
	return follow_descendants(processes, bpf, root, ROUNDS, err);
}

void processes_pause(struct processes *processes, struct bpf *bpf)
{
	processes->paused = true;
	bpf_pause_following(bpf, true);
}

int processes_go_on(struct processes *processes, struct bpf *bpf, pid_t root, struct error *err)
{
	processes->paused = false;
	bpf_pause_following(bpf, false);
	return follow_descendants(processes, bpf, root, 1, err);
}

static int processes_log_target(pid_t pid, log_sink sink, void *ctx, struct error *err)
{
	struct process process;

	process_open(&process, pid);
	return process_log_target(&process, 0, sink, ctx, err);
}

int processes_log(struct processes *processes, log_sink sink, void *ctx, struct error *err)
{
	int rc = 0;

	for (unsigned i = 0; i < processes->nfound && rc == 0; i++)
		rc = processes_log_target(processes->found[i], sink, ctx, err);
	processes->nfound = 0;
	return rc;
}

static void make_stale(struct processes *processes, uint64_t pid)
{
	if (map64_set(&processes->stale, pid, 1))
		processes->oom = true;
}

static void forget_process(struct processes *processes, uint64_t pid)
{
	native_tables_forget(processes->tables, (pid_t)pid);
	map64_del(&processes->live, pid);
	map64_del(&processes->stale, pid);
}

/* Forgets processes whose end was not recorded: those that are not stale after each followed one has become
 * so. */
static void forget_ended(struct processes *processes)
{
	uint64_t ended[MAX_PROCESSES];
	unsigned n;

	do {
		n = 0;
		for (size_t i = 0; i < processes->live.capacity && n < MAX_PROCESSES; i++) {
			uint64_t pid = processes->live.keys[i];

			if (pid && !map64_get(&processes->stale, pid))
				ended[n++] = pid;
		}
		for (unsigned i = 0; i < n; i++)
			forget_process(processes, ended[i]);
	} while (n == MAX_PROCESSES);
}

int processes_catch_up(struct processes *processes, const struct bpf *bpf, const struct log_outlet *outlet,
		       struct error *err)
{
	pid_t pids[MAX_PROCESSES];
	unsigned n = bpf_followed(bpf, pids, MAX_PROCESSES);

	map64_clear(&processes->stale);
	for (unsigned i = 0; i < n; i++) {
		int rc;

		make_stale(processes, (uint64_t)pids[i]);
		if (map64_get(&processes->live, (uint64_t)pids[i]))
			continue;
		rc = processes_log_target(pids[i], outlet->put, outlet->ctx, err);
		if (rc)
			return rc;
		if (map64_set(&processes->live, (uint64_t)pids[i], 1))
			processes->oom = true;
	}
	if (!processes->oom)
		forget_ended(processes);
	return 0;
}

/*
 * A process that has ended is missing between its release and the end of an RCU grace period: it has no clock
 * any more, and is not counted yet (bpf/sched.bpf.h, count_ended).
 */
uint64_t processes_cpu_ns(struct processes *processes, const struct bpf *bpf)
{
	pid_t pids[MAX_PROCESSES];
	unsigned n = bpf_followed(bpf, pids, MAX_PROCESSES);
	uint64_t sum = processes->ended_cpu_ns;

	for (unsigned i = 0; i < n; i++)
		sum += clock_process_ns(pids[i]);
	if (sum > processes->cpu_ns)
		processes->cpu_ns = sum;
	return processes->cpu_ns;
}

/* --- while tracing --- */

static void processes_on_fork(struct processes *processes, const struct raw_record *rec)
{
	if (rec->arg == rec->goid)
		return;
	if (rec->status != FORK_FOLLOWED) {
		warn_full(processes);
		return;
	}
	if (native_tables_fork(processes->tables, (pid_t)rec->goid, (pid_t)rec->arg) ||
	    map64_set(&processes->live, rec->arg, 1))
		processes->oom = true;
}

void processes_on_record(struct processes *processes, const struct raw_record *rec)
{
	switch (rec->site) {
	case SITE_FORK:
		processes_on_fork(processes, rec);
		break;
	case SITE_EXEC:
		native_tables_forget(processes->tables, (pid_t)rec->goid);
		if (map64_set(&processes->live, rec->goid, 1))
			processes->oom = true;
		make_stale(processes, rec->goid);
		processes->execed = true;
		break;
	case SITE_MAPPED:
		make_stale(processes, rec->goid);
		break;
	case SITE_THREAD_EXIT:
		if (rec->status != EXIT_OF_LAST)
			break;
		forget_process(processes, rec->goid);
		break;
	}
}

static uint64_t any_key(const struct map64 *map)
{
	for (size_t i = 0; i < map->capacity; i++) {
		if (map->keys[i])
			return map->keys[i];
	}
	return 0;
}

int processes_refresh(struct processes *processes, bool all, struct error *err)
{
	uint64_t end = now_ns() + REFRESH_NS, pid;

	for (size_t i = 0; all && i < processes->live.capacity; i++) {
		if (processes->live.keys[i])
			make_stale(processes, processes->live.keys[i]);
	}
	while (processes->stale.count && now_ns() < end) {
		int rc;

		pid = any_key(&processes->stale);
		map64_del(&processes->stale, pid);
		rc = process_refresh_tables(processes, (pid_t)pid, err);
		if (rc)
			return rc;
	}
	return processes->oom ? error_set(err, ENOMEM, "out of memory") : 0;
}

void processes_free(struct processes *processes)
{
	free(processes->found);
	map64_free(&processes->live);
	map64_free(&processes->stale);
	*processes = (struct processes){0};
}
