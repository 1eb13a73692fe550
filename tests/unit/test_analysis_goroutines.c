/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Groups of goroutines, made from the records of two listings. */

#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/goroutines/print.h"

enum { CHAN = 1, SLEEP = 2, RUNNING = 2, WAITING = 4, LEAKED = 10, SECOND = 1000000000 };

struct row {
	uint64_t goid, stack, waitsince;
	uint32_t status;
	uint8_t reason, seq;
	uint32_t labels;
};

static int put(struct g_listing *listing, enum log_type type, const void *data, size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = data};

	assert_int_equal(rawlog_check_record(&record, NULL), 0);
	return listing_put(listing, &record);
}

static void put_reason(struct g_listing *listing, uint16_t index, const char *text)
{
	uint64_t buffer[8];
	struct log_reason reason = {.table = REASON_WAIT, .index = index, .len = (uint32_t)strlen(text)};

	memcpy(buffer, &reason, sizeof(reason));
	memcpy((char *)buffer + sizeof(reason), text, reason.len);
	assert_int_equal(put(listing, LOG_REASON, buffer, sizeof(reason) + reason.len), 0);
}

static void put_label(struct g_listing *listing, uint32_t number, const char *key, const char *value)
{
	struct log_labels head = {.number = number, .n = 1};
	struct log_label label = {(uint16_t)strlen(key), (uint16_t)strlen(value)};
	uint64_t buffer[16];
	char *at = (char *)buffer;

	memcpy(at, &head, sizeof(head));
	memcpy(at + sizeof(head), &label, sizeof(label));
	at += sizeof(head) + sizeof(label);
	memcpy(at, key, label.key_len);
	memcpy(at + label.key_len, value, label.value_len);
	at += label.key_len + label.value_len;
	assert_int_equal(put(listing, LOG_LABELS, buffer, (size_t)(at - (char *)buffer)), 0);
}

/* A listing that ended `at` seconds after boot. */
static void make_listing(struct g_listing *listing, unsigned at, const struct row *rows, unsigned n)
{
	struct log_snapshot head = {.time_before = at * (uint64_t)SECOND,
				    .time_after = at * (uint64_t)SECOND};

	memset(listing, 0, sizeof(*listing));
	put_reason(listing, CHAN, "chan receive");
	put_reason(listing, SLEEP, "sleep");
	put_label(listing, 1, "handler", "/a");
	put_label(listing, 2, "handler", "");
	assert_int_equal(put(listing, LOG_SNAPSHOT, &head, sizeof(head)), 0);
	for (unsigned i = 0; i < n; i++) {
		struct log_g g = {.g = 4096 + rows[i].goid,
				  .goid = rows[i].goid,
				  .stack = rows[i].stack,
				  .status = rows[i].status,
				  .waitreason = rows[i].reason};

		assert_int_equal(put(listing, LOG_GS, &g, sizeof(g)), 0);
	}
	for (unsigned i = 0; i < n; i++) {
		struct log_g_details details = {.goid = rows[i].goid,
						.waitsince = rows[i].waitsince,
						.labels = rows[i].labels,
						.seq = rows[i].seq,
						.flags = LOG_G_SEQ};

		assert_int_equal(put(listing, LOG_G_DETAILS, &details, sizeof(details)), 0);
	}
	assert_true(listing_is_whole(listing));
}

