/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The whole path from log records to a file, with the stream of a simulated scheduler. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unit.h"

#include "cli/cli.h"
#include "pipeline/pipeline.h"
#include "sim_log.h"
#include "trace/wire/wire.h"

enum { STEPS = 6000, BOUNDARY_EVERY = 700, STACK_OF_NATIVE = 5 };

/* A pipeline with a directory of its own, fed by a simulation. */
struct world {
	char dir[32];
	struct sim_log log;
	struct output trace, raw;
	struct pipeline *pipe;
	bool native; /* goroutines that park have a stack of native code */
};

static int enter(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	*state = world;
	if (!world)
		return -1;
	strcpy(world->dir, "/tmp/test-pipeline-XXXXXX");
	signal(SIGXFSZ, SIG_IGN);
	sim_init(&world->log.sim, 7, false);
	output_init(&world->trace);
	output_init(&world->raw);
	return !mkdtemp(world->dir) || chdir(world->dir) ? -1 : 0;
}

static int leave(void **state)
{
	struct world *world = *state;
	char command[64];
	int rc;

	snprintf(command, sizeof(command), "rm -rf '%s'", world->dir);
	rc = chdir("/") || system(command) ? -1 : 0;
	pipeline_free(world->pipe);
	output_close(&world->trace);
	output_close(&world->raw);
	sim_free(&world->log.sim);
	free(world);
	return rc;
}

static void new_pipeline(struct world *world, struct output *raw)
{
	const struct pipeline_options options = {.trace = &world->trace, .raw = raw};

	assert_int_equal(output_open(&world->trace, "live.trace", NULL), 0);
	assert_int_equal(output_publish(&world->trace, NULL), 0);
	world->pipe = pipeline_new(&options);
	assert_non_null(world->pipe);
}

static void open_pipeline(struct world *world, bool raw)
{
	if (raw) {
		assert_int_equal(output_open(&world->raw, "live.raw", NULL), 0);
		assert_int_equal(output_publish(&world->raw, NULL), 0);
	}
	new_pipeline(world, raw ? &world->raw : NULL);
}

/* The raw log goes to an open descriptor. */
static void open_pipeline_into(struct world *world, int raw)
{
	assert_true(raw >= 0);
	assert_int_equal(output_adopt(&world->raw, raw, "live.raw", false, false), 0);
	new_pipeline(world, &world->raw);
}

static void put_native_stack(struct sim_log *log)
{
	struct {
		struct log_symbol head;
		struct log_symbol_frame inner;
		char inner_texts[16];
		struct log_symbol_frame outer;
		char outer_texts[16];
	} symbol = {.head = {.pc = 0x401001, .nframes = 2},
		    .inner = {.line = 7, .function_len = 9, .file_len = 7},
		    .inner_texts = "inlined_0inner.c",
		    .outer = {.line = 9, .function_len = 9, .file_len = 7},
		    .outer_texts = "callers_0outer.c"};
	struct {
		struct raw_stack head;
		uint64_t pc;
	} stack = {.head = {.n = 1, .site = SITE_STACK, .flags = RAW_STACK_NATIVE, .hash = STACK_OF_NATIVE},
		   .pc = 0x401001};

	sim_log_put(log, LOG_SYMBOL, &symbol, sizeof(symbol));
	sim_log_put(log, LOG_STACK, &stack, sizeof(stack));
}

static void run(struct world *world)
{
	struct sim_log *log = &world->log;

	log->sink = pipeline_put;
	log->ctx = world->pipe;
	sim_log_target(log);
	if (world->native) {
		put_native_stack(log);
		log->park_stack = STACK_OF_NATIVE;
	}
	sim_log_snapshot(log);
	for (unsigned i = 1; i <= STEPS; i++) {
		sim_step(&log->sim);
		if (i % BOUNDARY_EVERY == 0)
			sim_log_boundary(log);
	}
	sim_log_records(log);
}

