/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/inserts.h"

#include <errno.h>
#include <stdlib.h>

#include "util/array.h"

int inserts_add(struct insert_list *inserts, size_t place, const struct op *op)
{
	if (array_grow(&inserts->all, &inserts->capacity, inserts->n + 1, sizeof(*inserts->all)))
		return -ENOMEM;
	inserts->all[inserts->n] = (struct insert){.place = place, .seq = inserts->n, .op = *op};
	inserts->n++;
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct insert *one = a, *other = b;

	if (one->place != other->place)
		return one->place < other->place ? -1 : 1;
	if (one->op.time != other->op.time)
		return one->op.time < other->op.time ? -1 : 1;
	return one->seq < other->seq ? -1 : 1;
}

/* Works from the end, so that no op is overwritten before it is moved. */
void inserts_apply(struct insert_list *inserts, struct op_list *list)
{
	size_t from = list->n, to, n = inserts->n;

	if (!n)
		return;
	qsort(inserts->all, n, sizeof(*inserts->all), by_place);
	for (size_t i = 0; i < n; i++)
		op_list_append(list);
	if (list->oom)
		return;
	for (to = list->n; n;) {
		if (inserts->all[n - 1].place == from)
			list->ops[--to] = inserts->all[--n].op;
		else
			list->ops[--to] = list->ops[--from];
	}
	op_list_keep_apart(list, from);
}

void inserts_free(struct insert_list *inserts)
{
	free(inserts->all);
	*inserts = (struct insert_list){0};
}