static void test_unmoved(void **state)
{
	const struct row first[] = {{9, 7, 0, WAITING, CHAN, 3, 0},
				    {5, 7, SECOND, WAITING, CHAN, 3, 0},
				    {4, 7, 0, WAITING, CHAN, 3, 0},
				    {6, 8, 0, WAITING, SLEEP, 3, 0}};
	const struct row second[] = {{9, 7, 0, WAITING, CHAN, 3, 0},
				     {5, 7, SECOND, WAITING, CHAN, 3, 0},
				     {4, 7, 0, WAITING, CHAN, 4, 0},
				     {6, 8, 0, WAITING, SLEEP, 3, 0},
				     {11, 0, 0, RUNNING, 0, 1, 0}};
	const struct groups_options options = {.by = BY_STACK};
	struct g_listing before, now;
	struct groups groups;

	(void)state;
	make_listing(&before, 100, first, 4);
	make_listing(&now, 102, second, 5);
	assert_int_equal(groups_make(&groups, &before, &now, NULL, 0, &options), 0);
	assert_int_equal(groups.n, 3);
	assert_int_equal(groups.total, 5);
	assert_int_equal(groups.between_ns, 2ull * SECOND);
	assert_int_equal(groups.all[0].n, 3);
	assert_int_equal(groups.all[0].still, 2);
	assert_int_equal(groups.all[0].goids[0], 4);
	assert_true(group_is_suspect(&groups.all[0]));
	assert_int_equal(group_most_ns(&groups, &groups.all[0]), 101ull * SECOND);
	assert_string_equal(group_state(&groups, &groups.all[1]), "sleep");
	assert_int_equal(groups.all[1].still, 1);
	assert_false(group_is_suspect(&groups.all[1]));
	assert_string_equal(group_state(&groups, &groups.all[2]), "running");
	groups_free(&groups);
	listing_free(&before);
	listing_free(&now);
}

/* The leak profile found them between the two listings; they are still waiting. */
static void test_leaked(void **state)
{
	const struct row first[] = {{5, 7, SECOND, WAITING, CHAN, 3, 0}};
	const struct row second[] = {{5, 7, SECOND, LEAKED, CHAN, 3, 0}, {6, 7, SECOND, WAITING, CHAN, 3, 0}};
	const struct groups_options options = {.by = BY_STACK};
	struct g_listing before, now;
	struct groups groups;

	(void)state;
	make_listing(&before, 100, first, 1);
	make_listing(&now, 102, second, 2);
	assert_int_equal(groups_make(&groups, &before, &now, NULL, 0, &options), 0);
	assert_int_equal(groups.n, 2);
	assert_true(group_is_leaked(&groups.all[0]) && group_is_suspect(&groups.all[0]));
	assert_string_equal(group_state(&groups, &groups.all[0]), "chan receive");
	assert_int_equal(groups.all[0].still, 1);
	assert_int_equal(group_most_ns(&groups, &groups.all[0]), 101ull * SECOND);
	assert_false(group_is_leaked(&groups.all[1]) || group_is_suspect(&groups.all[1]));
	groups_free(&groups);
	assert_int_equal(groups_make(&groups, NULL, &now, NULL, 0, &options), 0);
	assert_true(group_is_suspect(&groups.all[0]));
	groups_free(&groups);
	listing_free(&before);
	listing_free(&now);
}

/* Without g.trackingSeq, only goroutines that a garbage collection saw waiting are known not to have run. */
static void test_without_sequence(void **state)
{
	const struct row rows[] = {{1, 7, 0, WAITING, CHAN, 0, 0}, {2, 7, SECOND, WAITING, CHAN, 0, 0}};
	const struct groups_options options = {.by = BY_STACK};
	struct g_listing before, now;
	struct groups groups;

	(void)state;
	make_listing(&before, 100, rows, 2);
	make_listing(&now, 102, rows, 2);
	now.all[0].details.flags = now.all[1].details.flags = 0;
	assert_int_equal(groups_make(&groups, &before, &now, NULL, 0, &options), 0);
	assert_int_equal(groups.n, 1);
	assert_int_equal(groups.all[0].still, 1);
	groups_free(&groups);
	listing_free(&before);
	listing_free(&now);
}

