/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Ops that are inserted into a generation: only those that they shift are dated again, with the same result.
 */
#include "model/inserts.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

enum { MOST_OPS = 400, MOST_INSERTS = 40, ROUNDS = 2000 };

static uint32_t below(uint32_t n)
{
	return (uint32_t)rand() % n;
}

static struct op some_op(uint64_t time)
{
	static const uint8_t kinds[] = {OP_GO_START,   OP_GO_STOP, OP_GO_UNBLOCK,
					OP_PROC_START, OP_LOG,     OP_GO_CREATE};

	return (struct op){
		.kind = kinds[below(sizeof(kinds))], .m = 1 + below(3), .time = time, .arg = below(1 << 30)};
}

/* Ops as records give them: often close together, now and then far apart. */
static void fill(struct op_list *list)
{
	uint32_t n = 1 + below(MOST_OPS);

	list->statuses = below(4);
	list->now = 1000;
	for (uint32_t i = 0; i < n; i++) {
		struct op op, *at;

		list->now += below(8) ? below(20) : below(500);
		op = some_op(0);
		at = op_list_append(list);
		*at = op;
		at->time = op_list_next_time(list, (enum op_kind)op.kind, op.m);
	}
}

static struct op_list copy_of(const struct op_list *list)
{
	struct op_list copy = *list;

	copy.ops = malloc(list->capacity * sizeof(*copy.ops));
	memcpy(copy.ops, list->ops, list->n * sizeof(*copy.ops));
	return copy;
}

/* The same in the simplest way: one at a time, with all that follow dated. */
static void insert_plainly(struct op_list *list, const struct insert *sorted, size_t n)
{
	struct op_spacing before;

	for (size_t i = 0; i < n; i++) {
		size_t at = sorted[i].place + i;

		op_list_append(list);
		memmove(list->ops + at + 1, list->ops + at, (list->n - 1 - at) * sizeof(*list->ops));
		list->ops[at] = sorted[i].op;
	}
	before = op_list_spacing(list, sorted[0].place);
	for (size_t i = sorted[0].place; i < list->n; i++)
		op_list_date(list, &before, i);
}

static void test_inserts(void **state)
{
	(void)state;
	srand(1);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct insert_list inserts = {0};
		struct op_list list = {0}, plain;
		uint32_t n = 1 + below(MOST_INSERTS);

		fill(&list);
		plain = copy_of(&list);
		for (uint32_t i = 0; i < n; i++) {
			size_t place = list.statuses < list.n
					       ? list.statuses + below((uint32_t)(list.n - list.statuses + 1))
					       : list.n;
			struct op op = some_op(place < list.n ? list.ops[place].time : list.last_time);

			assert_int_equal(inserts_add(&inserts, place, &op), 0);
		}
		inserts_apply(&inserts, &list);
		insert_plainly(&plain, inserts.all, inserts.n); /* sorted by now */
		assert_int_equal(list.n, plain.n);
		assert_int_equal(list.last_time, plain.last_time);
		for (size_t i = 0; i < list.n; i++) {
			assert_int_equal(list.ops[i].time, plain.ops[i].time);
			assert_int_equal(list.ops[i].arg, plain.ops[i].arg);
		}
		inserts_free(&inserts);
		op_list_free(&list);
		free(plain.ops);
	}
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_inserts)};

UNIT_TESTS(tests, NULL, NULL);
