/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The flight recorder without a kernel: snapshots of a simulated scheduler, at any time and in any format. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "unit.h"

#include "flight/snapshot_files.h"
#include "flight/recorder_pipeline.h"
#include "sim_log.h"
#include "trace/wire/wire.h"

struct world {
	char dir[32];
	struct flight_plan plan;
	struct snapshot_store store;
	struct snapshot_files *writer;
	struct snapshot_worker *worker;
	struct status_page page;
	uint32_t taken;
	enum wire_format format;
	struct recorder_pipeline *recorder;
	struct sim_log log;
};

static int enter(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	*state = world;
	if (!world)
		return -1;
	strcpy(world->dir, "/tmp/test-recorder-XXXXXX");
	if (!mkdtemp(world->dir) || chdir(world->dir))
		return -1;
	world->plan = (struct flight_plan){.window_ns = 400000, .max_bytes = 64 << 20};
	sim_init(&world->log.sim, 11, false);
	return 0;
}

static void end(struct world *world)
{
	recorder_pipeline_free(world->recorder);
	snapshot_worker_free(world->worker);
	snapshot_files_free(world->writer);
	world->recorder = NULL;
	world->worker = NULL;
	world->writer = NULL;
}

static int leave(void **state)
{
	struct world *world = *state;
	char command[64];
	int rc;

	end(world);
	snapshot_store_close(&world->store);
	sim_free(&world->log.sim);
	snprintf(command, sizeof(command), "rm -rf '%s'", world->dir);
	rc = chdir("/") || system(command) ? -1 : 0;
	free(world);
	return rc;
}

static void trigger(struct world *world, const char *text)
{
	assert_int_equal(trigger_parse(text, &world->plan.triggers[world->plan.ntriggers++], NULL), 0);
}

static void begin(struct world *world, enum wire_format format)
{
	struct recorder_pipeline_options options = {
		.flight = &world->plan, .trace_options = {.format = format}, .page = &world->page};
	int ends[2];

	world->format = format;
	world->taken = world->page.added;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(snapshot_store_open(&world->store, ".", 1000, world->plan.max_bytes, NULL), 0);
	world->writer = snapshot_files_new(&world->store, ends[0]);
	assert_non_null(world->writer);
	world->worker = snapshot_worker_new(ends[1]);
	assert_non_null(world->worker);
	options.worker = world->worker;
	world->recorder = recorder_pipeline_new(&options);
	assert_non_null(world->recorder);
	world->log.sink = recorder_pipeline_put;
	world->log.ctx = world->recorder;
	sim_log_target(&world->log);
	sim_log_snapshot(&world->log);
}

static void run(struct world *world, unsigned steps, unsigned boundary_every)
{
	for (unsigned i = 1; i <= steps; i++) {
		sim_step(&world->log.sim);
		if (i % boundary_every == 0)
			sim_log_boundary(&world->log);
	}
	sim_log_records(&world->log);
	assert_int_equal(world->log.failure, 0);
}

static struct snapshot_result result_of(struct world *world)
{
	struct snapshot_result result;

	assert_true(snapshot_files_result(world->writer, true, &result));
	return result;
}

static void ask(struct world *world, uint32_t how)
{
	snapshot_files_put(world->writer, world->format, &(struct snapshot_origin){.pid = 77});
	sim_log_put(&world->log, how, NULL, 0);
}

static struct snapshot_result take(struct world *world)
{
	sim_log_boundary(&world->log);
	ask(world, SNAPSHOT_TAKE);
	/* A stop-the-world delays the end of the generation. */
	while (world->log.sim.stw >= 0) {
		sim_step(&world->log.sim);
		sim_log_records(&world->log);
	}
	run(world, 200, 1000);
	return result_of(world);
}

struct bytes {
	uint8_t *data;
	size_t n;
};

static struct bytes read_file(const char *path)
{
	struct bytes bytes = {.data = malloc(16u << 20)};
	FILE *file = fopen(path, "r");

	assert_non_null(bytes.data);
	assert_non_null(file);
	bytes.n = fread(bytes.data, 1, 16u << 20, file);
	fclose(file);
	return bytes;
}

/* Checks the file by the strictest rules. The caller frees the report. */
static struct wire_report *check(const char *path)
{
	struct wire_report *report = calloc(1, sizeof(*report));
	struct bytes bytes = read_file(path);

	assert_non_null(report);
	if (wire_check(bytes.data, bytes.n, report))
		fail_msg("%s: byte %llu: %s", path, (unsigned long long)report->error_offset,
			 report->error.text);
	free(bytes.data);
	return report;
}

static bool holds(const char *path, const char *text)
{
	struct bytes bytes = read_file(path);
	bool found = memmem(bytes.data, bytes.n, text, strlen(text)) != NULL;

	free(bytes.data);
	return found;
}

