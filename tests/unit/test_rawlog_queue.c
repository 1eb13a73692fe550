/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Records arrive in another process, in order and with every byte that was put. The producer never waits, and
 * memory is returned.
 */

#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rawlog/queue.h"

enum { BUDGET = 4 << 20, BIG = 3 << 20, MAX_SIZE = 5 << 20 };

static uint64_t mix(uint64_t value)
{
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
	value = (value ^ value >> 27) * 0x94d049bb133111eb;
	return value ^ value >> 31;
}

/*
 * The sizes of a run of records. Both processes compute them: whatever the producer puts, the consumer knows
 * every byte of it.
 */
struct sizes {
	uint64_t seed;
	size_t (*of)(uint64_t number, uint64_t seed); /* 8 to MAX_SIZE */
};

static size_t mostly_small(uint64_t number, uint64_t seed)
{
	(void)seed;
	return 8 + number * 7919 % 3000 + (number % 500 == 499 ? BIG : 0);
}

/* From 8 bytes to 5 MiB, as many of each magnitude; few are multiples of 8. */
static size_t of_all_magnitudes(uint64_t number, uint64_t seed)
{
	uint64_t random = mix(number + mix(seed));
	size_t least = (size_t)8 << random % 20;
	size_t size = least + mix(random) % least;

	return size < MAX_SIZE ? size : MAX_SIZE;
}

static uint32_t type_of(uint64_t number)
{
	return (uint32_t)(1 + number % 15);
}

static uint64_t word_of(uint64_t number, size_t at)
{
	return (number + 1) * 0x9e3779b97f4a7c15 + at * 0x94d049bb133111eb + 1;
}

static int put(struct queue *queue, const struct sizes *sizes, uint64_t number)
{
	static uint64_t buffer[MAX_SIZE / sizeof(uint64_t) + 1];
	struct log_record record = {
		.type = type_of(number), .size = (uint32_t)sizes->of(number, sizes->seed), .data = buffer};

	for (size_t at = 0; at <= record.size / sizeof(*buffer); at++)
		buffer[at] = word_of(number, at);
	return queue_put(queue, &record);
}

/* True if the record is the one with this number, with every byte that was put. */
static bool is_right(const struct log_record *record, const struct sizes *sizes, uint64_t number)
{
	const uint64_t *words = record->data;
	size_t n = record->size / sizeof(*words);
	uint64_t last = word_of(number, n);

	if (record->size != sizes->of(number, sizes->seed) || record->type != type_of(number) ||
	    (uintptr_t)record->data % 8)
		return false;
	for (size_t at = 0; at < n; at++) {
		if (words[at] != word_of(number, at))
			return false;
	}
	return memcmp(words + n, &last, record->size % sizeof(*words)) == 0;
}

static struct queue *new_queue(void)
{
	struct error err;
	struct queue *queue = queue_new(BUDGET, &err);

	assert_non_null(queue);
	return queue;
}

/*
 * Runs in a child process, which exits with 0 if all records arrived. Pauses for up to pause_us after every
 * pause_each records, with a record in hand, which is still the same afterwards.
 */
static pid_t consume(struct queue *queue, const struct sizes *sizes, uint64_t count, uint64_t pause_each,
		     unsigned pause_us)
{
	pid_t pid = fork();
	uint64_t taken = 0;

	if (pid)
		return pid;
	while (taken < count) {
		struct log_record record;

		if (!queue_take(queue, &record)) {
			queue_arm(queue);
			queue_wait(queue, 1000);
			continue;
		}
		if (!is_right(&record, sizes, taken))
			_exit(1);
		if (++taken % pause_each)
			continue;
		usleep((unsigned)(mix(taken) % pause_us) + 1);
		if (!is_right(&record, sizes, taken - 1))
			_exit(3);
	}
	_exit(queue_take(queue, &(struct log_record){0}) ? 2 : 0);
}

static void run(const struct sizes *sizes, uint64_t count, uint64_t pause_each, unsigned pause_us)
{
	struct queue *queue = new_queue();
	pid_t pid = consume(queue, sizes, count, pause_each, pause_us);
	int status;

	assert_true(pid > 0);
	for (uint64_t i = 0; i < count; i++) {
		while (queue_fill(queue) >= 1)
			usleep(100);
		assert_int_equal(put(queue, sizes, i), 0);
		if (i % 64 == 0)
			queue_wake(queue);
	}
	queue_wake(queue);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(queue_fill(queue) == 0);
	queue_free(queue);
}

static void test_all_arrive_in_order(void **state)
{
	const struct sizes sizes = {.of = mostly_small};

	(void)state;
	run(&sizes, 200000, 1000, 1);
}

static void test_a_slow_consumer_gets_all(void **state)
{
	const struct sizes sizes = {.of = mostly_small};

	(void)state;
	run(&sizes, 20000, 1000, 10000);
}

/* --- every byte that is taken equals the byte that was put --- */

enum { RUNS = 8, MAX_BACKLOG = 96 << 20 };

/* In one process: a random number of records is put, then a random number is taken, again and again. */
static void interleave(uint64_t seed)
{
	const struct sizes sizes = {.seed = seed, .of = of_all_magnitudes};
	struct queue *queue = new_queue();
	struct log_record record = {0};
	uint64_t n = 0, taken = 0;

	for (uint64_t step = 0; step < 60; step++) {
		uint64_t random = mix(seed * 1000 + step), left = 0;
		size_t backlog = (random >> 8) % (random % 8 ? 4 << 20 : MAX_BACKLOG);

		do
			assert_int_equal(put(queue, &sizes, n++), 0);
		while (queue_fill(queue) * BUDGET < (double)backlog);
		assert_true(!taken || is_right(&record, &sizes, taken - 1)); /* the one in hand */
		if (random % 3 == 0)
			left = (random >> 40) % (n - taken);
		while (n - taken > left)
			assert_true(queue_take(queue, &record) && is_right(&record, &sizes, taken++));
	}
	while (taken < n)
		assert_true(queue_take(queue, &record) && is_right(&record, &sizes, taken++));
	assert_false(queue_take(queue, &record));
	queue_free(queue);
}

