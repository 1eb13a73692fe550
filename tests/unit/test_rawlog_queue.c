/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Records arrive in another process, complete and in order. The producer never waits, and memory is
 * returned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rawlog/queue.h"

enum { BUDGET = 4 << 20, BIG = 3 << 20 };

static size_t size_of(uint64_t number)
{
	return 8 + number * 7919 % 3000 + (number % 500 == 499 ? BIG : 0);
}

static uint32_t type_of(uint64_t number)
{
	return (uint32_t)(1 + number % 15);
}

static int put(struct queue *queue, uint8_t *buffer, uint64_t number)
{
	struct log_record record = {
		.type = type_of(number), .size = (uint32_t)size_of(number), .data = buffer};

	buffer[record.size - 1] = (uint8_t)number;
	memcpy(buffer, &number, sizeof(number));
	return queue_put(queue, &record);
}

/* True if the record is the one with this number, unchanged. */
static bool is_right(const struct log_record *record, uint64_t number)
{
	uint64_t got;

	if (record->size != size_of(number) || record->type != type_of(number) || (uintptr_t)record->data % 8)
		return false;
	memcpy(&got, record->data, sizeof(got));
	return got == number &&
	       (record->size == 8 || ((const uint8_t *)record->data)[record->size - 1] == (uint8_t)number);
}

static struct queue *new_queue(void)
{
	struct error err;
	struct queue *queue = queue_new(BUDGET, &err);

	assert_non_null(queue);
	return queue;
}

/*
 * Runs in a child process, which exits with 0 if all records arrived. Pauses for pause_us after every
 * thousand.
 */
static pid_t consume(struct queue *queue, uint64_t count, unsigned pause_us)
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
		if (!is_right(&record, taken++))
			_exit(1);
		if (pause_us && taken % 1000 == 0)
			usleep(pause_us);
	}
	_exit(queue_take(queue, &(struct log_record){0}) ? 2 : 0);
}

static void run(uint64_t count, unsigned pause_us)
{
	struct queue *queue = new_queue();
	pid_t pid = consume(queue, count, pause_us);
	uint8_t *buffer = calloc(1, BIG + 4096);
	int status;

	assert_true(pid > 0);
	for (uint64_t i = 0; i < count; i++) {
		while (queue_fill(queue) >= 1)
			usleep(100);
		assert_int_equal(put(queue, buffer, i), 0);
		if (i % 64 == 0)
			queue_wake(queue);
	}
	queue_wake(queue);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(queue_fill(queue) == 0);
	queue_free(queue);
	free(buffer);
}

static void test_all_arrive_in_order(void **state)
{
	(void)state;
	run(200000, 0);
}

static void test_a_slow_consumer_gets_all(void **state)
{
	(void)state;
	run(20000, 5000);
}

/* Without a consumer, the producer is not blocked, and gets an error when there is no more space at all. */
static void test_a_pile_grows_and_goes(void **state)
{
	struct queue *queue = new_queue();
	uint8_t *buffer = calloc(1, BIG + 4096);
	struct log_record record;
	uint64_t n = 0;
	double fill = 0;

	(void)state;
	while (put(queue, buffer, n) == 0) {
		assert_true(queue_fill(queue) > fill);
		fill = queue_fill(queue);
		n++;
	}
	assert_true(fill > 10); /* far above the budget, which the callers enforce */
	assert_int_equal(put(queue, buffer, n), -ENOBUFS);
	for (uint64_t i = 0; i < n; i++) {
		assert_true(queue_take(queue, &record));
		assert_true(is_right(&record, i));
	}
	assert_false(queue_take(queue, &record));
	for (uint64_t i = 0; i < 3000; i++) { /* starts again at the beginning of the memory */
		assert_int_equal(put(queue, buffer, i), 0);
		assert_true(queue_take(queue, &record));
		assert_true(is_right(&record, i));
	}
	queue_free(queue);
	free(buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_arrive_in_order),
		cmocka_unit_test(test_a_slow_consumer_gets_all),
		cmocka_unit_test(test_a_pile_grows_and_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
