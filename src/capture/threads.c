/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The backend for processes traced as threads: kernel tracepoints and the task list. */
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
#include "capture/kernel_symbols.h"
#include "capture/probe_set.h"
#include "capture/snapshot.h"
#include "capture/tally.h"
#include "capture/thread_detail.h"
#include "target/memory.h"
#include "util/clock.h"
#include "util/message.h"

enum {
	THREADS_PER_RECORD = 1024,
	STACKS_AT_ONCE = 64, /* read between two rounds of draining */
	STACK_END = 768,     /* bytes; a wait in glibc, and a few frames */
	REFRESH_MS = 1000,   /* interval between readings of the mappings if no records show changes */
	KERNEL_DEPTH = 64,   /* frames in the kernel, as in bpf/unwind.bpf.h */
	REFRESH_PART = 2,    /* reading takes at most a third of the time */
};

/* Fill levels of the space for records: following forks pauses above the first, and resumes below the
 * second. */
#define FILL_TO_PAUSE 0.5
#define FILL_TO_GO_ON 0.25

/* A thread's stack is valid only if the thread is found at the same place again. */
struct seen_stack {
	uint32_t tid;
	uint64_t switches, ip;
	uint64_t hash;
};

struct thread_snapshot {
	struct log_snapshot head;
	struct raw_thread *found;
	unsigned n;
	struct seen_stack *stacks; /* sorted by tid */
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
		.kernel_stacks = capture->kernel != NULL,
		.tables = capture->tables,
		.functions = capture->options.functions && capture->options.functions->nlists,
		.values = capture->options.functions ? capture->options.functions->nvalues : 0,
		.samples = capture->options.sample_hz != 0,
		.ring_bytes = capture->options.ring_bytes,
		.rings = capture->options.rings,
	};
}

static void show_note(const struct capture *capture)
{
	struct error note;

	if (native_tables_note(capture->tables, &note))
		message("%s", note.text);
}

/* Reports code that did not fit: it has no stacks. For a program that maps code all the time, reading is
 * limited to a share of the time. */
static int refresh_tables(struct capture *capture, struct error *err)
{
	uint64_t begin = now_ns(), now;
	struct error line = {""};
	int rc = native_tables_refresh(capture->tables, capture->options.pid, &line);

	now = now_ns();
	capture->next_refresh_ns = now + REFRESH_MS * 1000000ull;
	now += (now - begin) * REFRESH_PART;
	capture->refresh_after_ns = now < capture->next_refresh_ns ? now : capture->next_refresh_ns;
	if (native_tables_behind(capture->tables))
		capture->drain.mapped++;
	if (rc == -ENOSPC)
		message("%s", line.text);
	show_note(capture);
	/* -EIO: it could not be read now (sandbox/broker.h). It will be tried again. */
	if (rc == 0 || rc == -ENOSPC || rc == -ESRCH || rc == -EIO)
		return 0;
	*err = line;
	return rc;
}

/* If the kernel hides its addresses, the trace is made without kernel frames. */
static int name_kernel(struct capture *capture, struct error *err)
{
	int rc = capture->options.kernel_stacks ? kernel_symbols_open(&capture->kernel, err) : 0;

	if (rc == -ENOMEM)
		return rc;
	if (rc)
		message("--kernel-stacks: %s; stacks of waits do not include kernel frames", err->text);
	capture->drain.kernel = capture->kernel;
	return 0;
}

/* A program that is not started yet has mapped nothing of its own. */
static int threads_backend_load(struct capture *capture, struct error *err)
{
	struct bpf_threads_options options;
	bool children = capture->options.children;
	int rc;

	capture->tables = native_tables_new(children);
	if (!capture->tables)
		return error_set(err, ENOMEM, "out of memory");
	if (capture->options.reader)
		native_tables_use(capture->tables, capture->options.reader);
	rc = name_kernel(capture, err);
	options = bpf_options(capture);
	if (children) {
		capture->processes.tables = capture->tables;
		capture->drain.processes = &capture->processes;
	}
	if (rc == 0 && !capture->options.spawned)
		rc = children ? processes_find(&capture->processes, capture->options.pid, err)
			      : refresh_tables(capture, err);
	if (rc == 0)
		rc = bpf_load_threads(&capture->bpf, &options, err);
	return rc ? rc
		  : attach_by_node(&capture->bpf.attachments, capture->options.node, capture->bpf.outer_tgid,
				   err);
}

