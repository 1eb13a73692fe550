/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A process that is seen as threads: the kernel's tracepoints tell of them, and its list of tasks. */
#include "capture/backend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/stack_hash.h"
#include "capture/bpf_threads.h"
#include "capture/functions.h"
#include "capture/kernel.h"
#include "capture/threads_look.h"

enum {
	THREADS_A_RECORD = 1024,
	REFRESH_MS = 1000, /* between two looks at what is mapped, where no record tells of changes */
};

/* What a thread's stack is worth is known when it has been found in the same place again. */
struct seen_stack {
	uint32_t tid;
	uint64_t switches, ip;
	uint64_t hash;
};

struct snapshot {
	struct log_snapshot head;
	struct raw_thread *found;
	unsigned n;
	struct seen_stack *stacks; /* in the order of tids */
	unsigned nstacks;
};

static struct bpf_threads_options bpf_options(const struct capture *capture)
{
	return (struct bpf_threads_options){
		.features = capture->options.features,
		.tgid = (uint32_t)capture->options.pid,
		.spawned = capture->options.spawned,
		.children = capture->options.children,
		.syscalls = capture->options.syscalls,
		.tables = capture->tables,
		.functions = capture->options.functions && capture->options.functions->nlists,
		.samples = capture->options.sample_hz != 0,
		.ring_bytes = capture->options.ring_bytes,
		.rings = capture->options.rings,
	};
}

/* Code for which there was no room has no stacks, and that was told. */
static int refresh_tables(struct capture *capture, struct error *err)
{
	struct error line = {""}, note;
	int rc = native_tables_refresh(capture->tables, capture->options.pid, &line);

	capture->next_refresh_ns = capture_now_ns() + REFRESH_MS * 1000000ull;
	if (rc == -ENOSPC)
		fprintf(stderr, "gotrace: %s\n", line.text);
	if (native_tables_note(capture->tables, &note))
		fprintf(stderr, "gotrace: %s\n", note.text);
	if (rc == 0 || rc == -ENOSPC || rc == -ESRCH)
		return 0;
	*err = line;
	return rc;
}

/* A program that is to be started has not mapped anything of its own yet. */
static int load(struct capture *capture, struct error *err)
{
	struct bpf_threads_options options;
	bool children = capture->options.children;
	int rc;

	capture->tables = native_tables_new(children);
	if (!capture->tables)
		return error_set(err, ENOMEM, "out of memory");
	if (capture->options.reader)
		native_tables_use(capture->tables, capture->options.reader);
	options = bpf_options(capture);
	rc = 0;
	if (children) {
		capture->processes.tables = capture->tables;
		capture->drain.processes = &capture->processes;
	}
	if (rc == 0 && !capture->options.spawned)
		rc = children ? processes_find(&capture->processes, capture->options.pid, err)
			      : refresh_tables(capture, err);
	return rc ? rc : bpf_load_threads(&capture->bpf, &options, err);
}

static int attach(struct capture *capture, struct error *err)
{
	struct bpf_threads_options options = bpf_options(capture);
	int rc = 0;

	capture->stats.probe_hit_ns = bpf_calibrate_threads(&capture->bpf);
	threads_look_begin(capture);
	rc = bpf_check_types(&capture->bpf, options.features, err);
	if (rc == 0 && options.samples)
		rc = sampler_open(&capture->sampler, &capture->bpf, capture->options.sample_hz, err);
	if (rc == 0)
		rc = bpf_attach_threads(&capture->bpf, &options, err);
	if (rc == 0 && options.children && !options.spawned)
		rc = processes_follow(&capture->processes, &capture->bpf, capture->options.pid, err);
	if (rc == 0 && options.functions)
		capture->call_hit_ns = functions_calibrate(&capture->bpf);
	if (rc == 0 && options.functions)
		rc = functions_attach(&capture->bpf, capture->options.pid, capture->options.functions, err);
	if (rc == 0)
		sampler_switch(&capture->sampler, true);
	return rc;
}

