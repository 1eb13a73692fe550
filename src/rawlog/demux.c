/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "rawlog/demux.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rawlog/attribute_cache.h"
#include "util/array.h"
#include "util/utf8.h"

enum {
	BATCH = 64,            /* records collected per process */
	KEPT_STACKS = 1 << 17, /* per generation of the cache; about 200 bytes each */
	KEPT_NAMES = 1 << 17,  /* of threads; per generation of the cache */
	KEPT_FILES = 1 << 16,
	MAX_SENT = 1 << 18,        /* above this limit, everything is sent again */
	BOUNDARIES_AFTER_EXIT = 2, /* after this many, the ends of its threads are no longer awaited */
	KEPT_ENDED = 1 << 16,
};

struct demux_process {
	uint32_t pid;
	void *stream;
	struct map64 stacks, files, names; /* sent to this process: key -> version */
	uint64_t begin_ns;
	struct log_loss loss; /* since the process began */
	uint64_t hits;
	int threads;         /* living threads */
	unsigned boundaries; /* since the process began, or since its exit */
	bool exited, listed;
	unsigned n;
	struct raw_record batch[BATCH];
};

struct demux {
	struct demux_options options;
	struct map64 by_pid; /* pid -> index */
	struct demux_process **processes;
	uint32_t n;
	size_t capacity;
	struct demux_process *last; /* process of the previous record, or NULL */
	struct attribute_cache stacks, files, names;
	struct map64 ended;        /* pids of ended processes -> time of the end (tick_of) */
	struct log_record *common; /* for all processes, including later ones: owned copies */
	uint32_t ncommon;
	size_t common_capacity;
	struct log_clock clock;
	uint32_t machine;             /* flag of struct log_target, the same for all processes */
	struct log_snapshot snapshot; /* the open snapshot */
	bool snapshot_open;
	uint64_t left_out;
	int failed; /* the first error in this call */
};

struct demux *demux_new(const struct demux_options *options)
{
	struct demux *demux = calloc(1, sizeof(*demux));

	if (!demux)
		return NULL;
	demux->options = *options;
	demux->stacks.limit = KEPT_STACKS;
	demux->names.limit = KEPT_NAMES;
	demux->files.limit = KEPT_FILES;
	return demux;
}

uint64_t demux_left_out(const struct demux *demux)
{
	return demux->left_out;
}

static void note_error(struct demux *demux, int rc)
{
	if (rc && !demux->failed)
		demux->failed = rc;
}

/* --- output to one process --- */

static void demux_process_put(struct demux *demux, const struct demux_process *process, uint32_t type,
			      const void *data, size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = data};

	note_error(demux, demux->options.put(process->stream, &record));
}

static void demux_process_flush(struct demux *demux, struct demux_process *process)
{
	unsigned n = process->n;

	process->n = 0;
	if (n)
		demux_process_put(demux, process, LOG_RECORDS, process->batch, n * sizeof(process->batch[0]));
}

static void demux_deliver(struct demux *demux, struct demux_process *process, const struct raw_record *rec)
{
	process->batch[process->n++] = *rec;
	process->hits += rec->site != SITE_CPU_SAMPLE;
	if (process->n == BATCH)
		demux_process_flush(demux, process);
}

/*
 * Sends the record that a key refers to, once per version, before the first record that needs it. It may thus
 * precede records that were logged earlier.
 */
static void put_once(struct demux *demux, const struct demux_process *process, struct map64 *sent,
		     struct attribute_cache *cache, uint64_t key)
{
	const struct cached_record *item = key ? attribute_cache_get(cache, key) : NULL;
	const uint32_t *version = item ? map64_get(sent, key) : NULL;

	if (!item || (version && *version == item->version))
		return;
	if (sent->count >= MAX_SENT)
		map64_clear(sent);
	note_error(demux, map64_set(sent, key, item->version));
	note_error(demux, demux->options.put(process->stream, &item->record));
}