static int threads_backend_attach(struct capture *capture, struct error *err)
{
	struct bpf_threads_options options = bpf_options(capture);
	int rc = 0;

	bpf_find_regs(&capture->bpf);
	thread_detail_begin(capture);
	rc = bpf_check_types(&capture->bpf, options.features, err);
	if (rc == 0 && options.samples)
		rc = sampler_open(&capture->sampler, &capture->bpf, capture->options.sample_hz, err);
	if (rc == 0)
		rc = bpf_attach_own(&capture->bpf, err);
	if (rc == 0)
		rc = control_start(&capture->control, &capture->options.guard, &capture->bpf.attachments,
				   capture->bpf.lease, err);
	if (rc == 0)
		rc = bpf_attach_threads(&capture->bpf, &options, err);
	if (rc == 0 && options.children && !options.spawned)
		rc = processes_follow(&capture->processes, &capture->bpf, capture->options.pid, err);
	if (rc == 0 && options.functions)
		capture->hit_cost.function_ns = functions_calibrate(&capture->bpf, own_calibration_ns());
	if (rc == 0 && options.functions)
		rc = functions_attach(&capture->bpf, capture->options.pid, capture->options.functions, err);
	if (rc == 0)
		sampler_switch(&capture->sampler, true);
	return rc;
}

static int threads_backend_log_info(struct capture *capture, struct error *err)
{
	struct process *process = capture->options.process;
	int rc = 0;

	/* By now a program that gotrace started has its name, its code and its first threads. */
	if (capture->options.spawned) {
		process->pid = capture->options.pid;
		capture->snapshot_due = true;
		rc = refresh_tables(capture, err);
	}
	if (rc == 0)
		rc = process_log_info(process, capture->options.spawned ? LOG_TARGET_SPAWNED : 0,
				      capture->options.outlet.put, capture->options.outlet.ctx, err);
	if (rc == 0 && capture->options.children)
		rc = processes_log(&capture->processes, capture->options.outlet.put,
				   capture->options.outlet.ctx, err);
	if (rc == 0 && capture->options.functions)
		rc = functions_log(capture->options.functions, capture->options.outlet.put,
				   capture->options.outlet.ctx);
	return rc;
}

/* Reads the kernel frames of a waiting thread, as numbers. The kernel shows them only with CAP_SYS_ADMIN,
 * which is dropped after the first snapshot. */
static unsigned read_kernel_stack(struct capture *capture, const struct raw_thread *thread,
				  uint64_t pcs[KERNEL_DEPTH])
{
	const struct log_outlet *outlet = &capture->options.outlet;
	char path[64];
	FILE *lines;
	int n;

	if (!capture->kernel || thread->left == LEFT_RUNNABLE)
		return 0;
	snprintf(path, sizeof(path), "/proc/%u/task/%u/stack", thread->tgid, thread->tid);
	lines = fopen(path, "re");
	if (!lines)
		return 0;
	n = kernel_symbols_of_lines(capture->kernel, lines, pcs, KERNEL_DEPTH, outlet->put, outlet->ctx);
	fclose(lines);
	return n > 0 ? (unsigned)n : 0;
}

/* Walks and logs the stack of a thread that is not running. Returns its hash, or 0 if there is none. Without
 * kernel frames, the BPF programs would compute the same hash. */