static int log_info(struct capture *capture, struct error *err)
{
	struct process *process = capture->options.process;
	int rc = 0;

	/* A program that was started has its name now, and code; its first threads are there to be looked at.
	 */
	if (capture->options.spawned) {
		process->pid = capture->options.pid;
		capture->snapshot_due = true;
		rc = refresh_tables(capture, err);
	}
	if (rc == 0)
		rc = process_log_info(process, capture->options.spawned ? LOG_TARGET_SPAWNED : 0,
				      capture->options.sink, capture->options.ctx, err);
	if (rc == 0 && capture->options.children)
		rc = processes_log(&capture->processes, capture->options.sink, capture->options.ctx, err);
	if (rc == 0 && capture->options.functions)
		rc = functions_log(capture->options.functions, capture->options.sink, capture->options.ctx);
	return rc;
}

/* Of a thread that does not run, as the kernel's programs would name it. */
static uint64_t put_stack(struct capture *capture, const struct raw_thread *thread)
{
	struct unwind_regs regs = {
		.ip = thread->ip, .sp = thread->sp, .bp = thread->bp, .link = thread->link};
	uint64_t words[sizeof(struct raw_stack) / 8 + STACK_DEPTH];
	struct raw_stack *stack = (struct raw_stack *)words;
	uint16_t flags = 0;

	stack->n = (uint32_t)native_tables_walk(capture->tables, (pid_t)thread->tgid, regs, stack->pcs,
						STACK_DEPTH, &flags);
	stack->site = SITE_STACK;
	stack->skip = 0;
	stack->flags = flags;
	stack->hash = stack_hash_begin(NATIVE_STACK);
	for (unsigned i = 0; i < stack->n; i++)
		stack->hash = stack_hash_add(stack->hash, stack->pcs[i]);
	stack->hash = stack_hash_end(stack->hash, stack->n);
	if (!stack->n || drain_put(&capture->drain, LOG_STACK, stack, sizeof(*stack) + stack->n * 8))
		return 0;
	return stack->hash;
}

static int by_tid(const void *a, const void *b)
{
	const struct seen_stack *one = a, *two = b;

	return one->tid < two->tid ? -1 : one->tid > two->tid;
}

static int list_threads(const struct capture *capture, struct raw_thread **found, struct error *err)
{
	uint32_t tgid = capture->options.children ? 0 : (uint32_t)capture->options.pid;

	return bpf_list_threads(&capture->bpf, tgid, found, err);
}

/* The stacks of those that do not run: they may go on while we read. */
static int read_stacks(struct capture *capture, struct snapshot *snapshot, struct error *err)
{
	struct raw_thread *found;
	int n = list_threads(capture, &found, err);

	if (n <= 0)
		return n;
	snapshot->stacks = calloc((size_t)n, sizeof(*snapshot->stacks));
	for (int i = 0; i < n && snapshot->stacks; i++) {
		const struct raw_thread *thread = &found[i];

		if (!thread->ip || thread->on_cpu || thread->exiting)
			continue;
		snapshot->stacks[snapshot->nstacks++] =
			(struct seen_stack){.tid = thread->tid,
					    .switches = thread->switches,
					    .ip = thread->ip,
					    .hash = put_stack(capture, thread)};
	}
	free(found);
	if (!snapshot->stacks)
		return error_set(err, ENOMEM, "out of memory");
	qsort(snapshot->stacks, snapshot->nstacks, sizeof(*snapshot->stacks), by_tid);
	return 0;
}

static uint64_t stack_of(const struct snapshot *snapshot, const struct raw_thread *thread)
{
	struct seen_stack key = {.tid = thread->tid};
	const struct seen_stack *seen =
		snapshot->nstacks ? bsearch(&key, snapshot->stacks, snapshot->nstacks, sizeof(key), by_tid)
				  : NULL;

	if (!seen || thread->on_cpu || thread->switches != seen->switches || thread->ip != seen->ip)
		return 0;
	return seen->hash;
}

static int read_snapshot(struct capture *capture, void **out, struct error *err)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
	int n;

	*out = snapshot;
	if (!snapshot)
		return error_set(err, ENOMEM, "out of memory");
	n = read_stacks(capture, snapshot, err);
	if (n < 0)
		return n;
	snapshot->head =
		(struct log_snapshot){.time_before = capture_now_ns(), .gomaxprocs = kernel_cpu_count()};
	n = list_threads(capture, &snapshot->found, err);
	snapshot->head.time_after = capture_now_ns();
	if (n < 0)
		return n;
	snapshot->n = (unsigned)n;
	return n ? 0 : error_set(err, ESRCH, "the process has ended");
}

