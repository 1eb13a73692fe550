/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "rawlog/split.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rawlog/store.h"

enum {
	BATCH = 64,            /* records that a process gathers */
	KEPT_STACKS = 1 << 17, /* twice that, of some 200 bytes */
	KEPT_NAMES = 1 << 17,  /* of threads */
	KEPT_FILES = 1 << 16,
	TOLD_MAX = 1 << 18,        /* what is forgotten is told again */
	BOUNDARIES_AFTER_EXIT = 2, /* then the ends of its threads are not waited for any more */
	KEPT_ENDED = 1 << 16,
};

struct process {
	uint32_t pid;
	void *stream;
	struct map64 stacks, files, names; /* told: key -> version */
	uint64_t begin_ns;
	struct log_loss loss; /* since it began */
	uint64_t hits;
	int threads;         /* that live */
	unsigned boundaries; /* since it began; since it exited, if it has */
	bool exited, listed;
	unsigned n;
	struct raw_record batch[BATCH];
};

struct split {
	struct split_options options;
	struct map64 by_pid; /* -> index */
	struct process **processes;
	uint32_t n, capacity;
	struct process *last; /* the record before was its, or NULL */
	struct store stacks, files, names;
	struct map64 ended;        /* pids of processes that have -> when (tick_of) */
	struct log_record *common; /* for all, those to come, too: owned copies */
	uint32_t ncommon;
	struct log_clock clock;
	uint32_t machine;             /* flag of struct log_target: all are for the same */
	struct log_snapshot snapshot; /* the open one */
	bool snapshot_open;
	uint64_t left_out;
	int failed; /* the first error of this call */
};

struct split *split_new(const struct split_options *options)
{
	struct split *split = calloc(1, sizeof(*split));

	if (!split)
		return NULL;
	split->options = *options;
	split->stacks.limit = KEPT_STACKS;
	split->names.limit = KEPT_NAMES;
	split->files.limit = KEPT_FILES;
	return split;
}

uint64_t split_left_out(const struct split *split)
{
	return split->left_out;
}

static void note_error(struct split *split, int rc)
{
	if (rc && !split->failed)
		split->failed = rc;
}

/* --- to one process --- */

static void put(struct split *split, const struct process *process, uint32_t type, const void *data,
		size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = data};

	note_error(split, split->options.put(process->stream, &record));
}

static void flush(struct split *split, struct process *process)
{
	unsigned n = process->n;

	process->n = 0;
	if (n)
		put(split, process, LOG_RECORDS, process->batch, n * sizeof(process->batch[0]));
}

static void deliver(struct split *split, struct process *process, const struct raw_record *rec)
{
	process->batch[process->n++] = *rec;
	process->hits += rec->site != SITE_CPU_SAMPLE;
	if (process->n == BATCH)
		flush(split, process);
}

/* What a record refers to goes before it, once; it may stand before earlier records, too. */
static void tell(struct split *split, const struct process *process, struct map64 *told, struct store *store,
		 uint64_t key)
{
	const struct item *item = key ? store_get(store, key) : NULL;
	const uint32_t *version = item ? map64_get(told, key) : NULL;

	if (!item || (version && *version == item->version))
		return;
	if (told->count >= TOLD_MAX)
		map64_clear(told);
	note_error(split, map64_set(told, key, item->version));
	note_error(split, split->options.put(process->stream, &item->record));
}

static void tell_what_it_needs(struct split *split, struct process *process, const struct raw_record *rec)
{
	tell(split, process, &process->stacks, &split->stacks, rec->stack);
	if (rec->site == SITE_SWITCH || rec->site == SITE_CALL)
		tell(split, process, &process->files, &split->files, rec->arg2);
	if (rec->site == SITE_WAKING && rec->status == WAKER_OTHER)
		tell(split, process, &process->names, &split->names, rec->tid);
}

/* --- processes come and go --- */

static struct process *find(const struct split *split, uint64_t pid)
{
	const uint32_t *at = map64_get(&split->by_pid, pid);

	return at ? split->processes[*at] : NULL;
}

static int add(struct split *split, struct process *process)
{
	if (split->n == split->capacity) {
		uint32_t capacity = split->capacity ? split->capacity * 2 : 16;
		struct process **bigger = realloc(split->processes, capacity * sizeof(struct process *));

		if (!bigger)
			return -ENOMEM;
		split->processes = bigger;
		split->capacity = capacity;
	}
	if (map64_set(&split->by_pid, process->pid, split->n))
		return -ENOMEM;
	split->processes[split->n++] = process;
	return 0;
}