static void finish(struct world *world, bool whole)
{
	struct log_end end = {.reason = LOG_END_STOPPED, .hits = world->log.sim.n, .probe_hit_ns = 900};

	end.clock.mono_ns = world->log.sim.now;
	if (whole)
		sim_log_put(&world->log, LOG_END, &end, sizeof(end));
	pipeline_finish(world->pipe);
	assert_int_equal(output_close(&world->trace), 0);
	assert_int_equal(output_close(&world->raw), 0);
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

static uint64_t check_valid(const char *path)
{
	struct wire_report *report = calloc(1, sizeof(*report));
	struct bytes bytes = read_file(path);
	uint64_t generations;

	assert_non_null(report);
	if (wire_check(bytes.data, bytes.n, report))
		fail_msg("%s: byte %llu: %s", path, (unsigned long long)report->error_offset,
			 report->error.text);
	generations = report->generations;
	free(bytes.data);
	free(report);
	return generations;
}

/* Runs a command in a child process, because some drop their privileges for good. Returns the exit status, or
 * 128 + the signal that ended it. */
static int run_command(int (*command)(int, char **), const char *const *words)
{
	char copies[8][40], *argv[9];
	int argc = 0, status;
	pid_t child;

	for (; words[argc]; argc++)
		argv[argc] = strcpy(copies[argc], words[argc]);
	argv[argc] = NULL;
	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		status = command(argc, argv);
		fflush(NULL);
		_exit(status);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define RUN(command, ...) run_command(command, (const char *const[]){"gotrace", __VA_ARGS__, NULL})

static void assert_same_files(const char *a, const char *b)
{
	struct bytes one = read_file(a), two = read_file(b);

	assert_true(one.n > 0);
	assert_int_equal(one.n, two.n);
	assert_memory_equal(one.data, two.data, one.n);
	free(one.data);
	free(two.data);
}

static void trace_is_valid_and_replay_gives_the_same(void **state)
{
	struct world *world = *state;

	open_pipeline(world, true);
	run(world);
	finish(world, true);
	assert_int_equal(world->log.failure, 0);
	assert_string_equal(pipeline_trace_error(world->pipe)->text, "");
	assert_int_equal(check_valid("live.trace"), STEPS / BOUNDARY_EVERY + 1);
	assert_int_equal(RUN(command_replay, "-q", "live.raw", "-o", "replayed.trace"), STATUS_WHOLE);
	assert_same_files("live.trace", "replayed.trace");
	assert_int_equal(RUN(command_replay, "-q", "live.raw", "-o", "old.trace", "--format", "1.22"),
			 STATUS_WHOLE);
	assert_true(check_valid("old.trace") > 0);
}

static void assert_has(const char *path, const char *text)
{
	struct bytes bytes = read_file(path);

	assert_non_null(memmem(bytes.data, bytes.n, text, strlen(text)));
	free(bytes.data);
}

/* Names of native code come only from the log, including inlined callers. */
static void native_code_has_names(void **state)
{
	struct world *world = *state;

	world->native = true;
	open_pipeline(world, true);
	assert_false(pipeline_has_names(world->pipe));
	run(world);
	assert_true(pipeline_has_names(world->pipe));
	finish(world, true);
	assert_int_equal(world->log.failure, 0);
	assert_true(check_valid("live.trace") > 1);
	assert_has("live.trace", "inlined_0");
	assert_has("live.trace", "callers_0");
	assert_has("live.trace", "outer.c");
	assert_int_equal(RUN(command_replay, "-q", "live.raw", "-o", "replayed.trace"), STATUS_WHOLE);
	assert_same_files("live.trace", "replayed.trace");
}

static void log_without_its_end_is_used_as_far_as_it_goes(void **state)
{
	struct world *world = *state;

	open_pipeline(world, true);
	run(world);
	finish(world, false);
	assert_int_equal(RUN(command_replay, "-q", "live.raw", "-o", "replayed.trace"), STATUS_CUT);
	assert_true(check_valid("replayed.trace") > 1);
}

static void torn_log_is_used_as_far_as_it_goes(void **state)
{
	struct world *world = *state;
	struct bytes bytes;

	open_pipeline(world, true);
	run(world);
	finish(world, true);
	bytes = read_file("live.raw");
	free(bytes.data);
	assert_int_equal(truncate("live.raw", (off_t)bytes.n / 2), 0);
	assert_int_equal(RUN(command_replay, "-q", "live.raw", "-o", "replayed.trace"), STATUS_CUT);
	assert_true(check_valid("replayed.trace") > 0);
	assert_int_equal(truncate("live.raw", 5), 0);
	assert_int_equal(RUN(command_replay, "-q", "live.raw", "-o", "none.trace"), STATUS_NONE);
	assert_int_equal(access("none.trace", F_OK), -1);
}

static void full_disk_keeps_the_whole_generations(void **state)
{
	struct world *world = *state;
	struct rlimit old, low;

	open_pipeline(world, false);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	low = (struct rlimit){.rlim_cur = 10000, .rlim_max = old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
	run(world);
	finish(world, true);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_true(world->log.failure < 0);
	assert_non_null(strstr(pipeline_trace_error(world->pipe)->text, "cannot write live.trace"));
	assert_true(check_valid("live.trace") > 0);
}

static void full_disk_of_the_raw_log_leaves_the_trace(void **state)
{
	struct world *world = *state;
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	open_pipeline_into(world, full);
	run(world);
	finish(world, true);
	assert_int_equal(world->log.failure, 0);
	assert_string_equal(pipeline_trace_error(world->pipe)->text, "");
	assert_non_null(
		strstr(pipeline_raw_error(world->pipe)->text, "cannot write live.raw: No space left"));
	assert_int_equal(check_valid("live.trace"), STEPS / BOUNDARY_EVERY + 1);
}

/* A reader that closes its pipe has enough: the recording ends. */
static void closed_pipe_of_the_raw_log_is_reported(void **state)
{
	struct world *world = *state;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	signal(SIGPIPE, SIG_IGN);
	open_pipeline_into(world, ends[1]);
	run(world);
	finish(world, true);
	assert_int_equal(world->log.failure, -EPIPE);
	assert_non_null(strstr(pipeline_raw_error(world->pipe)->text, "the reader has closed the pipe"));
	assert_true(check_valid("live.trace") > 0);
}

static void repair_cuts_a_torn_trace(void **state)
{
	struct world *world = *state;
	struct bytes bytes;

	open_pipeline(world, false);
	run(world);
	finish(world, true);
	bytes = read_file("live.trace");
	free(bytes.data);
	assert_int_equal(RUN(command_check, "--json", "live.trace"), STATUS_WHOLE);
	assert_int_equal(truncate("live.trace", (off_t)bytes.n - 100), 0);
	assert_int_equal(RUN(command_check, "live.trace"), STATUS_CUT);
	assert_int_equal(symlink("live.trace", "link"), 0);
	assert_int_equal(RUN(command_check, "--repair", "link"), STATUS_NONE);
	assert_int_equal(RUN(command_check, "--repair", "live.trace"), STATUS_CUT);
	assert_int_equal(check_valid("live.trace"), STEPS / BOUNDARY_EVERY);
	assert_int_equal(RUN(command_check, "live.trace"), STATUS_WHOLE);
	assert_int_equal(truncate("live.trace", 30), 0);
	assert_int_equal(RUN(command_check, "--repair", "live.trace"), STATUS_NONE);
	bytes = read_file("live.trace");
	assert_int_equal(bytes.n, 30);
	free(bytes.data);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

static const struct CMUnitTest tests[] = {
	TEST(trace_is_valid_and_replay_gives_the_same),      TEST(native_code_has_names),
	TEST(log_without_its_end_is_used_as_far_as_it_goes), TEST(torn_log_is_used_as_far_as_it_goes),
	TEST(full_disk_keeps_the_whole_generations),         TEST(repair_cuts_a_torn_trace),
	TEST(full_disk_of_the_raw_log_leaves_the_trace),     TEST(closed_pipe_of_the_raw_log_is_reported),
};

UNIT_TESTS(tests, NULL, NULL);
