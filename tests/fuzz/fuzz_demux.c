/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whatever a log of several processes contains, the log of each process is well-formed: LOG_TARGET first,
 * LOG_END last, its own records in order, and before them what they refer to.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rawlog/demux.h"

enum { PIDS = 7, HASHES = 9 };

struct world;

struct stream {
	uint32_t pid;
	const struct world *world;
	bool begun, over;
	uint64_t last;             /* time of the last record */
	bool reported[HASHES + 1]; /* stacks */
};

struct world {
	struct demux *demux;
	bool known[HASHES + 1]; /* stacks that the log has */
	uint64_t now;
};

static void want(bool holds)
{
	if (!holds)
		abort();
}

static void *begin(void *ctx, struct log_target *target, void *parent)
{
	struct world *world = ctx;
	struct stream *stream;

	(void)parent;
	if (target->pid % PIDS == 6)
		return NULL;
	stream = calloc(1, sizeof(*stream));
	want(stream != NULL);
	stream->pid = target->pid;
	stream->world = world;
	return stream;
}

static void see(struct stream *stream, const struct raw_record *rec)
{
	want(rec->time >= stream->last);
	stream->last = rec->time;
	if (rec->site == SITE_MARKER)
		return;
	want(rec->goid == stream->pid || (rec->site == SITE_FORK && rec->arg == stream->pid));
	/* A fork is reported to the child, but its stack is the parent's. */
	if (rec->goid == stream->pid && rec->site != SITE_EXEC && stream->world->known[rec->stack])
		want(stream->reported[rec->stack]);
}

static int put(void *ctx, const struct log_record *record)
{
	struct stream *stream = ctx;
	const struct raw_record *records = record->data;

	want(!stream->over && rawlog_check_record(record, NULL) == 0);
	want(stream->begun == (record->type != LOG_TARGET));
	stream->begun = true;
	stream->over = record->type == LOG_END;
	if (record->type == LOG_STACK)
		stream->reported[((const struct raw_stack *)record->data)->hash] = true;
	for (size_t i = 0; record->type == LOG_RECORDS && i < record->size / sizeof(*records); i++)
		see(stream, &records[i]);
	return 0;
}

static void end(void *ctx)
{
	free(ctx);
}

/* --- bytes become a log --- */

static void put_log(struct world *world, uint32_t type, const void *data, size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = data};

	want(demux_put(world->demux, &record) == 0);
}

static void put_records(struct world *world, const uint8_t b[8])
{
	static const uint8_t sites[] = {SITE_SWITCH,  SITE_WAKING, SITE_FORK,   SITE_THREAD_EXIT, SITE_EXEC,
					SITE_SYSCALL, SITE_FORK,   SITE_SWITCH, SITE_MARKER};
	struct raw_record records[4];
	unsigned n = b[1] % 4 + 1u;

	for (unsigned i = 0; i < n; i++) {
		world->now += b[7];
		records[i] = (struct raw_record){.site = sites[(b[2] + i * b[3]) % sizeof(sites)],
						 .status = b[4] % 5,
						 .tid = 1 + b[5] % PIDS,
						 .time = world->now,
						 .g = 1 + b[6] % PIDS,
						 .goid = 1 + (b[5] + i) % PIDS,
						 .stack = b[6] % (HASHES + 1),
						 .arg = 1 + b[6] % PIDS,
						 .arg2 = WAIT_MAKE(b[3] % 3, b[4] % 3, 1)};
	}
	put_log(world, LOG_RECORDS, records, n * sizeof(records[0]));
}

static void put_stack(struct world *world, const uint8_t b[8])
{
	uint64_t words[3] = {0, 0, b[2]};
	struct raw_stack *stack = (struct raw_stack *)words;

	*stack = (struct raw_stack){.n = 1, .site = SITE_STACK, .hash = 1 + b[1] % HASHES};
	world->known[stack->hash] = true;
	put_log(world, LOG_STACK, words, sizeof(words));
}

static void put_name(struct world *world, const uint8_t b[8])
{
	uint64_t words[sizeof(struct raw_text) / 8 + 1] = {0};
	struct raw_text *text = (struct raw_text *)words;

	text->record = (struct raw_record){
		.site = SITE_COMM, .tid = 1 + b[1] % PIDS, .goid = 1 + b[2] % PIDS, .time = world->now};
	text->len = b[3] % 8;
	memcpy(text->text, b, text->len);
	put_log(world, LOG_TEXT, words, sizeof(*text) + text->len);
}

static void put_snapshot(struct world *world, const uint8_t b[8])
{
	struct log_snapshot snapshot = {.time_before = world->now, .time_after = world->now};
	struct log_thread threads[3] = {{.tid = 1, .tgid = 1 + b[1] % PIDS, .stack = b[4] % (HASHES + 1)},
					{.tid = 2, .tgid = 1 + b[2] % PIDS},
					{.tid = 3, .tgid = 1 + b[3] % PIDS}};

	put_log(world, LOG_SNAPSHOT, &snapshot, sizeof(snapshot));
	put_log(world, LOG_THREADS, threads, b[5] % 4 * sizeof(threads[0]));
	put_log(world, LOG_SNAPSHOT_END, NULL, 0);
}

static void put_other(struct world *world, const uint8_t b[8])
{
	struct log_target target = {.pid = 1 + b[1] % PIDS, .clock = {.mono_ns = world->now}};
	struct log_boundary boundary = {.time_before = world->now, .time_after = world->now};
	struct log_loss loss = {.ring_full = b[1]};
	struct log_file file = {.key = WAIT_MAKE(1 + b[1] % 2, b[2] % 3, 1)};
	struct log_end last = {.reason = LOG_END_STOPPED};

	boundary.clock.mono_ns = world->now;
	if (b[2] % 8 < 3)
		put_log(world, LOG_TARGET, &target, sizeof(target));
	else if (b[2] % 8 < 5)
		put_log(world, LOG_BOUNDARY, &boundary, sizeof(boundary));
	else if (b[2] % 8 < 6)
		put_log(world, LOG_LOSS, &loss, sizeof(loss));
	else if (b[2] % 8 < 7)
		put_log(world, LOG_FILE, &file, sizeof(file));
	else if (b[3] == 0)
		put_log(world, LOG_END, &last, sizeof(last));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world world = {.now = 1000};
	struct demux_options options = {.begin = begin, .put = put, .end = end, .ctx = &world};

	world.demux = demux_new(&options);
	want(world.demux != NULL);
	for (; size >= 8; data += 8, size -= 8) {
		switch (data[0] % 8) {
		case 0:
			put_stack(&world, data);
			break;
		case 1:
			put_name(&world, data);
			break;
		case 2:
			put_snapshot(&world, data);
			break;
		case 3:
			put_other(&world, data);
			break;
		default:
			put_records(&world, data);
		}
	}
	demux_free(world.demux);
	return 0;
}