static void tell_common(struct split *split, const struct process *process)
{
	for (uint32_t i = 0; i < split->ncommon; i++)
		note_error(split, split->options.put(process->stream, &split->common[i]));
}

static void free_process(struct process *process)
{
	map64_free(&process->stacks);
	map64_free(&process->files);
	map64_free(&process->names);
	free(process);
}

/* NULL: it is left out. */
static struct process *begin(struct split *split, struct log_target *target, void *parent)
{
	struct process *process = calloc(1, sizeof(*process));

	if (!process) {
		note_error(split, -ENOMEM);
		return NULL;
	}
	process->pid = target->pid;
	process->begin_ns = target->clock.mono_ns;
	process->threads = 1;
	process->stream = split->options.begin(split->options.ctx, target, parent);
	if (!process->stream || add(split, process)) {
		if (process->stream)
			split->options.end(process->stream);
		free_process(process);
		split->left_out++;
		return NULL;
	}
	put(split, process, LOG_TARGET, target, sizeof(*target));
	tell_common(split, process);
	tell(split, process, &process->names, &split->names, process->pid);
	return process;
}

static void forget(struct split *split, struct process *process)
{
	uint32_t at = *map64_get(&split->by_pid, process->pid);
	struct process *last = split->processes[--split->n];

	split->last = NULL;
	map64_del(&split->by_pid, process->pid);
	if (last != process) {
		split->processes[at] = last;
		*map64_get(&split->by_pid, last->pid) = at;
	}
	split->options.end(process->stream);
	free_process(process);
}

static void end(struct split *split, struct process *process, struct log_end end)
{
	flush(split, process);
	end.total = process->loss;
	end.hits = process->hits;
	put(split, process, LOG_END, &end, sizeof(end));
	forget(split, process);
}

static struct log_clock clock_at(const struct split *split, uint64_t time)
{
	const struct log_clock *known = &split->clock;
	int64_t nsec = (int64_t)known->wall_nsec + (int64_t)(time - known->mono_ns);
	int64_t sec = (int64_t)known->wall_sec + nsec / 1000000000;

	nsec %= 1000000000;
	if (nsec < 0) {
		nsec += 1000000000;
		sec--;
	}
	return (struct log_clock){.mono_ns = time, .wall_sec = (uint64_t)sec, .wall_nsec = (uint32_t)nsec};
}

/* In units of a millisecond; what is compared lies less than weeks apart. */
static uint32_t tick_of(uint64_t time)
{
	return (uint32_t)(time >> 20);
}

static void end_exited(struct split *split, struct process *process, uint64_t time)
{
	if (split->ended.count >= KEPT_ENDED)
		map64_clear(&split->ended);
	note_error(split, map64_set(&split->ended, process->pid, tick_of(time)));
	end(split, process, (struct log_end){.reason = LOG_END_EXITED, .clock = clock_at(split, time)});
}

/* The name that its first thread was last said to have. */
static void name_target(struct split *split, struct log_target *target)
{
	const struct item *item = store_get(&split->names, target->pid);
	const struct raw_text *text = item ? item->record.data : NULL;
	size_t len = text ? text->len : 0;

	if (len > sizeof(target->comm) - 1)
		len = sizeof(target->comm) - 1;
	if (len)
		memcpy(target->comm, text->text, len);
}

/* --- records --- */

static void on_fork(struct split *split, const struct raw_record *rec)
{
	struct process *child = find(split, rec->arg), *parent = find(split, rec->goid);
	struct log_target target = {.pid = (uint32_t)rec->arg,
				    .flags = LOG_TARGET_THREADS | LOG_TARGET_SPAWNED | split->machine,
				    .clock = clock_at(split, rec->time)};

	if (child && child->exited) { /* the pid is another's now */
		end_exited(split, child, rec->time);
		parent = find(split, rec->goid);
		child = NULL;
	}
	if (!child && rec->status != FORK_FOLLOWED) {
		split->left_out++;
		return;
	}
	if (!child) {
		name_target(split, &target);
		child = begin(split, &target, parent ? parent->stream : NULL);
	}
	if (child)
		deliver(split, child, rec);
}

/* Addresses mean something else from now on. What was told before it was named is named by what it is now. */
static void on_exec(struct split *split, struct process *process, const struct raw_record *rec)
{
	struct log_boundary boundary = {
		.time_before = rec->time, .time_after = rec->time, .clock = clock_at(split, rec->time)};

	if (process->boundaries) {
		flush(split, process);
		put(split, process, LOG_BOUNDARY, &boundary, sizeof(boundary));
	}
	map64_clear(&process->stacks);
	deliver(split, process, rec);
	flush(split, process);
}