static void test_by_label(void **state)
{
	const struct row rows[] = {{1, 7, 0, WAITING, CHAN, 0, 1},
				   {2, 7, 0, WAITING, CHAN, 0, 0},
				   {3, 8, 0, WAITING, CHAN, 0, 1},
				   {4, 7, 0, WAITING, CHAN, 0, 2},
				   {5, 7, 0, WAITING, CHAN, 0, 1}};
	const struct groups_options options = {.by = BY_LABEL, .label = "handler"};
	struct g_listing now;
	struct groups groups;
	size_t len = 9;

	(void)state;
	make_listing(&now, 100, rows, 5);
	assert_int_equal(groups_make(&groups, NULL, &now, NULL, 0, &options), 0);
	assert_int_equal(groups.n, 4);
	assert_memory_equal(group_label(&groups, &groups.all[0], &len), "/a", 2);
	assert_int_equal(len, 2);
	assert_int_equal(groups.all[0].n, 2);
	assert_int_equal(groups.all[0].label_total, 3);
	assert_int_equal(groups.all[1].label_total, 3);
	/* One goroutine without the label, and one with an empty value. */
	for (unsigned i = 2; i < 4; i++) {
		const char *value = group_label(&groups, &groups.all[i], &len);

		assert_true(groups.all[i].goids[0] == 4 ? value && len == 0 : !value);
	}
	groups_free(&groups);
	listing_free(&now);
}

/* Without function names, the lock behind a semaphore is unknown. */
/* Without names of functions a semaphore is nobody's. */
static void test_same_lock(void **state)
{
	const struct row rows[] = {{1, 7, 0, WAITING, CHAN, 0, 0},
				   {2, 7, 0, WAITING, CHAN, 0, 0},
				   {3, 8, 0, WAITING, CHAN, 0, 0},
				   {4, 8, 0, WAITING, SLEEP, 0, 0}};
	static const uint64_t awaited[] = {AWAITED(AWAITED_CHANNEL, 0xc000010000),
					   AWAITED(AWAITED_CHANNEL, 0xc000020000),
					   AWAITED(AWAITED_CHANNEL, 0xc000020000), 0};
	const struct groups_options options = {.by = BY_STACK};
	struct g_listing now;
	struct groups groups;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	make_listing(&now, 100, rows, 4);
	for (unsigned i = 0; i < 4; i++)
		log_g_set_awaited(&now.all[i].g, awaited[i]);
	assert_int_equal(groups_make(&groups, NULL, &now, NULL, 0, &options), 0);
	assert_int_equal(groups.nlocks, 2);
	assert_int_equal(groups.locks[0].n, 2);
	assert_string_equal(strtab_get(groups.strings, groups.locks[0].name, NULL), "chan 0xc000020000");
	assert_int_equal(groups.all[0].nlocks, 2);
	groups_print_text(&groups, out, false);
	fclose(out);
	assert_non_null(strstr(text, "Wait for the same lock or channel:\n        2  chan 0xc000020000\n\n"));
	assert_non_null(strstr(text, "for chan 0xc000010000: 1\n"));
	free(text);
	groups_free(&groups);
	listing_free(&now);
}

static void test_bad_records(void **state)
/* Records that do not belong together. */
{
	struct log_g g = {.g = 8, .goid = 1};
	struct log_g_details other = {.goid = 2}, labelled = {.goid = 1, .labels = 1};
	struct log_labels labels = {.number = 7};
	struct g_listing listing = {.n = 0};

	(void)state;
	assert_int_equal(put(&listing, LOG_G_DETAILS, &other, sizeof(other)), -EBADMSG);
	assert_int_equal(put(&listing, LOG_GS, &g, sizeof(g)), 0);
	assert_int_equal(put(&listing, LOG_G_DETAILS, &other, sizeof(other)), -EBADMSG);
	assert_int_equal(put(&listing, LOG_G_DETAILS, &labelled, sizeof(labelled)), -EBADMSG);
	assert_int_equal(put(&listing, LOG_LABELS, &labels, sizeof(labels)), -EBADMSG);
	assert_false(listing_is_whole(&listing));
	listing_free(&listing);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_unmoved),          cmocka_unit_test(test_leaked),
	cmocka_unit_test(test_without_sequence), cmocka_unit_test(test_by_label),
	cmocka_unit_test(test_same_lock),        cmocka_unit_test(test_bad_records),
};

UNIT_TESTS(tests, NULL, NULL);