static void put_references(struct demux *demux, struct demux_process *process, const struct raw_record *rec)
{
	put_once(demux, process, &process->stacks, &demux->stacks, rec->stack);
	if (rec->site == SITE_SWITCH || rec->site == SITE_SYSCALL)
		put_once(demux, process, &process->files, &demux->files, rec->arg2);
	if (rec->site == SITE_WAKING && rec->status == WAKER_OTHER)
		put_once(demux, process, &process->names, &demux->names, rec->tid);
}

/* --- beginning and end of processes --- */

static struct demux_process *demux_process_find(const struct demux *demux, uint64_t pid)
{
	const uint32_t *at = map64_get(&demux->by_pid, pid);

	return at ? demux->processes[*at] : NULL;
}

static int demux_process_add(struct demux *demux, struct demux_process *process)
{
	if (array_grow(&demux->processes, &demux->capacity, demux->n + 1, sizeof(struct demux_process *)) ||
	    map64_set(&demux->by_pid, process->pid, demux->n))
		return -ENOMEM;
	demux->processes[demux->n++] = process;
	return 0;
}

static void put_common(struct demux *demux, const struct demux_process *process)
{
	for (uint32_t i = 0; i < demux->ncommon; i++)
		note_error(demux, demux->options.put(process->stream, &demux->common[i]));
}

static void demux_process_free(struct demux_process *process)
{
	map64_free(&process->stacks);
	map64_free(&process->files);
	map64_free(&process->names);
	free(process);
}

/* Returns NULL if the process is omitted. */
static struct demux_process *demux_process_begin(struct demux *demux, struct log_target *target, void *parent)
{
	struct demux_process *process = calloc(1, sizeof(*process));

	if (!process) {
		note_error(demux, -ENOMEM);
		return NULL;
	}
	process->pid = target->pid;
	process->begin_ns = target->clock.mono_ns;
	process->threads = 1;
	process->stream = demux->options.begin(demux->options.ctx, target, parent);
	if (!process->stream || demux_process_add(demux, process)) {
		if (process->stream)
			demux->options.end(process->stream);
		demux_process_free(process);
		demux->left_out++;
		return NULL;
	}
	demux_process_put(demux, process, LOG_TARGET, target, sizeof(*target));
	put_common(demux, process);
	put_once(demux, process, &process->names, &demux->names, process->pid);
	return process;
}

static void demux_process_forget(struct demux *demux, struct demux_process *process)
{
	uint32_t at = *map64_get(&demux->by_pid, process->pid);
	struct demux_process *last = demux->processes[--demux->n];

	demux->last = NULL;
	map64_del(&demux->by_pid, process->pid);
	if (last != process) {
		demux->processes[at] = last;
		*map64_get(&demux->by_pid, last->pid) = at;
	}
	demux->options.end(process->stream);
	demux_process_free(process);
}

static void demux_process_end(struct demux *demux, struct demux_process *process, struct log_end end)
{
	demux_process_flush(demux, process);
	end.total = process->loss;
	end.hits = process->hits;
	demux_process_put(demux, process, LOG_END, &end, sizeof(end));
	demux_process_forget(demux, process);
}

static struct log_clock demux_clock_at(const struct demux *demux, uint64_t time)
{
	const struct log_clock *known = &demux->clock;
	int64_t nsec = (int64_t)known->wall_nsec + (int64_t)(time - known->mono_ns);
	int64_t sec = (int64_t)known->wall_sec + nsec / 1000000000;

	nsec %= 1000000000;
	if (nsec < 0) {
		nsec += 1000000000;
		sec--;
	}
	return (struct log_clock){.mono_ns = time, .wall_sec = (uint64_t)sec, .wall_nsec = (uint32_t)nsec};
}

/* Time in units of about a millisecond. Compared times must be less than weeks apart. */
static uint32_t tick_of(uint64_t time)
{
	return (uint32_t)(time >> 20);
}

static void end_exited(struct demux *demux, struct demux_process *process, uint64_t time)
{
	if (demux->ended.count >= KEPT_ENDED)
		map64_clear(&demux->ended);
	note_error(demux, map64_set(&demux->ended, process->pid, tick_of(time)));
	demux_process_end(demux, process,
			  (struct log_end){.reason = LOG_END_EXITED, .clock = demux_clock_at(demux, time)});
}

