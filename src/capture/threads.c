/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A process that is seen as threads: the kernel's tracepoints tell of them, and its list of tasks. */
#include "capture/backend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/stack_hash.h"
#include "capture/bpf_threads.h"

enum { THREADS_A_RECORD = 1024 };

struct snapshot {
	struct log_snapshot head;
	struct raw_thread *found;
	unsigned n;
};

static struct bpf_threads_options bpf_options(const struct capture *capture)
{
	return (struct bpf_threads_options){
		.tgid = (uint32_t)capture->options.pid,
		.spawned = capture->options.spawned,
		.syscalls = capture->options.syscalls,
		.ring_bytes = capture->options.ring_bytes,
		.rings = capture->options.rings,
	};
}

static int load(struct capture *capture, struct error *err)
{
	struct bpf_threads_options options = bpf_options(capture);

	return bpf_load_threads(&capture->bpf, &options, err);
}

static int attach(struct capture *capture, struct error *err)
{
	struct bpf_threads_options options = bpf_options(capture);

	return bpf_attach_threads(&capture->bpf, &options, err);
}

static int log_info(struct capture *capture, struct error *err)
{
	struct process *process = capture->options.process;

	/* A program that was started has its name now; its first threads are there to be looked at. */
	if (capture->options.spawned) {
		process->pid = capture->options.pid;
		capture->snapshot_due = true;
	}
	return process_log_info(process, capture->options.spawned ? LOG_TARGET_SPAWNED : 0,
				capture->options.sink, capture->options.ctx, err);
}

/* As many CPUs as there are numbers for: the last one that may be switched on, and one. */
static uint32_t cpu_count(void)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	return n > 0 ? (uint32_t)n : 1;
}

static int read_snapshot(struct capture *capture, void **out, struct error *err)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
	int n;

	*out = snapshot;
	if (!snapshot)
		return error_set(err, ENOMEM, "out of memory");
	snapshot->head = (struct log_snapshot){.time_before = capture_now_ns(), .gomaxprocs = cpu_count()};
	n = bpf_list_threads(&capture->bpf, (uint32_t)capture->options.pid, &snapshot->found, err);
	snapshot->head.time_after = capture_now_ns();
	if (n < 0)
		return n;
	snapshot->n = (unsigned)n;
	return n ? 0 : error_set(err, ESRCH, "the process has ended");
}

/* Where a thread is that does not run: where it left user mode. */
static uint64_t put_stack(struct capture *capture, const struct raw_thread *thread)
{
	uint64_t words[sizeof(struct raw_stack) / 8 + STACK_DEPTH];
	struct raw_stack *stack = (struct raw_stack *)words;
	uint64_t hash = stack_hash_begin(NATIVE_STACK);

	if (!thread->ip || thread->on_cpu || thread->exiting)
		return 0;
	stack->pcs[0] = thread->ip;
	hash = stack_hash_end(stack_hash_add(hash, thread->ip), 1);
	stack->n = 1;
	stack->site = SITE_STACK;
	stack->skip = 0;
	stack->flags = RAW_STACK_NATIVE;
	stack->hash = hash;
	return drain_put(&capture->drain, LOG_STACK, stack, sizeof(*stack) + stack->n * 8) ? 0 : hash;
}

static struct log_thread describe(struct capture *capture, const struct raw_thread *raw)
{
	struct log_thread thread = {
		.tid = raw->tid,
		.cpu = (int32_t)raw->cpu,
		.start_ns = raw->start_ns,
		.arg = raw->call,
		.arg2 = raw->wait,
		.stack = put_stack(capture, raw),
		.status = LOG_THREAD_WAITING,
		.left = raw->left,
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
		rc = drain_tell_file(&capture->drain, raw->wait);
		threads[n++] = describe(capture, raw);
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
	free(snapshot->found);
	free(snapshot);
}

/* How much is looked at does not change. */
static int adapt(struct capture *capture, uint64_t now, struct error *err)
{
	(void)capture;
	(void)now;
	(void)err;
	return 0;
}

const struct backend threads_backend = {
	.load = load,
	.attach = attach,
	.log_info = log_info,
	.read_snapshot = read_snapshot,
	.put_snapshot = put_snapshot,
	.free_snapshot = free_snapshot,
	.adapt = adapt,
};