static void on_record(struct split *split, struct process *process, const struct raw_record *rec)
{
	if (rec->site == SITE_EXEC) {
		on_exec(split, process, rec);
		return;
	}
	tell_what_it_needs(split, process, rec);
	deliver(split, process, rec);
	if (rec->site == SITE_FORK)
		process->threads++;
	if (rec->site == SITE_THREAD_EXIT && rec->status == EXIT_OF_LAST) {
		process->exited = true;
		process->boundaries = 0;
	}
	if (rec->site != SITE_SWITCH || rec->status != LEFT_DEAD || !rec->tid)
		return;
	process->threads--;
	if (process->exited && process->threads <= 0)
		end_exited(split, process, rec->time);
}

static void to_all(struct split *split, const struct log_record *record)
{
	for (uint32_t i = 0; i < split->n; i++) {
		flush(split, split->processes[i]);
		note_error(split, split->options.put(split->processes[i]->stream, record));
	}
}

static void mark_all(struct split *split, const struct raw_record *rec)
{
	for (uint32_t i = 0; i < split->n; i++)
		deliver(split, split->processes[i], rec);
}

static void take_record(struct split *split, const struct raw_record *rec)
{
	if (rec->site == SITE_MARKER) {
		mark_all(split, rec);
		return;
	}
	if (rec->site == SITE_FORK && rec->arg != rec->goid) {
		on_fork(split, rec);
		return;
	}
	if (!split->last || split->last->pid != rec->goid)
		split->last = find(split, rec->goid);
	if (split->last)
		on_record(split, split->last, rec);
}

/* Nothing is held back: the others' records may be long in coming. */
static void take_records(struct split *split, const struct log_record *record)
{
	const struct raw_record *records = record->data;
	size_t n = record->size / sizeof(*records);

	for (size_t i = 0; i < n; i++)
		take_record(split, &records[i]);
	for (uint32_t i = 0; i < split->n; i++)
		flush(split, split->processes[i]);
}

/* --- what is told once --- */

/* A thread's name: of its own process it is told when it changes, of others when they do something. */
static void take_name(struct split *split, const struct log_record *record)
{
	const struct raw_text *text = record->data;
	struct process *process = find(split, text->record.goid);

	if (text->record.site != SITE_COMM || !text->record.tid)
		return;
	note_error(split, store_put(&split->names, text->record.tid, record));
	if (!process)
		return;
	flush(split, process);
	tell(split, process, &process->names, &split->names, text->record.tid);
}

static void keep_common(struct split *split, const struct log_record *record)
{
	struct log_record *bigger = realloc(split->common, (split->ncommon + 1) * sizeof(*bigger));
	void *copy = malloc(record->size ? record->size : 1);

	if (bigger)
		split->common = bigger;
	if (!bigger || !copy) {
		free(copy);
		note_error(split, -ENOMEM);
		return;
	}
	memcpy(copy, record->data, record->size);
	split->common[split->ncommon] = *record;
	split->common[split->ncommon++].data = copy;
}

/* --- snapshots --- */

static void begin_snapshot(struct split *split, const struct log_record *record)
{
	split->snapshot = *(const struct log_snapshot *)record->data;
	split->snapshot_open = true;
	for (uint32_t i = 0; i < split->n; i++)
		split->processes[i]->listed = false;
	to_all(split, record);
}

/* One of which the beginning was lost. */
static struct process *begin_listed(struct split *split, const struct log_thread *thread)
{
	struct log_target target = {.pid = thread->tgid,
				    .flags = LOG_TARGET_THREADS | split->machine,
				    .clock = clock_at(split, split->snapshot.time_before)};
	struct process *process;

	memcpy(target.comm, thread->comm, sizeof(target.comm));
	process = thread->tgid ? begin(split, &target, NULL) : NULL;
	if (process)
		put(split, process, LOG_SNAPSHOT, &split->snapshot, sizeof(split->snapshot));
	return process;
}

/* It was alive when it was listed, and its end was seen before the list came. */
static bool has_ended_since(const struct split *split, uint32_t pid)
{
	const uint32_t *tick = pid ? map64_get(&split->ended, pid) : NULL;

	return tick && (int32_t)(*tick - tick_of(split->snapshot.time_before)) >= 0;
}