static struct log_thread describe(const struct snapshot *snapshot, const struct raw_thread *raw)
{
	struct log_thread thread = {
		.tid = raw->tid,
		.cpu = (int32_t)raw->cpu,
		.start_ns = raw->start_ns,
		.arg = raw->call,
		.arg2 = raw->wait,
		.stack = stack_of(snapshot, raw),
		.status = LOG_THREAD_WAITING,
		.left = raw->left,
		.tgid = raw->tgid,
	};

	if (raw->on_cpu)
		thread.status = LOG_THREAD_RUNNING;
	else if (raw->left == LEFT_RUNNABLE)
		thread.status = LOG_THREAD_RUNNABLE;
	memcpy(thread.comm, raw->comm, sizeof(thread.comm));
	thread.comm[sizeof(thread.comm) - 1] = '\0';
	return thread;
}

static int put_threads(struct capture *capture, const struct snapshot *snapshot, struct log_thread *threads,
		       unsigned n)
{
	struct drain *drain = &capture->drain;
	int rc = drain_put(drain, LOG_SNAPSHOT, &snapshot->head, sizeof(snapshot->head));

	for (unsigned i = 0; i < n && rc == 0; i += THREADS_A_RECORD) {
		unsigned some = n - i < THREADS_A_RECORD ? n - i : THREADS_A_RECORD;

		rc = drain_put(drain, LOG_THREADS, threads + i, some * sizeof(*threads));
	}
	return rc ? rc : drain_put(drain, LOG_SNAPSHOT_END, NULL, 0);
}

static int put_snapshot(struct capture *capture, void *from, const uint32_t markers[2], struct error *err)
{
	struct snapshot *snapshot = from;
	struct log_thread *threads = calloc(snapshot->n ? snapshot->n : 1, sizeof(*threads));
	unsigned n = 0;
	int rc = 0;

	if (!threads)
		return error_set(err, ENOMEM, "out of memory");
	for (unsigned i = 0; i < snapshot->n && rc == 0; i++) {
		const struct raw_thread *raw = &snapshot->found[i];

		if (raw->left == LEFT_DEAD)
			continue;
		rc = drain_tell_file(&capture->drain, raw->wait, raw->tgid);
		threads[n++] = describe(snapshot, raw);
	}
	snapshot->head.marker_before = markers[0];
	snapshot->head.marker_after = markers[1];
	if (rc == 0)
		rc = put_threads(capture, snapshot, threads, n);
	free(threads);
	return rc;
}

static void free_snapshot(void *from)
{
	struct snapshot *snapshot = from;

	if (!snapshot)
		return;
	free(snapshot->stacks);
	free(snapshot->found);
	free(snapshot);
}

/* Who runs another program is looked at anew when its code is known: it may sleep for long. */
static int adapt_to_children(struct capture *capture, uint64_t now, struct error *err)
{
	bool due = now >= capture->next_refresh_ns;
	int rc = processes_refresh(&capture->processes, due && !capture->options.syscalls, err);

	if (!due)
		return rc;
	capture->next_refresh_ns = now + REFRESH_MS * 1000000ull;
	if (capture->processes.stale.count)
		return rc;
	capture->snapshot_due = capture->snapshot_due || capture->processes.execed;
	capture->processes.execed = false;
	return rc;
}

static int adapt(struct capture *capture, uint64_t now, struct error *err)
{
	struct drain *drain = &capture->drain;
	int rc;

	if (capture->options.children)
		return adapt_to_children(capture, now, err);
	rc = threads_look_adapt(capture, now, err);
	if (rc || (!drain->mapped && (threads_look_at_calls(capture) || now < capture->next_refresh_ns)))
		return rc;
	drain->mapped = 0;
	return refresh_tables(capture, err);
}

static void close_tables(struct capture *capture)
{
	native_tables_free(capture->tables);
	processes_free(&capture->processes);
}

const struct backend threads_backend = {
	.load = load,
	.attach = attach,
	.log_info = log_info,
	.read_snapshot = read_snapshot,
	.put_snapshot = put_snapshot,
	.free_snapshot = free_snapshot,
	.adapt = adapt,
	.close = close_tables,
};