/* Sets the name to the last known name of the process's first thread. */
static void name_target(struct demux *demux, struct log_target *target)
{
	const struct cached_record *item = attribute_cache_get(&demux->names, target->pid);
	const struct raw_text *text = item ? item->record.data : NULL;
	size_t len = text ? text->len : 0;

	if (len > sizeof(target->comm) - 1)
		len = sizeof(target->comm) - 1;
	len = len ? text_whole(text->text, len) : 0;
	if (len)
		memcpy(target->comm, text->text, len);
}

/* --- records --- */

static void demux_on_fork(struct demux *demux, const struct raw_record *rec)
{
	struct demux_process *child = demux_process_find(demux, rec->arg),
			     *parent = demux_process_find(demux, rec->goid);
	struct log_target target = {.pid = (uint32_t)rec->arg,
				    .flags = LOG_TARGET_THREADS | LOG_TARGET_SPAWNED | demux->machine,
				    .clock = demux_clock_at(demux, rec->time)};

	if (child && child->exited) { /* the pid has been reused */
		end_exited(demux, child, rec->time);
		parent = demux_process_find(demux, rec->goid);
		child = NULL;
	}
	if (rec->arg > UINT32_MAX || (!child && rec->status != FORK_FOLLOWED)) {
		demux->left_out++;
		return;
	}
	if (!child) {
		name_target(demux, &target);
		child = demux_process_begin(demux, &target, parent ? parent->stream : NULL);
	}
	if (child)
		demux_deliver(demux, child, rec);
}

/* After an exec, addresses have new meanings, so stacks are sent again. Addresses sent earlier get their
 * names from the new program. */
static void demux_on_exec(struct demux *demux, struct demux_process *process, const struct raw_record *rec)
{
	struct log_boundary boundary = {
		.time_before = rec->time, .time_after = rec->time, .clock = demux_clock_at(demux, rec->time)};

	if (process->boundaries) {
		demux_process_flush(demux, process);
		demux_process_put(demux, process, LOG_BOUNDARY, &boundary, sizeof(boundary));
	}
	map64_clear(&process->stacks);
	demux_deliver(demux, process, rec);
	demux_process_flush(demux, process);
}

static void on_record(struct demux *demux, struct demux_process *process, const struct raw_record *rec)
{
	if (rec->site == SITE_EXEC) {
		demux_on_exec(demux, process, rec);
		return;
	}
	put_references(demux, process, rec);
	demux_deliver(demux, process, rec);
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
		end_exited(demux, process, rec->time);
}

static void to_all(struct demux *demux, const struct log_record *record)
{
	for (uint32_t i = 0; i < demux->n; i++) {
		demux_process_flush(demux, demux->processes[i]);
		note_error(demux, demux->options.put(demux->processes[i]->stream, record));
	}
}

static void demux_mark_all(struct demux *demux, const struct raw_record *rec)
{
	for (uint32_t i = 0; i < demux->n; i++)
		demux_deliver(demux, demux->processes[i], rec);
}

static void demux_take_record(struct demux *demux, const struct raw_record *rec)
{
	if (rec->site == SITE_MARKER) {
		demux_mark_all(demux, rec);
		return;
	}
	if (rec->site == SITE_FORK && rec->arg != rec->goid) {
		demux_on_fork(demux, rec);
		return;
	}
	if (!demux->last || demux->last->pid != rec->goid)
		demux->last = demux_process_find(demux, rec->goid);
	if (demux->last)
		on_record(demux, demux->last, rec);
}

/* Flushes every process, because records of other processes may not arrive for a long time. */
static void take_records(struct demux *demux, const struct log_record *record)
{
	const struct raw_record *records = record->data;
	size_t n = record->size / sizeof(*records);

	for (size_t i = 0; i < n; i++)
		demux_take_record(demux, &records[i]);
	for (uint32_t i = 0; i < demux->n; i++)
		demux_process_flush(demux, demux->processes[i]);
}

/* --- records logged once for all --- */

