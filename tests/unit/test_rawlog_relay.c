/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Records arrive in another thread, whole and in order; what fails there is told here, once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rawlog/relay.h"

struct taker {
	uint64_t taken, bytes;
	unsigned wait_us; /* a record */
	uint64_t fail_at; /* 0 = never */
	uint64_t wrong;   /* records out of order, or not as they were put */
};

static size_t size_of(uint64_t number)
{
	return 8 + number * 7919 % 3000 + (number % 500 == 499 ? 3u << 20 : 0);
}

static int take(void *ctx, const struct log_record *record)
{
	struct taker *taker = ctx;
	uint64_t number;

	memcpy(&number, record->data, sizeof(number));
	if (number != taker->taken || record->size != size_of(number) || record->type != 1 + number % 15 ||
	    (uintptr_t)record->data % 8 ||
	    (record->size > 8 && ((const uint8_t *)record->data)[record->size - 1] != (uint8_t)number))
		taker->wrong++;
	taker->taken++;
	taker->bytes += record->size;
	if (taker->wait_us)
		usleep(taker->wait_us);
	return taker->taken == taker->fail_at ? -ENOSPC : 0;
}

static int put(struct relay *relay, uint8_t *buffer, uint64_t number)
{
	struct log_record record = {
		.type = (uint32_t)(1 + number % 15), .size = (uint32_t)size_of(number), .data = buffer};

	buffer[record.size - 1] = (uint8_t)number;
	memcpy(buffer, &number, sizeof(number));
	return relay_put(relay, &record);
}

static void run(struct taker *taker, uint64_t count, unsigned *failures)
{
	struct relay *relay = relay_new(take, taker);
	uint8_t *buffer = calloc(1, 4u << 20);

	assert_non_null(relay);
	assert_non_null(buffer);
	for (uint64_t i = 0; i < count; i++) {
		int rc = put(relay, buffer, i);

		assert_true(rc == 0 || rc == -ENOSPC);
		*failures += rc != 0;
		if (i % 1000 == 999) {
			*failures += relay_flush(relay) != 0;
			assert_int_equal(taker->taken, i + 1);
		}
	}
	relay_free(relay);
	assert_int_equal(taker->taken, count);
	assert_int_equal(taker->wrong, 0);
	free(buffer);
}

static void test_all_arrive_in_order(void **state)
{
	struct taker taker = {0};
	unsigned failures = 0;

	(void)state;
	run(&taker, 20000, &failures);
	assert_int_equal(failures, 0);
}

/* More than the relay holds: the putter waits, nothing is dropped. */
static void test_a_slow_taker_holds_up(void **state)
{
	struct taker taker = {.wait_us = 20};
	unsigned failures = 0;

	(void)state;
	run(&taker, 8500, &failures);
	assert_true(taker.bytes > 40u << 20);
	assert_int_equal(failures, 0);
}

static void test_a_failure_is_told_once(void **state)
{
	struct taker taker = {.fail_at = 1234};
	unsigned failures = 0;

	(void)state;
	run(&taker, 5000, &failures);
	assert_int_equal(failures, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_arrive_in_order),
		cmocka_unit_test(test_a_slow_taker_holds_up),
		cmocka_unit_test(test_a_failure_is_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