static uint64_t thread_snapshot_put_stack(struct capture *capture, const struct raw_thread *thread,
					  const struct memory_piece *known)
{
	struct unwind_regs regs = {
		.ip = thread->ip, .sp = thread->sp, .bp = thread->bp, .link = thread->link};
	uint64_t words[sizeof(struct raw_stack) / 8 + STACK_DEPTH];
	struct raw_stack *stack = (struct raw_stack *)words;
	uint16_t flags = 0;
	unsigned kernel = read_kernel_stack(capture, thread, stack->pcs);

	stack->n = kernel + (uint32_t)native_tables_walk(capture->tables, (pid_t)thread->tgid, regs, known,
							 stack->pcs + kernel, STACK_DEPTH - kernel, &flags);
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

static int threads_backend_list(const struct capture *capture, struct raw_thread **found, struct error *err)
{
	uint32_t tgid = capture->options.children ? 0 : (uint32_t)capture->options.pid;

	return bpf_list_threads(&capture->bpf, tgid, found, err);
}

static bool has_stack(const struct raw_thread *thread)
{
	return thread->ip && !thread->on_cpu && !thread->exiting;
}

/*
 * Reads the lower ends of the stacks of threads of one process, which most walks do not leave, at once: a
 * message to the process that reads for each thread takes longer than the walk. Leaves in pieces[i].bytes
 * that of threads[i], or NULL.
 */
static void read_stack_ends(struct memory_batch *batch, const struct raw_thread *threads, int n,
			    struct memory_piece pieces[STACKS_AT_ONCE])
{
	struct memory_piece wanted[STACKS_AT_ONCE];
	size_t nwanted = 0;

	batch->pid = (pid_t)threads->tgid;
	for (int i = 0; i < n; i++) {
		pieces[i] = (struct memory_piece){
			.address = threads[i].sp & ~7ull, .size = STACK_END, .owner = (uint32_t)i};
		if (has_stack(&threads[i]) && threads[i].tgid == threads->tgid)
			wanted[nwanted++] = pieces[i];
	}
	if (!nwanted || memory_gather(batch, wanted, nwanted))
		return;
	for (size_t i = 0; i < nwanted; i++)
		pieces[wanted[i].owner] = wanted[i];
}

/*
 * Reads the stacks of threads that are not running. They may resume while being read. On a busy machine this
 * takes seconds if there are many: the rings are drained meanwhile, and when the recording has to end, the
 * rest is left out.
 */
static int thread_snapshot_read_stacks(struct capture *capture, struct thread_snapshot *snapshot,
				       struct error *err)
{
	struct memory_piece pieces[STACKS_AT_ONCE];
	struct memory_batch batch = {0};
	struct raw_thread *found;
	int n = threads_backend_list(capture, &found, err), rc = 0;

	if (n <= 0)
		return n;
	snapshot->stacks = calloc((size_t)n, sizeof(*snapshot->stacks));
	for (int i = 0; i < n && snapshot->stacks && rc >= 0; i++) {
		const struct raw_thread *thread = &found[i];
		int at = i % STACKS_AT_ONCE;

		if (at == 0) {
			if (control_wait(&capture->control, -1, -1, 0))
				break;
			rc = capture_drain(capture);
			read_stack_ends(&batch, thread, n - i < STACKS_AT_ONCE ? n - i : STACKS_AT_ONCE,
					pieces);
		}
		if (!has_stack(thread))
			continue;
		snapshot->stacks[snapshot->nstacks++] = (struct seen_stack){
			.tid = thread->tid,
			.switches = thread->switches,
			.ip = thread->ip,
			.hash = thread_snapshot_put_stack(capture, thread, &pieces[at]),
		};
	}
	memory_batch_free(&batch);
	free(found);
	if (!snapshot->stacks)
		return error_set(err, ENOMEM, "out of memory");
	qsort(snapshot->stacks, snapshot->nstacks, sizeof(*snapshot->stacks), by_tid);
	return rc < 0 ? rc : 0;
}

static uint64_t stack_of(const struct thread_snapshot *snapshot, const struct raw_thread *thread)
{
	struct seen_stack key = {.tid = thread->tid};
	const struct seen_stack *seen =
		snapshot->nstacks ? bsearch(&key, snapshot->stacks, snapshot->nstacks, sizeof(key), by_tid)
				  : NULL;

	if (!seen || thread->on_cpu || thread->switches != seen->switches || thread->ip != seen->ip)
		return 0;
	return seen->hash;
}

static int threads_backend_read_snapshot(struct capture *capture, void **out, struct error *err)
{
	struct thread_snapshot *snapshot = calloc(1, sizeof(*snapshot));
	int n;

	*out = snapshot;
	if (!snapshot)
		return error_set(err, ENOMEM, "out of memory");
	n = thread_snapshot_read_stacks(capture, snapshot, err);
	if (n < 0)
		return n;
	snapshot->head = (struct log_snapshot){.time_before = now_ns(), .gomaxprocs = kernel_cpu_count()};
	n = threads_backend_list(capture, &snapshot->found, err);
	snapshot->head.time_after = now_ns();
	if (n < 0)
		return n;
	snapshot->n = (unsigned)n;
	return n ? 0 : error_set(err, ESRCH, "the process has ended");
}

static struct log_thread thread_snapshot_describe(const struct thread_snapshot *snapshot,
						  const struct raw_thread *raw)
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

static int thread_snapshot_put_threads(struct capture *capture, const struct thread_snapshot *snapshot,
				       struct log_thread *threads, unsigned n)
{
	struct drain *drain = &capture->drain;
	int rc = drain_put(drain, LOG_SNAPSHOT, &snapshot->head, sizeof(snapshot->head));

	for (unsigned i = 0; i < n && rc == 0; i += THREADS_PER_RECORD) {
		unsigned some = n - i < THREADS_PER_RECORD ? n - i : THREADS_PER_RECORD;

		rc = drain_put(drain, LOG_THREADS, threads + i, some * sizeof(*threads));
	}
	return rc ? rc : drain_put(drain, LOG_SNAPSHOT_END, NULL, 0);
}

static int threads_backend_put_snapshot(struct capture *capture, void *from, const uint32_t markers[2],
					struct error *err)
{
	struct thread_snapshot *snapshot = from;
	struct log_thread *threads = calloc(snapshot->n ? snapshot->n : 1, sizeof(*threads));
	unsigned n = 0;
	int rc = 0;

	if (!threads)
		return error_set(err, ENOMEM, "out of memory");
	for (unsigned i = 0; i < snapshot->n && rc == 0; i++) {
		const struct raw_thread *raw = &snapshot->found[i];

		if (raw->left == LEFT_DEAD)
			continue;
		rc = drain_describe_file(&capture->drain, raw->wait, raw->tgid);
		threads[n++] = thread_snapshot_describe(snapshot, raw);
	}
	snapshot->head.marker_before = markers[0];
	snapshot->head.marker_after = markers[1];
	if (rc == 0)
		rc = thread_snapshot_put_threads(capture, snapshot, threads, n);
	free(threads);
	return rc;
}

static void threads_backend_free_snapshot(void *from)
{
	struct thread_snapshot *snapshot = from;

	if (!snapshot)
		return;
	free(snapshot->stacks);
	free(snapshot->found);
	free(snapshot);
}

/* Stops following forks if they come faster than can be handled. Checks once a second whether to go on. */
static int keep_following(struct capture *capture, bool due, struct error *err)
{
	struct processes *processes = &capture->processes;
	const struct log_outlet *outlet = &capture->options.outlet;
	double fill = tally_fill(capture);
	int rc;

	if (!processes->paused && fill > FILL_TO_PAUSE)
		processes_pause(processes, &capture->bpf);
	if (!processes->paused || !due || fill > FILL_TO_GO_ON)
		return 0;
	rc = processes_go_on(processes, &capture->bpf, capture->options.pid, err);
	capture->snapshot_due = true; /* for the threads of processes that were missed */
	capture->interrupted = true;  /* and the CPU time of their past */
	return rc ? rc : processes_log(processes, outlet->put, outlet->ctx, err);
}

/* After an exec, takes a snapshot once the new code is known, because the process may sleep for long. */
static int adapt_to_children(struct capture *capture, uint64_t now, struct error *err)
{
	bool due = now >= capture->next_refresh_ns;
	bool all = due && (!thread_detail_has_calls(capture) || native_tables_behind(capture->tables));
	int rc = keep_following(capture, due, err);

	if (rc == 0)
		rc = processes_refresh(&capture->processes, all, err);
	if (rc || !due)
		return rc;
	show_note(capture);
	capture->next_refresh_ns = now + REFRESH_MS * 1000000ull;
	if (capture->processes.stale.count)
		return rc;
	capture->snapshot_due = capture->snapshot_due || capture->processes.execed;
	capture->processes.execed = false;
	return rc;
}

static int threads_backend_adapt(struct capture *capture, uint64_t now, struct error *err)
{
	struct drain *drain = &capture->drain;
	int rc = thread_detail_adapt(capture, now, err);

	if (rc == 0 && capture->options.children)
		return adapt_to_children(capture, now, err);
	if (rc || (!drain->mapped && (thread_detail_has_calls(capture) || now < capture->next_refresh_ns)))
		return rc;
	if (now < capture->refresh_after_ns)
		return 0;
	drain->mapped = 0;
	return refresh_tables(capture, err);
}

/* Also has changed mappings read again. */
static int threads_backend_resume(struct capture *capture, struct error *err)
{
	bpf_forget_calls(&capture->bpf);
	capture->drain.mapped++;
	if (!capture->options.children)
		return 0;
	return processes_catch_up(&capture->processes, &capture->bpf, &capture->options.outlet, err);
}

static void close_tables(struct capture *capture)
{
	native_tables_free(capture->tables);
	kernel_symbols_free(capture->kernel);
	processes_free(&capture->processes);
}

const struct backend threads_backend = {
	.load = threads_backend_load,
	.attach = threads_backend_attach,
	.log_info = threads_backend_log_info,
	.read_snapshot = threads_backend_read_snapshot,
	.put_snapshot = threads_backend_put_snapshot,
	.free_snapshot = threads_backend_free_snapshot,
	.adapt = threads_backend_adapt,
	.resume = threads_backend_resume,
	.note_flags = thread_detail_flags,
	.level_text = thread_detail_text,
	.close = close_tables,
};