/* A thread's new name is sent to its own process at once, and to others when the thread acts there. */
static void demux_take_name(struct demux *demux, const struct log_record *record)
{
	const struct raw_text *text = record->data;
	struct demux_process *process = demux_process_find(demux, text->record.goid);

	if (text->record.site != SITE_COMM || !text->record.tid)
		return;
	note_error(demux, attribute_cache_put(&demux->names, text->record.tid, record));
	if (!process)
		return;
	demux_process_flush(demux, process);
	put_once(demux, process, &process->names, &demux->names, text->record.tid);
}

/* A hit with values belongs to one process, like any record. */
static void demux_take_values(struct demux *demux, const struct log_record *record)
{
	const struct raw_record *rec = &((const struct raw_text *)record->data)->record;
	struct demux_process *process = demux_process_find(demux, rec->goid);

	if (!process)
		return;
	put_references(demux, process, rec);
	demux_process_flush(demux, process);
	process->hits++;
	demux_process_put(demux, process, LOG_TEXT, record->data, record->size);
}

static void keep_common(struct demux *demux, const struct log_record *record)
{
	void *copy = malloc(record->size ? record->size : 1);

	if (!copy || array_grow(&demux->common, &demux->common_capacity, demux->ncommon + 1u,
				sizeof(*demux->common))) {
		free(copy);
		note_error(demux, -ENOMEM);
		return;
	}
	memcpy(copy, record->data, record->size);
	demux->common[demux->ncommon] = *record;
	demux->common[demux->ncommon++].data = copy;
}

/* --- snapshots --- */

static void demux_begin_snapshot(struct demux *demux, const struct log_record *record)
{
	demux->snapshot = *(const struct log_snapshot *)record->data;
	demux->snapshot_open = true;
	for (uint32_t i = 0; i < demux->n; i++)
		demux->processes[i]->listed = false;
	to_all(demux, record);
}

/* Begins a process whose fork record was lost. */
static struct demux_process *begin_listed(struct demux *demux, const struct log_thread *thread)
{
	struct log_target target = {.pid = thread->tgid,
				    .flags = LOG_TARGET_THREADS | demux->machine,
				    .clock = demux_clock_at(demux, demux->snapshot.time_before)};
	struct demux_process *process;

	memcpy(target.comm, thread->comm, sizeof(target.comm));
	process = thread->tgid ? demux_process_begin(demux, &target, NULL) : NULL;
	if (process)
		demux_process_put(demux, process, LOG_SNAPSHOT, &demux->snapshot, sizeof(demux->snapshot));
	return process;
}

/* Returns whether the process was alive when the snapshot listed it, but ended before the list was logged. */
static bool has_ended_since(const struct demux *demux, uint32_t pid)
{
	const uint32_t *tick = pid ? map64_get(&demux->ended, pid) : NULL;

	return tick && (int32_t)(*tick - tick_of(demux->snapshot.time_before)) >= 0;
}

static void take_thread(struct demux *demux, const struct log_thread *thread)
{
	struct demux_process *process = demux_process_find(demux, thread->tgid);

	if (!process && has_ended_since(demux, thread->tgid))
		return;
	if (!process)
		process = begin_listed(demux, thread);
	if (!process)
		return;
	process->threads = process->listed ? process->threads + 1 : 1;
	process->listed = true;
	put_once(demux, process, &process->stacks, &demux->stacks, thread->stack);
	put_once(demux, process, &process->files, &demux->files, thread->arg2);
	demux_process_put(demux, process, LOG_THREADS, thread, sizeof(*thread));
}

static void take_threads(struct demux *demux, const struct log_record *record)
{
	const struct log_thread *threads = record->data;

	for (size_t i = 0; demux->snapshot_open && i < record->size / sizeof(*threads); i++)
		take_thread(demux, &threads[i]);
}

/* A process without a thread in the snapshot has ended unobserved. */
static void end_snapshot(struct demux *demux, const struct log_record *record)
{
	demux->snapshot_open = false;
	to_all(demux, record);
	for (uint32_t i = 0; i < demux->n; i++) {
		struct demux_process *process = demux->processes[i];

		if (process->listed || process->exited || process->begin_ns >= demux->snapshot.time_before)
			continue;
		process->exited = true;
		process->boundaries = 0;
	}
}

