/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The block reason and skip for each wait reason. */
#include <string.h>

#include "unit.h"

#include "target/layout.h"
#include "target/private.h"
#include "target/reasons.h"

/* Every wait reason with which a release calls gopark has a row; others have none. */
static void test_every_wait_reason_is_known(void **state)
{
	static const char *const no_park[] = {
		"GC assist marking",  "dumping heap",    "garbage collection",  "garbage collection scan",
		"GC worker (active)", "debug call",      "GC mark termination", "stopping the world",
		"flushing",           "trace goroutine", "trace proc",          "page trace flush",
		"coroutine",          "stack growth",
	};

	(void)state;
	for (unsigned minor = release_first(); minor <= release_last(); minor++) {
		const struct reasons *waits = release_reasons(release_find(minor), REASON_WAIT);

		for (unsigned i = 0; i < waits->n; i++) {
			const char *text = waits->texts[i];
			bool known = !text || !text[0] || strcmp(park_block_reason(text, 22), "unspecified");

			for (unsigned k = 0; k < sizeof(no_park) / sizeof(no_park[0]); k++)
				known |= text && strncmp(text, no_park[k], strlen(no_park[k])) == 0;
			if (!known)
				fail_msg("go1.%u: wait reason %u, \"%s\"", minor, i, text);
		}
	}
}

static unsigned skip_of(unsigned minor, const char *wait_reason)
{
	struct target_image image = {.release = release_find(minor)};
	struct target target = {.go_minor = minor, .image = &image};
	const struct reasons *waits = release_reasons(image.release, REASON_WAIT);
	uint8_t skips[PARK_SKIPS];

	target_park_skips(&target, skips);
	for (unsigned i = 0; i < waits->n; i++) {
		if (waits->texts[i] && strcmp(waits->texts[i], wait_reason) == 0)
			return skips[i];
	}
	fail_msg("go1.%u has no wait reason \"%s\"", minor, wait_reason);
	return 0;
}

static void test_skips(void **state)
{
	(void)state;
	assert_int_equal(skip_of(26, "chan receive"), 2);
	assert_int_equal(skip_of(22, "IO wait"), 5);
	assert_int_equal(skip_of(23, "sync.Mutex.Lock"), 5);
	assert_int_equal(skip_of(24, "sync.Mutex.Lock"), 6);
	assert_int_equal(skip_of(26, "sync.RWMutex.RLock"), 4);
	assert_int_equal(skip_of(13, "chan send"), 3);
	assert_int_equal(skip_of(14, "chan send"), 2);
	assert_int_equal(skip_of(8, "select"), 2);
	assert_int_equal(skip_of(9, "select"), 1);
	assert_int_equal(skip_of(10, "sleep"), 2);
	assert_int_equal(skip_of(19, "trace reader (blocked)"), 2);
	assert_int_equal(skip_of(26, "trace reader (blocked)"), 2);
}

static void test_block_reasons(void **state)
{
	(void)state;
	assert_string_equal(park_block_reason("IO wait", 26), "network");
	assert_string_equal(park_block_reason("chan receive (nil chan)", 4), "forever");
	assert_string_equal(park_block_reason(NULL, 26), "unspecified");
	/* The v1 tracer has no event for this. */
	assert_string_equal(park_block_reason("finalizer wait", 22), "system goroutine wait");
	assert_string_equal(park_block_reason("finalizer wait", 21), "unspecified");
	assert_string_equal(park_block_reason("GC assist wait", 8), "GC mark assist wait for work");
	assert_string_equal(park_block_reason("GC assist wait", 7), "unspecified");
}

static void test_texts(void **state)
{
	const struct reasons *waits = release_reasons(release_find(9), REASON_WAIT);
	const struct reasons *blocks = release_reasons(release_find(9), REASON_BLOCK);
	unsigned i = reasons_index(waits, "chan receive (nil", strlen("chan receive"));

	(void)state;
	assert_string_equal(waits->texts[i], "chan receive");
	assert_int_equal(reasons_index(waits, "chan", 4), 0);
	assert_int_equal(reasons_index(waits, "", 0), 0);
	assert_true(waits->n <= PARK_SKIPS);
	/* traceEvGoBlockRecv, also as a futile wake-up. */
	assert_string_equal(blocks->texts[23], "chan receive");
	assert_string_equal(blocks->texts[23 | 0x80], "chan receive");
	assert_ptr_not_equal(blocks, release_reasons(release_find(22), REASON_BLOCK));
	assert_string_equal(release_reasons(release_find(20), REASON_STW)->texts[1], "GC sweep termination");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_every_wait_reason_is_known),
	cmocka_unit_test(test_skips),
	cmocka_unit_test(test_block_reasons),
	cmocka_unit_test(test_texts),
};

UNIT_TESTS(tests, NULL, NULL);
