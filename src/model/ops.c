/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The list of ops of the open generation. Most are written in the order of
 * the records; what is learnt late is moved up to where it belongs.
 */
#include <stdlib.h>
#include <string.h>

#include "state.h"

struct op *append_op(struct model *md)
{
	struct op_list *list = &md->ops;
	static struct op nowhere; /* taken when memory is out; model_feed then fails */

	if (list->n == list->capacity) {
		size_t more = list->capacity ? list->capacity * 2 : 4096;
		struct op *ops = realloc(list->ops, more * sizeof(*ops));

		if (!ops) {
			md->oom = true;
			return &nowhere;
		}
		list->ops = ops;
		list->capacity = more;
	}
	return &list->ops[list->n++];
}

static bool is_birth(enum op_kind kind)
{
	return kind == OP_GO_CREATE || kind == OP_GO_CREATE_BLOCKED || kind == OP_GO_CREATE_SYSCALL;
}

static uint64_t least_time(const struct op_spacing *before, enum op_kind kind, uint32_t m)
{
	uint64_t least = op_earliest(before, kind, m), apart = before->last + OP_UNIT_NS;

	return is_birth(kind) && least < apart ? apart : least;
}

static uint64_t next_time(struct model *md, enum op_kind kind, const struct m *m)
{
	uint32_t tid = m ? m->tid : NO_M;
	struct op_spacing *before = &md->spacing;
	uint64_t least;

	before->last = md->last_time;
	/* The ring's order is the true one; the clock follows it. */
	least = least_time(before, kind, tid);
	md->last_time = md->now > least ? md->now : least;
	op_dated(before, tid, md->last_time);
	return md->last_time;
}

uint64_t op_number(const struct model *md)
{
	return md->ops.before + md->ops.n;
}

/* The last op has to do with m, and with what it runs and holds. */
static void touch(const struct model *md, struct m *m)
{
	uint64_t number = op_number(md);

	if (!m)
		return;
	m->last_op = number;
	if (m->g)
		m->g->last_op = number;
	if (m->p)
		m->p->last_op = number;
}

struct op *emit(struct model *md, enum op_kind kind, struct m *m)
{
	struct op *op = append_op(md);

	*op = (struct op){
		.time = next_time(md, kind, m),
		.kind = kind,
		.m = m ? m->tid : NO_M,
		.g = m && m->g ? m->g->index : NO_G,
		.p = m && m->p ? m->p->id : NO_P,
		.inferred = md->cause != SEEN,
	};
	touch(md, m);
	if (md->cause == INFERRED)
		md->totals.inferred++;
	else if (md->cause == REPAIRED)
		md->totals.repaired++;
	return op;
}

size_t hold_place(struct model *md, struct m *m)
{
	struct op *op = append_op(md);

	*op = (struct op){.time = next_time(md, OP_NONE, m), .kind = OP_NONE, .p = NO_P};
	touch(md, m);
	return md->ops.n - 1;
}

/* Where an op goes that follows the one with this number: behind the statuses at least. */
static size_t place_behind(const struct op_list *list, uint64_t number)
{
	uint64_t first = list->before + list->statuses;
	size_t place = (number > first ? number : first) - list->before;

	/* If that one was moved itself, this one goes to the same place, behind it. */
	for (size_t i = list->nmoved; i-- && list->moved[i].index + 1ull >= place;) {
		if (list->moved[i].index + 1ull == place)
			return list->moved[i].place;
	}
	return place;
}

void move_up(struct model *md, uint64_t behind)
{
	struct op_list *list = &md->ops;
	size_t place = place_behind(list, behind);

	if (list->n == 0 || place >= list->n)
		return;
	if (list->nmoved == list->moved_capacity) {
		size_t more = list->moved_capacity ? list->moved_capacity * 2 : 1024;
		struct moved *bigger = realloc(list->moved, more * sizeof(*bigger));

		if (!bigger) {
			md->oom = true;
			return;
		}
		list->moved = bigger;
		list->moved_capacity = more;
	}
	list->moved[list->nmoved++] =
		(struct moved){.index = (uint32_t)(list->n - 1), .place = (uint32_t)place};
}

static int by_place(const void *a, const void *b)
{
	const struct moved *one = a, *other = b;

	if (one->place != other->place)
		return one->place < other->place ? -1 : 1;
	return one->index < other->index ? -1 : one->index > other->index;
}

/* Takes the moved ops out of the list, and closes the gaps. */
static void take_out(struct op_list *list, struct op *out)
{
	size_t kept = 0, next = 0;

	for (size_t i = 0; i < list->n; i++) {
		if (next < list->nmoved && list->moved[next].index == i)
			out[next++] = list->ops[i];
		else
			list->ops[kept++] = list->ops[i];
	}
}

/* How many moved ops were taken out before ops[index]. */
static uint32_t taken_before(const struct op_list *list, uint32_t index)
{
	size_t low = 0, high = list->nmoved;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (list->moved[middle].index < index)
			low = middle + 1;
		else
			high = middle;
	}
	return (uint32_t)low;
}

/* From the end, so that nothing is overwritten before it is moved. */
static void put_in(struct op_list *list, const struct op *out, const struct moved *places)
{
	size_t kept = list->n - list->nmoved, left = list->nmoved;

	for (size_t to = list->n; left;) {
		if (kept == places[left - 1].place)
			list->ops[--to] = out[places[--left].index];
		else
			list->ops[--to] = list->ops[--kept];
	}
}

/* From this op on: whatever was moved comes right behind the one before it; times stay strictly increasing.
 */
static void retime(struct op_list *list, size_t from, const struct moved *places, size_t nplaces)
{
	struct op_spacing before = {.last = 0};
	size_t next = 0;

	for (size_t i = 0; i < list->n; i++) {
		struct op *op = &list->ops[i];
		bool is_moved = next < nplaces && i == places[next].place + next;
		uint64_t least = least_time(&before, op->kind, op->m);

		next += is_moved;
		if (i == list->statuses && least < before.last + OP_UNIT_NS)
			least = before.last + OP_UNIT_NS;
		if (i >= list->statuses && i >= from && i && (is_moved || op->time < least))
			op->time = least;
		op_dated(&before, op->m, op->time);
	}
}

void keep_apart(struct model *md, size_t from)
{
	struct op_list *list = &md->ops;

	retime(list, from, NULL, 0);
	if (list->n && list->ops[list->n - 1].time > md->last_time)
		md->last_time = list->ops[list->n - 1].time;
}

void weave(struct model *md)
{
	struct op_list *list = &md->ops;
	struct moved *places = malloc((list->nmoved + 1) * sizeof(*places));
	struct op *out = malloc((list->nmoved + 1) * sizeof(*out));

	if (!places || !out) {
		md->oom = true;
	} else if (list->nmoved) {
		take_out(list, out);
		for (uint32_t i = 0; i < list->nmoved; i++) {
			uint32_t place = list->moved[i].place;

			places[i] = (struct moved){.index = i, .place = place - taken_before(list, place)};
		}
		qsort(places, list->nmoved, sizeof(*places), by_place);
		put_in(list, out, places);
		retime(list, 0, places, list->nmoved);
	}
	list->nmoved = 0;
	if (list->n && list->ops[list->n - 1].time > md->last_time)
		md->last_time = list->ops[list->n - 1].time;
	free(places);
	free(out);
}