static void snapshots_at_any_moment_are_whole(void **state)
{
	struct world *world = *state;

	begin(world, WIRE_GO126);
	for (unsigned i = 0; i < 40; i++) {
		struct snapshot_result result;
		struct wire_report *report;

		run(world, 100 + i * 37, 90 + i);
		result = take(world);
		assert_int_equal(result.code, 0);
		report = check(result.entry.path);
		assert_int_equal(report->version, WIRE_GO126);
		assert_int_equal(report->total_bytes, result.entry.bytes);
		/* The window is covered once there is enough. */
		if (i > 10)
			assert_true(report->last_ns - report->first_ns >= world->plan.window_ns);
		assert_true(report->last_ns - report->first_ns < 3 * world->plan.window_ns);
		free(report);
	}
}

/* Whatever was lost, the file is valid: its first generation was repaired, or precedes one that was. */
static void snapshots_of_broken_logs_are_whole(void **state)
{
	struct world *world = *state;

	world->log.lose = 20;
	trigger(world, "blocked>1us");
	trigger(world, "runnable>1us");
	begin(world, WIRE_GO126);
	for (unsigned i = 0; i < 60; i++) {
		struct snapshot_result result;
		struct match_notice notice;

		run(world, 50 + i * 7, 90);
		sim_log_losses(&world->log);
		run(world, 100, 60);
		result = take(world);
		assert_int_equal(result.code, 0);
		free(check(result.entry.path));
		while (status_page_take(&world->page, world->plan.ntriggers, &world->taken, ~0ull, &notice))
			assert_non_null(strchr(notice.text, '>'));
	}
}

/* Nothing is recorded for a while, as when --max-overhead is exceeded. */
static void snapshots_across_a_gap_are_whole(void **state)
{
	struct world *world = *state;

	begin(world, WIRE_GO126);
	for (unsigned i = 0; i < 40; i++) {
		struct {
			struct log_note head;
			char text[8];
		} note = {.head = {.time = world->log.sim.now, .len = 3, .flags = LOG_NOTE_GAP},
			  .text = "off"};

		run(world, 100 + i * 5, 70);
		sim_log_put(&world->log, LOG_NOTE, &note, sizeof(note.head) + 3);
		for (unsigned k = 0; k < 200; k++)
			sim_step(&world->log.sim);
		world->log.fed = world->log.sim.n;
		if (i % 2) { /* take a snapshot in the gap */
			sim_log_boundary(&world->log);
			ask(world, SNAPSHOT_TAKE);
			free(check(result_of(world).entry.path));
		}
		note.head.flags = LOG_NOTE_RESUMED;
		note.head.time = world->log.sim.now;
		sim_log_put(&world->log, LOG_NOTE, &note, sizeof(note.head) + 3);
		sim_log_snapshot(&world->log);
		run(world, 100, 70);
		free(check(take(world).entry.path));
	}
}

static void snapshots_are_whole_in_every_format(void **state)
{
	static const enum wire_format formats[] = {WIRE_V0,    WIRE_GO15,  WIRE_GO17,  WIRE_GO18,
						   WIRE_GO19,  WIRE_GO110, WIRE_GO111, WIRE_GO119,
						   WIRE_GO121, WIRE_GO122, WIRE_GO123, WIRE_GO125};
	struct world *world = *state;

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct wire_report *report;
		struct snapshot_result result;

		sim_free(&world->log.sim);
		sim_init(&world->log.sim, 20 + i, i & 1);
		world->log.fed = 0;
		begin(world, formats[i]);
		run(world, 3000, 300);
		result = take(world);
		assert_int_equal(result.code, 0);
		report = check(result.entry.path);
		assert_int_equal(report->version, formats[i]);
		free(report);
		end(world);
		snapshot_store_close(&world->store);
	}
	world->store = (struct snapshot_store){.list = NULL};
}

static void files_of_old_formats_stay_within_the_bytes(void **state)
{
	struct world *world = *state;
	struct snapshot_result result;
	size_t all;

	world->plan.window_ns = 1ull << 60;
	begin(world, WIRE_GO111);
	run(world, 6000, 300);
	result = take(world);
	assert_int_equal(result.code, 0);
	all = result.entry.bytes;
	world->store.max_bytes = all / 2; /* the thread is not writing now */
	result = take(world);
	assert_int_equal(result.code, 0);
	assert_true(result.entry.bytes <= all / 2);
	assert_true(result.entry.bytes > all / 5);
	free(check(result.entry.path));
}

static void nothing_was_seen_yet(void **state)
{
	struct world *world = *state;
	struct snapshot_result result;

	begin(world, WIRE_GO126);
	ask(world, SNAPSHOT_TAKE);
	assert_false(snapshot_files_result(world->writer, false, &result));
	run(world, 300, 100); /* waits for the first generation to be closed */
	result = result_of(world);
	assert_int_equal(result.code, 0);
	free(check(result.entry.path));
}

static void bytes_are_a_limit_for_generations_too(void **state)
{
	struct world *world = *state;
	struct snapshot_result result;

	world->plan.max_bytes = 20000;
	begin(world, WIRE_GO126);
	run(world, 9000, 9001); /* no boundary */
	result = take(world);
	assert_int_equal(result.code, 0);
	assert_true(result.entry.bytes <= 20000);
	assert_true(status_page_stats(&world->page, ~0ull).closed > 3);
	free(check(result.entry.path));
}