static void test_every_byte_in_one_process(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= RUNS; seed++)
		interleave(seed);
}

/*
 * In two processes: the producer lets a random backlog accumulate, then waits until a random part of it is
 * left, or nothing. The consumer has a record in hand for most of the time.
 */
static void between_two(uint64_t seed)
{
	enum { COUNT = 500 };
	const struct sizes sizes = {.seed = seed, .of = of_all_magnitudes};
	struct queue *queue = new_queue();
	pid_t pid = consume(queue, &sizes, COUNT, 1 + seed % 5, 2000);
	uint64_t n = 0;
	int status;

	assert_true(pid > 0);
	for (uint64_t cycle = 0; n < COUNT; cycle++) {
		uint64_t random = mix(seed * 1000 + cycle);
		double backlog = (double)(random % (32 << 20)) / BUDGET;
		double left = random >> 40 & 1 ? backlog * (double)(random >> 48) / 65536 : 0;

		do
			assert_int_equal(put(queue, &sizes, n++), 0);
		while (n < COUNT && queue_fill(queue) < backlog);
		queue_flush(queue);
		while (queue_fill(queue) > left) {
			if (waitpid(pid, &status, WNOHANG) == pid)
				fail_msg("the consumer exited with status %d", WEXITSTATUS(status));
			usleep(100);
		}
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	queue_free(queue);
}

static void test_every_byte_between_two_processes(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= RUNS; seed++)
		between_two(seed);
}

/* --- memory --- */

static size_t size_of_big(uint64_t number, uint64_t seed)
{
	(void)seed;
	return number ? 917504 : 64 << 10; /* 16,384 goroutines of a snapshot after 1,024 records */
}

/*
 * The slot that is open when a backlog has been taken may lie among the chunks whose memory is returned, or
 * across their border. What is in it stays.
 */
static void test_the_open_slot_keeps_its_memory(void **state)
{
	const struct sizes sizes = {.of = size_of_big};

	(void)state;
	for (uint64_t backlog = 1; backlog < 40; backlog++) {
		struct queue *queue = new_queue();
		struct log_record record;
		uint64_t n = 0, taken = 0;

		while (n < backlog)
			assert_int_equal(put(queue, &sizes, n++), 0);
		while (taken < n)
			assert_true(queue_take(queue, &record) && is_right(&record, &sizes, taken++));
		for (unsigned i = 0; i < 3; i++) {
			assert_int_equal(put(queue, &sizes, n++), 0);
			assert_true(is_right(&record, &sizes, backlog - 1));
		}
		while (taken < n)
			assert_true(queue_take(queue, &record) && is_right(&record, &sizes, taken++));
		queue_free(queue);
	}
}

/* Returns this process's resident shared memory, in bytes. */
static size_t shared_memory(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[128];
	size_t kib = 0;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		sscanf(line, "RssShmem: %zu", &kib);
	fclose(file);
	return kib << 10;
}

static void test_memory_of_a_backlog_is_returned(void **state)
{
	const struct sizes sizes = {.of = size_of_big};
	struct queue *queue = new_queue();
	struct log_record record;
	size_t before = shared_memory();
	uint64_t n = 0, taken = 0;

	(void)state;
	while (n < 200)
		assert_int_equal(put(queue, &sizes, n++), 0);
	assert_true(shared_memory() - before > 150u << 20);
	while (taken < n)
		assert_true(queue_take(queue, &record) && is_right(&record, &sizes, taken++));
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(put(queue, &sizes, n++), 0);
		assert_true(queue_take(queue, &record) && is_right(&record, &sizes, taken++));
	}
	assert_true(shared_memory() - before < 24u << 20);
	queue_free(queue);
}

/* Without a consumer, the producer is not blocked, and gets an error when there is no more space at all. */
static void test_a_pile_grows_and_goes(void **state)
{
	const struct sizes sizes = {.of = mostly_small};
	struct queue *queue = new_queue();
	struct log_record record;
	uint64_t n = 0;
	double fill = 0;

	(void)state;
	while (put(queue, &sizes, n) == 0) {
		assert_true(queue_fill(queue) > fill);
		fill = queue_fill(queue);
		n++;
	}
	assert_true(fill > 10); /* far above the budget, which the callers enforce */
	assert_int_equal(put(queue, &sizes, n), -ENOBUFS);
	for (uint64_t i = 0; i < n; i++) {
		assert_true(queue_take(queue, &record));
		assert_true(is_right(&record, &sizes, i));
	}
	assert_false(queue_take(queue, &record));
	for (uint64_t i = 0; i < 3000; i++) { /* starts again at the beginning of the memory */
		assert_int_equal(put(queue, &sizes, i), 0);
		assert_true(queue_take(queue, &record));
		assert_true(is_right(&record, &sizes, i));
	}
	queue_free(queue);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_all_arrive_in_order),
	cmocka_unit_test(test_a_slow_consumer_gets_all),
	cmocka_unit_test(test_every_byte_in_one_process),
	cmocka_unit_test(test_every_byte_between_two_processes),
	cmocka_unit_test(test_the_open_slot_keeps_its_memory),
	cmocka_unit_test(test_memory_of_a_backlog_is_returned),
	cmocka_unit_test(test_a_pile_grows_and_goes),
};

UNIT_TESTS(tests, NULL, NULL);