/* --- records for all processes --- */

static void take_target(struct demux *demux, const struct log_record *record)
{
	struct log_target target = *(const struct log_target *)record->data;

	if (!demux->clock.mono_ns)
		demux->clock = target.clock;
	demux->machine = target.flags & LOG_TARGET_ARM64;
	if (!demux_process_find(demux, target.pid))
		demux_process_begin(demux, &target, NULL);
}

static void take_boundary(struct demux *demux, const struct log_record *record)
{
	const struct log_boundary *boundary = record->data;

	demux->clock = boundary->clock;
	to_all(demux, record);
	for (uint32_t i = demux->n; i > 0; i--) {
		struct demux_process *process = demux->processes[i - 1];

		if (++process->boundaries >= BOUNDARIES_AFTER_EXIT && process->exited)
			end_exited(demux, process, boundary->time_after);
	}
}

static void take_loss(struct demux *demux, const struct log_record *record)
{
	const struct log_loss *loss = record->data;

	to_all(demux, record);
	for (uint32_t i = 0; i < demux->n; i++) {
		struct log_loss *sum = &demux->processes[i]->loss;

		sum->ring_full += loss->ring_full;
		sum->stack_full += loss->stack_full;
		sum->unreadable += loss->unreadable;
		sum->missed += loss->missed;
	}
}

static void demux_take_end(struct demux *demux, const struct log_record *record)
{
	struct log_end last = log_end_of(record);

	last.late = 0; /* whose they were is not known */
	while (demux->n)
		demux_process_end(demux, demux->processes[demux->n - 1], last);
}

static void demux_dispatch(struct demux *demux, const struct log_record *record)
{
	switch (record->type) {
	case LOG_RECORDS:
		take_records(demux, record);
		break;
	case LOG_STACK:
		note_error(demux,
			   attribute_cache_put(&demux->stacks, ((const struct raw_stack *)record->data)->hash,
					       record));
		break;
	case LOG_FILE:
		note_error(demux, attribute_cache_put(&demux->files,
						      ((const struct log_file *)record->data)->key, record));
		break;
	case LOG_TEXT:
		if (((const struct raw_text *)record->data)->record.flags & RAW_VALUES)
			demux_take_values(demux, record);
		else
			demux_take_name(demux, record);
		break;
	case LOG_TARGET:
		take_target(demux, record);
		break;
	case LOG_SNAPSHOT:
		demux_begin_snapshot(demux, record);
		break;
	case LOG_THREADS:
		take_threads(demux, record);
		break;
	case LOG_SNAPSHOT_END:
		end_snapshot(demux, record);
		break;
	case LOG_BOUNDARY:
		take_boundary(demux, record);
		break;
	case LOG_LOSS:
		take_loss(demux, record);
		break;
	case LOG_END:
		demux_take_end(demux, record);
		break;
	case LOG_FUNCTION:
	case LOG_VALUES:
	case LOG_REASON:
	case LOG_PARK_SKIPS:
	case LOG_SYMBOL: /* kernel symbols: capture names no other code */
		keep_common(demux, record);
		to_all(demux, record);
		break;
	case LOG_NOTE:
		to_all(demux, record);
		break;
	default: /* records such as mappings, which do not say which process they belong to */
		break;
	}
}

int demux_put(void *ctx, const struct log_record *record)
{
	struct demux *demux = ctx;

	if (rawlog_check_record(record, NULL))
		return -EBADMSG;
	demux->failed = 0;
	demux_dispatch(demux, record);
	return demux->failed;
}

void demux_free(struct demux *demux)
{
	if (!demux)
		return;
	while (demux->n)
		demux_process_forget(demux, demux->processes[demux->n - 1]);
	for (uint32_t i = 0; i < demux->ncommon; i++)
		free((void *)(uintptr_t)demux->common[i].data);
	free(demux->common);
	free(demux->processes);
	map64_free(&demux->by_pid);
	map64_free(&demux->ended);
	attribute_cache_free(&demux->stacks);
	attribute_cache_free(&demux->names);
	attribute_cache_free(&demux->files);
	free(demux);
}
