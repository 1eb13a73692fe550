/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/inserts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

int inserts_add(struct insert_list *inserts, size_t place, const struct op *op)
{
	if (array_grow(&inserts->all, &inserts->capacity, inserts->n + 1, sizeof(*inserts->all)))
		return -ENOMEM;
	inserts->all[inserts->n] = (struct insert){.place = place, .seq = inserts->n, .op = *op};
	inserts->n++;
	return 0;
}

static int inserts_by_place(const void *a, const void *b)
{
	const struct insert *one = a, *other = b;

	if (one->place != other->place)
		return one->place < other->place ? -1 : 1;
	if (one->op.time != other->op.time)
		return one->op.time < other->op.time ? -1 : 1;
	return one->seq < other->seq ? -1 : 1;
}

/* Works from the end, so that no op is overwritten before it is moved. */
static void make_way(const struct insert_list *inserts, struct op *ops, size_t from)
{
	for (size_t n = inserts->n; n; n--) {
		size_t place = inserts->all[n - 1].place;

		memmove(ops + place + n, ops + place, (from - place) * sizeof(*ops));
		ops[place + n - 1] = inserts->all[n - 1].op;
		from = place;
	}
}

/* Another thread's op matters only if it is in the last op's time unit (op_earliest()). */
static bool is_same_spacing(const struct op_spacing *one, const struct op_spacing *other)
{
	uint64_t unit = one->last - one->last % OP_UNIT_NS;

	return one->last == other->last && one->m == other->m &&
	       (one->other == other->other || (one->other < unit && other->other < unit));
}

/* Dates the inserted ops, and those behind each of them until one is as it was without it. */
static void keep_apart(const struct insert_list *inserts, struct op_list *list)
{
	size_t at, n = 0;

	while (n < inserts->n) {
		struct op_spacing now = op_list_spacing(list, inserts->all[n].place + n), was = now;

		for (at = inserts->all[n].place + n; at < list->n; at++) {
			bool is_new = n < inserts->n && inserts->all[n].place + n == at;

			if (!is_new && is_same_spacing(&now, &was))
				break;
			if (is_new)
				n++;
			else
				op_dated(&was, list->ops[at].m, list->ops[at].time);
			op_list_date(list, &now, at);
		}
	}
}

void inserts_apply(struct insert_list *inserts, struct op_list *list)
{
	size_t from = list->n;

	if (!inserts->n)
		return;
	qsort(inserts->all, inserts->n, sizeof(*inserts->all), inserts_by_place);
	for (size_t i = 0; i < inserts->n; i++)
		op_list_append(list);
	if (list->oom)
		return;
	make_way(inserts, list->ops, from);
	keep_apart(inserts, list);
}

void inserts_free(struct insert_list *inserts)
{
	free(inserts->all);
	*inserts = (struct insert_list){0};
}
