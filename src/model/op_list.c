/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/op_list.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

struct op *op_list_grow(struct op_list *list)
{
	static struct op nowhere; /* used when out of memory; model_feed() then fails */
	size_t more = list->capacity ? list->capacity * 2 : 4096;
	struct op *ops = realloc(list->ops, more * sizeof(*ops));

	if (!ops) {
		list->oom = true;
		return &nowhere;
	}
	list->ops = ops;
	list->capacity = more;
	return &list->ops[list->n++];
}

static bool is_creation(enum op_kind kind)
{
	return kind == OP_GO_CREATE || kind == OP_GO_CREATE_BLOCKED || kind == OP_GO_CREATE_SYSCALL;
}

static uint64_t least_time(const struct op_spacing *before, enum op_kind kind, uint32_t m)
{
	uint64_t least = op_earliest(before, kind, m), apart = before->last + OP_UNIT_NS;

	return is_creation(kind) && least < apart ? apart : least;
}

/*
 * Returns the wanted time, or the earliest possible one after it. No op need be more than a unit after the
 * previous one.
 */
static inline uint64_t time_behind(const struct op_spacing *before, enum op_kind kind, uint32_t m,
				   uint64_t wanted)
{
	uint64_t least;

	if (wanted > before->last && wanted - before->last >= OP_UNIT_NS)
		return wanted;
	least = least_time(before, kind, m);
	return wanted > least ? wanted : least;
}

uint64_t op_list_next_time(struct op_list *list, enum op_kind kind, uint32_t tid)
{
	struct op_spacing *before = &list->spacing;

	before->last = list->last_time;
	/* The ring's order is authoritative; timestamps are adjusted to it. */
	list->last_time = time_behind(before, kind, tid, list->now);
	op_dated(before, tid, list->last_time);
	return list->last_time;
}

size_t op_list_reserve(struct op_list *list, uint32_t tid)
{
	struct op *op = op_list_append(list);

	*op = (struct op){.time = op_list_next_time(list, OP_NONE, tid), .kind = OP_NONE, .p = NO_P};
	return list->n - 1;
}

/* Returns the place of an op that follows the one with this number: at least after the statuses. */
static size_t place_behind(const struct op_list *list, uint64_t number)
{
	uint64_t first = list->before + list->statuses;
	size_t place = (number > first ? number : first) - list->before;

	/* If that op was itself moved, this one goes to the same place, after it. */
	for (size_t i = list->nmoved; i-- && list->moved[i].index + 1ull >= place;) {
		if (list->moved[i].index + 1ull == place)
			return list->moved[i].place;
	}
	return place;
}

void op_list_move_up(struct op_list *list, size_t from, uint64_t behind, uint64_t wanted)
{
	size_t place = place_behind(list, behind);

	if (place >= from + 1)
		return;
	if (array_grow(&list->moved, &list->moved_capacity, list->nmoved + list->n - from,
		       sizeof(*list->moved))) {
		list->oom = true;
		return;
	}
	for (size_t i = from; i < list->n; i++) {
		list->moved[list->nmoved++] =
			(struct moved_op){.index = (uint32_t)i, .place = (uint32_t)place};
		list->ops[i].time = wanted;
	}
}

uint64_t op_list_last_by(const struct op_list *list, uint64_t time, uint64_t least)
{
	size_t n = list->n, nmoved = list->nmoved;

	for (; n > list->statuses && list->before + n > least; n--) {
		if (nmoved && list->moved[nmoved - 1].index == n - 1)
			nmoved--;
		else if (list->ops[n - 1].time <= time)
			break;
	}
	return list->before + n;
}

/* Dates an op after those before it: its own time, if possible. */
static inline void date(struct op_list *list, struct op_spacing *before, size_t index)
{
	struct op *op = &list->ops[index];
	uint64_t time = time_behind(before, op->kind, op->m, op->time);

	if (index == list->statuses && time < before->last + OP_UNIT_NS)
		time = before->last + OP_UNIT_NS;
	if (index >= list->statuses && index)
		op->time = time;
	op_dated(before, op->m, op->time);
}

void op_list_date(struct op_list *list, struct op_spacing *before, size_t index)
{
	date(list, before, index);
	if (list->ops[index].time > list->last_time)
		list->last_time = list->ops[index].time;
}

struct op_spacing op_list_spacing(const struct op_list *list, size_t n)
{
	struct op_spacing before = {.last = 0};
	uint64_t unit;