static void the_end_of_the_target_is_kept(void **state)
{
	struct world *world = *state;
	struct snapshot_result result;
	struct wire_report *report;

	begin(world, WIRE_GO126);
	run(world, 2000, 300);
	recorder_pipeline_finish(world->recorder);
	ask(world, SNAPSHOT_TAKE_NOW);
	result = result_of(world);
	assert_int_equal(result.code, 0);
	report = check(result.entry.path);
	assert_true(report->last_ns + 10000 > world->log.sim.now - world->log.sim.now % 64);
	free(report);
}

static void triggers_are_events_and_news(void **state)
{
	struct world *world = *state;
	struct snapshot_result result;
	struct wire_report *report;
	struct match_notice notice;
	unsigned n = 0;

	trigger(world, "blocked:chan>1us");
	trigger(world, "runnable>1us");
	trigger(world, "syscall>1us");
	trigger(world, "goroutines>20");
	begin(world, WIRE_GO126);
	for (unsigned i = 0; i < 20; i++) {
		run(world, 100, 100);
		while (status_page_take(&world->page, world->plan.ntriggers, &world->taken, ~0ull, &notice)) {
			assert_non_null(strstr(notice.text, "goroutine"));
			assert_true(notice.time > 0 && notice.time <= world->log.sim.now + 100000);
			n++;
		}
	}
	assert_true(n > 10);
	result = take(world);
	report = check(result.entry.path);
	assert_true(report->events[44] > 10); /* UserLog */
	free(report);
	assert_true(holds(result.entry.path, "runnable>1us: goroutine "));
	assert_true(holds(result.entry.path, "syscall>1us: goroutine "));
}

static void a_full_trigger_list_is_silent_when_nothing_happens(void **state)
{
	struct world *world = *state;
	struct match_notice notice;

	trigger(world, "blocked>1h");
	trigger(world, "runnable>1h");
	trigger(world, "syscall>1h");
	trigger(world, "gc-pause>1h");
	trigger(world, "goroutines>100");
	begin(world, WIRE_GO126);
	run(world, 5000, 300);
	assert_false(status_page_take(&world->page, world->plan.ntriggers, &world->taken, ~0ull, &notice));
	assert_false(holds(take(world).entry.path, ">1h"));
}

/* The directory is gone and cannot be made again: the snapshot for that file is discarded. */
static void a_file_that_cannot_be_opened_is_reported(void **state)
{
	struct world *world = *state;
	struct snapshot_result result;

	begin(world, WIRE_GO126);
	run(world, 1000, 300);
	world->store.dir = "not/there";
	result = take(world);
	assert_int_equal(result.code, -ENOENT);
	assert_non_null(strstr(result.error.text, "not/there"));
	world->store.dir = ".";
	result = take(world);
	assert_int_equal(result.code, 0);
	free(check(result.entry.path));
}

/* The other process can write to the page, so its contents are not trusted. */
static void status_page_is_untrusted(void **state)
{
	struct world *world = *state;
	struct status_page *page = &world->page;
	struct match_notice notice;

	page->start_ns = 5000;
	assert_int_equal(status_page_stats(page, 100).start_ns, 100);
	memset(page->notices, 0x1b, sizeof(page->notices));
	page->notices[1].trigger = 2;
	page->added = 2; /* the first is of no trigger */
	assert_true(status_page_take(page, 3, &world->taken, 100, &notice));
	assert_int_equal(strlen(notice.text), sizeof(notice.text) - 1);
	assert_null(strchr(notice.text, 0x1b));
	assert_int_equal(notice.time, 100);
	assert_int_equal(notice.trigger, 2);
	assert_int_equal(world->taken, 2);
	assert_false(status_page_take(page, 3, &world->taken, 100, &notice));
	page->added = 1000;
	assert_false(status_page_take(page, 3, &world->taken, 100, &notice));
	page->taken = 77;
	page->notices[2].trigger = 0;
	page->added = 3;
	assert_true(status_page_take(page, 3, &world->taken, 100, &notice));
	assert_int_equal(world->taken, 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

static const struct CMUnitTest tests[] = {
	TEST(snapshots_at_any_moment_are_whole),
	TEST(snapshots_of_broken_logs_are_whole),
	TEST(snapshots_across_a_gap_are_whole),
	TEST(snapshots_are_whole_in_every_format),
	TEST(files_of_old_formats_stay_within_the_bytes),
	TEST(nothing_was_seen_yet),
	TEST(bytes_are_a_limit_for_generations_too),
	TEST(the_end_of_the_target_is_kept),
	TEST(triggers_are_events_and_news),
	TEST(a_file_that_cannot_be_opened_is_reported),
	TEST(status_page_is_untrusted),
	TEST(a_full_trigger_list_is_silent_when_nothing_happens),
};

UNIT_TESTS(tests, NULL, NULL);
