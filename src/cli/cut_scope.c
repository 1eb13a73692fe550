/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/cut_scope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

static int by_number(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return one < other ? -1 : one > other;
}

static int by_pair(const void *a, const void *b)
{
	int rc = by_number(a, b);

	return rc ? rc : by_number((const uint64_t *)a + 1, (const uint64_t *)b + 1);
}

static void cut_scope_sort(struct cut_scope *scope)
{
	size_t kept = 0;

	if (scope->n)
		qsort(scope->goids, scope->n, sizeof(*scope->goids), by_number);
	for (size_t i = 0; i < scope->n; i++) {
		if (!kept || scope->goids[kept - 1] != scope->goids[i])
			scope->goids[kept++] = scope->goids[i];
	}
	scope->n = kept;
}

static void sort_pairs(struct cut_scope *scope)
{
	size_t kept = 0;

	if (scope->npairs)
		qsort(scope->pairs, scope->npairs, sizeof(*scope->pairs), by_pair);
	for (size_t i = 0; i < scope->npairs; i++) {
		if (!kept || memcmp(scope->pairs[kept - 1], scope->pairs[i], sizeof(*scope->pairs)) != 0)
			memcpy(scope->pairs[kept++], scope->pairs[i], sizeof(*scope->pairs));
	}
	scope->npairs = kept;
}

static bool has(const struct cut_scope *scope, uint64_t goid)
{
	return scope->n && bsearch(&goid, scope->goids, scope->n, sizeof(goid), by_number);
}

int cut_scope_add(struct cut_scope *scope, uint64_t goid)
{
	if (array_grow(&scope->goids, &scope->capacity, scope->n + 1, sizeof(*scope->goids)))
		return -ENOMEM;
	scope->goids[scope->n++] = goid;
	return 0;
}

static int add_pair(struct cut_scope *scope, uint64_t a, uint64_t b)
{
	if (array_grow(&scope->pairs, &scope->pair_capacity, scope->npairs + 1, sizeof(*scope->pairs)))
		return -ENOMEM;
	scope->pairs[scope->npairs][0] = a < b ? a : b;
	scope->pairs[scope->npairs++][1] = a < b ? b : a;
	return 0;
}

static int take_task(struct cut_scope *scope, const struct op *op, uint64_t goid)
{
	if (op->kind == OP_TASK_BEGIN && !scope->task_begin)
		scope->task_begin = op->time;
	if (op->kind == OP_TASK_END)
		scope->task_end = op->time;
	return op->g ? cut_scope_add(scope, goid) : 0;
}

int cut_scope_generation(struct cut_scope *scope, const struct generation *gen)
{
	const uint64_t *goids = gen->tables->goids;
	int rc = 0;

	if (!scope->began)
		scope->start = gen->start;
	scope->began = true;
	scope->end = gen->end;
	for (size_t i = 0; i < gen->nops && !rc; i++) {
		const struct op *op = &gen->ops[i];

		if (op->kind == OP_GO_SWITCH || op->kind == OP_GO_SWITCH_DESTROY)
			rc = add_pair(scope, goids[op->g], goids[op->g2]);
		else if (scope->task && op->kind >= OP_TASK_BEGIN && op->kind <= OP_LOG &&
			 op->kind != OP_REGION_END && op->arg == scope->task)
			rc = take_task(scope, op, goids[op->g]);
	}
	cut_scope_sort(scope);
	sort_pairs(scope);
	return rc;
}

int cut_scope_finish(struct cut_scope *scope)
{
	size_t before;

	do {
		before = scope->n;
		for (size_t i = 0; i < scope->npairs; i++) {
			bool a = has(scope, scope->pairs[i][0]), b = has(scope, scope->pairs[i][1]);

			if (a == b)
				continue;
			if (cut_scope_add(scope, scope->pairs[i][a ? 1 : 0]))
				return -ENOMEM;
			cut_scope_sort(scope);
		}
	} while (scope->n != before);
	return 0;
}

void cut_scope_free(struct cut_scope *scope)
{
	free(scope->goids);
	free(scope->pairs);
}