static void take_thread(struct split *split, const struct log_thread *thread)
{
	struct process *process = find(split, thread->tgid);

	if (!process && has_ended_since(split, thread->tgid))
		return;
	if (!process)
		process = begin_listed(split, thread);
	if (!process)
		return;
	process->threads = process->listed ? process->threads + 1 : 1;
	process->listed = true;
	tell(split, process, &process->stacks, &split->stacks, thread->stack);
	tell(split, process, &process->files, &split->files, thread->arg2);
	put(split, process, LOG_THREADS, thread, sizeof(*thread));
}

static void take_threads(struct split *split, const struct log_record *record)
{
	const struct log_thread *threads = record->data;

	for (size_t i = 0; split->snapshot_open && i < record->size / sizeof(*threads); i++)
		take_thread(split, &threads[i]);
}

/* A process without threads has ended, and that was not seen. */
static void end_snapshot(struct split *split, const struct log_record *record)
{
	split->snapshot_open = false;
	to_all(split, record);
	for (uint32_t i = 0; i < split->n; i++) {
		struct process *process = split->processes[i];

		if (process->listed || process->exited || process->begin_ns >= split->snapshot.time_before)
			continue;
		process->exited = true;
		process->boundaries = 0;
	}
}

/* --- for all --- */

static void take_target(struct split *split, const struct log_record *record)
{
	struct log_target target = *(const struct log_target *)record->data;

	if (!split->clock.mono_ns)
		split->clock = target.clock;
	split->machine = target.flags & LOG_TARGET_ARM64;
	if (!find(split, target.pid))
		begin(split, &target, NULL);
}

static void take_boundary(struct split *split, const struct log_record *record)
{
	const struct log_boundary *boundary = record->data;

	split->clock = boundary->clock;
	to_all(split, record);
	for (uint32_t i = split->n; i > 0; i--) {
		struct process *process = split->processes[i - 1];

		if (++process->boundaries >= BOUNDARIES_AFTER_EXIT && process->exited)
			end_exited(split, process, boundary->time_after);
	}
}

static void take_loss(struct split *split, const struct log_record *record)
{
	const struct log_loss *loss = record->data;

	to_all(split, record);
	for (uint32_t i = 0; i < split->n; i++) {
		struct log_loss *sum = &split->processes[i]->loss;

		sum->ring_full += loss->ring_full;
		sum->stack_full += loss->stack_full;
		sum->unreadable += loss->unreadable;
		sum->missed += loss->missed;
	}
}

static void take_end(struct split *split, const struct log_record *record)
{
	while (split->n)
		end(split, split->processes[split->n - 1], *(const struct log_end *)record->data);
}

static void dispatch(struct split *split, const struct log_record *record)
{
	switch (record->type) {
	case LOG_RECORDS:
		take_records(split, record);
		break;
	case LOG_STACK:
		note_error(split,
			   store_put(&split->stacks, ((const struct raw_stack *)record->data)->hash, record));
		break;
	case LOG_FILE:
		note_error(split,
			   store_put(&split->files, ((const struct log_file *)record->data)->key, record));
		break;
	case LOG_TEXT:
		take_name(split, record);
		break;
	case LOG_TARGET:
		take_target(split, record);
		break;
	case LOG_SNAPSHOT:
		begin_snapshot(split, record);
		break;
	case LOG_THREADS:
		take_threads(split, record);
		break;
	case LOG_SNAPSHOT_END:
		end_snapshot(split, record);
		break;
	case LOG_BOUNDARY:
		take_boundary(split, record);
		break;
	case LOG_LOSS:
		take_loss(split, record);
		break;
	case LOG_END:
		take_end(split, record);
		break;
	case LOG_FUNCTION:
	case LOG_REASON:
		keep_common(split, record);
		to_all(split, record);
		break;
	case LOG_NOTE:
		to_all(split, record);
		break;
	default: /* of one process only, and of which is not told: mappings */
		break;
	}
}

int split_put(void *ctx, const struct log_record *record)
{
	struct split *split = ctx;

	if (rawlog_check_record(record, NULL))
		return -EBADMSG;
	split->failed = 0;
	dispatch(split, record);
	return split->failed;
}

void split_free(struct split *split)
{
	if (!split)
		return;
	while (split->n)
		forget(split, split->processes[split->n - 1]);
	for (uint32_t i = 0; i < split->ncommon; i++)
		free((void *)(uintptr_t)split->common[i].data);
	free(split->common);
	free(split->processes);
	map64_free(&split->by_pid);
	map64_free(&split->ended);
	store_free(&split->stacks);
	store_free(&split->names);
	store_free(&split->files);
	free(split);
}