	if (n == 0)
		return before;
	before.last = list->ops[n - 1].time;
	before.m = list->ops[n - 1].m;
	unit = before.last - before.last % OP_UNIT_NS;
	while (n && list->ops[n - 1].m == before.m && list->ops[n - 1].time >= unit)
		n--;
	before.other = n ? list->ops[n - 1].time : 0;
	return before;
}

/* The state of moving the ops of a list to their places. */
struct moves {
	struct op_list *list;
	/* list->moved[passed] is the next op that has left the position where it was written. */
	size_t passed;
	struct op *copy; /* of the ops that change places */
	size_t capacity; /* of copy */
	struct op_spacing before;
};

/* Makes first_moved as long as the list of ops; all entries are zero. */
static bool reserve_first_moved(struct op_list *list)
{
	uint32_t *bigger;

	if (list->first_capacity >= list->n)
		return true;
	bigger = calloc(list->capacity, sizeof(*bigger));
	if (!bigger)
		return false;
	free(list->first_moved);
	list->first_moved = bigger;
	list->first_capacity = list->capacity;
	return true;
}

/*
 * Links the moves to each place by the times that they want, and those with the same time in the order in
 * which they were written. Few have different times: at most one for each P.
 */
static void sort_moves(struct op_list *list)
{
	for (size_t i = list->nmoved; i; i--) {
		struct moved_op *moved = &list->moved[i - 1];
		uint32_t *link = &list->first_moved[moved->place];

		while (*link && list->ops[list->moved[*link - 1].index].time < list->ops[moved->index].time)
			link = &list->moved[*link - 1].next;
		moved->next = *link;
		*link = (uint32_t)i;
	}
}

static void forget_moves(struct op_list *list)
{
	for (size_t i = 0; i < list->nmoved; i++)
		list->first_moved[list->moved[i].place] = 0;
	list->nmoved = 0;
}

/* Returns the end of a group of ops that change places with each other: no later op moves into the group. */
static size_t end_of_moves(const struct moves *moves, size_t from)
{
	const struct moved_op *moved = moves->list->moved;
	size_t last = from;

	for (size_t i = from; i <= last; i++) {
		for (uint32_t next = moves->list->first_moved[i]; next; next = moved[next - 1].next)
			last = moved[next - 1].index > last ? moved[next - 1].index : last;
	}
	return last + 1;
}

static bool copy_ops(struct moves *moves, size_t from, size_t end)
{
	size_t n = end - from;

	if (array_grow(&moves->copy, &moves->capacity, n, sizeof(*moves->copy)))
		return false;
	memcpy(moves->copy, moves->list->ops + from, n * sizeof(*moves->copy));
	return true;
}

/* Reorders the ops in [from, end). */
static void reorder(struct moves *moves, size_t from, size_t end)
{
	struct op_list *list = moves->list;
	const struct op *copy = moves->copy;

	for (size_t i = from, to = from; i < end; i++) {
		for (uint32_t next = moves->list->first_moved[i]; next; next = list->moved[next - 1].next) {
			list->ops[to] = copy[list->moved[next - 1].index - from];
			date(list, &moves->before, to++);
		}
		if (moves->passed < list->nmoved && list->moved[moves->passed].index == i) {
			moves->passed++;
			continue;
		}
		list->ops[to] = copy[i - from];
		date(list, &moves->before, to++);
	}
}

/* Most moves span few ops, so only those are copied. One pass over all ops. */
static bool apply_all(struct moves *moves)
{
	struct op_list *list = moves->list;

	for (size_t i = 0, end; i < list->n; i = end) {
		end = i + 1;
		if (!moves->list->first_moved[i]) {
			date(list, &moves->before, i);
			continue;
		}
		end = end_of_moves(moves, i);
		if (end == i + 1) { /* it stays where it was written */
			date(list, &moves->before, i);
			moves->passed++;
			continue;
		}
		if (!copy_ops(moves, i, end))
			return false;
		reorder(moves, i, end);
	}
	return true;
}

void op_list_apply_moves(struct op_list *list)
{
	struct moves moves = {.list = list};

	if (!reserve_first_moved(list)) {
		list->oom = true;
		return;
	}
	sort_moves(list);
	if (list->nmoved && !apply_all(&moves))
		list->oom = true;
	forget_moves(list);
	if (list->n && list->ops[list->n - 1].time > list->last_time)
		list->last_time = list->ops[list->n - 1].time;
	free(moves.copy);
}

void op_list_next_generation(struct op_list *list)
{
	list->before += list->n;
	list->n = 0;
}

void op_list_free(struct op_list *list)
{
	free(list->ops);
	free(list->moved);
	free(list->first_moved);
}
