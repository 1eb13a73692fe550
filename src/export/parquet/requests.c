/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/parquet/requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

enum { MAX_LONG_WAITS = 10000 }; /* of a goroutine while it has open requests */

int lake_requests_init(struct lake_requests *requests, struct lake_rows *rows, struct lake_lives *lives)
{
	*requests = (struct lake_requests){.rows = rows, .lives = lives, .n = 1};
	return array_grow(&requests->all, &requests->capacity, 1, sizeof(*requests->all));
}

void lake_requests_free(struct lake_requests *requests)
{
	free(requests->all);
	map64_free(&requests->by_range);
	map64_free(&requests->by_task);
}

static struct lake_request *requests_find(const struct lake_requests *requests, const struct map64 *map,
					  uint64_t key)
{
	uint32_t slot = map64_find(map, key);

	return slot == MAP64_NONE ? NULL : &requests->all[slot];
}

static struct lake_request *requests_add(struct lake_requests *requests, const struct tl_range *range)
{
	uint32_t slot = requests->unused;
	struct lake_request *request;

	if (!slot) {
		if (array_grow(&requests->all, &requests->capacity, requests->n + 1, sizeof(*requests->all)))
			return NULL;
		slot = (uint32_t)requests->n++;
	}
	if (map64_set(&requests->by_range, range->id, slot) ||
	    map64_set(&requests->by_task, range->task, slot))
		return NULL;
	request = &requests->all[slot];
	requests->unused = request->next;
	*request = (struct lake_request){.range = range->id, .serial = range->g};
	return request;
}

int lake_requests_begin(struct lake_requests *requests, const struct tl_range *range)
{
	struct lake_request *request = requests_add(requests, range);
	struct lake_life *life = range->g ? lives_at(requests->lives, range->g) : NULL;

	if (!request || (range->g && !life))
		return -ENOMEM;
	if (life) {
		request->before = lives_spent(life, range->since);
		request->waits = life->nwaits;
		life->requests++;
	}
	return rows_take_string(requests->rows, range->name, &request->name);
}

/* --- logs --- */

static int requests_keep(struct lake_requests *requests, const char *text, size_t len, uint32_t *string)
{
	return stacktab_text(&requests->rows->stacks.st, text, len, string);
}

int lake_requests_log_event(struct lake_requests *requests, const struct op *op)
{
	struct lake_request *request = op->arg ? requests_find(requests, &requests->by_task, op->arg) : NULL;
	size_t category_len, len;
	const char *category = tables_string(requests->rows->tables, op->string, &category_len);
	const char *text = tables_string(requests->rows->tables, op->string2, &len), *span;

	if (!request || category_len != 7 || memcmp(category, "request", 7) != 0)
		return 0;
	if (len > 7 && memcmp(text, "status=", 7) == 0) {
		request->has_outcome = true;
		return requests_keep(requests, text + 7, len - 7, &request->status);
	}
	if (len > 5 && memcmp(text, "code=", 5) == 0) {
		request->has_outcome = true;
		return requests_keep(requests, text + 5, len - 5, &request->status);
	}
	if (len == 5 && memcmp(text, "error", 5) == 0)
		request->failed = request->has_outcome = true;
	span = memmem(text, len, " span=", 6);
	if (!span || memcmp(text, "trace=", 6) != 0)
		return 0;
	return requests_keep(requests, text + 6, (size_t)(span - text) - 6, &request->otel_trace) ||
			       requests_keep(requests, span + 6, len - (size_t)(span - text) - 6,
					     &request->otel_span)
		       ? -ENOMEM
		       : 0;
}

/* --- rows --- */

static int put_wait(struct lake_requests *requests, const struct lake_request *request,
		    const struct tl_range *range, const struct long_wait *wait)
{
	struct lake_rows *rows = requests->rows;
	struct pq_file *file = rows->files[LAKE_REQUEST_WAIT];
	uint64_t since = wait->since > range->since ? wait->since : range->since;
	uint64_t until = wait->until < range->until ? wait->until : range->until;

	if (until < since + LONG_WAIT_NS)
		return 0;
	pq_set_int(file, RWAIT_TS, rows_wall(rows, since));
	pq_set_int(file, RWAIT_DUR, (int64_t)(until - since));
	pq_set_int(file, RWAIT_TASK, (int64_t)range->task);
	rows_put_string(rows, LAKE_REQUEST_WAIT, RWAIT_NAME, request->name);
	pq_set_int(file, RWAIT_REQUEST_TS, rows_wall(rows, range->since));
	pq_set_int(file, RWAIT_REQUEST_DUR, (int64_t)(range->until - range->since));
	rows_put_state(rows, LAKE_REQUEST_WAIT, RWAIT_STATE, wait->state);
	rows_put_string(rows, LAKE_REQUEST_WAIT, RWAIT_REASON, wait->reason);
	rows_put_stack(rows, LAKE_REQUEST_WAIT, RWAIT_STACK, wait->stack);
	return pq_row_end(file);
}

static int put_request(struct lake_requests *requests, const struct lake_request *request,
		       const struct tl_range *range, const struct spent_times *now)
{
	struct lake_rows *rows = requests->rows;
	struct pq_file *file = rows->files[LAKE_REQUEST];

	pq_set_int(file, REQUEST_TS, rows_wall(rows, range->since));
	pq_set_int(file, REQUEST_DUR, (int64_t)(range->until - range->since));
	pq_set_int(file, REQUEST_TASK, (int64_t)range->task);
	rows_put_id(rows, LAKE_REQUEST, REQUEST_PARENT, range->parent);
	rows_put_string(rows, LAKE_REQUEST, REQUEST_NAME, request->name);
	if (range->g && range->g < rows->census->n)
		pq_set_int(file, REQUEST_GOID, (int64_t)rows->census->goroutines[range->g].goid);
	pq_set_int(file, REQUEST_ENDED, !range->open);
	rows_put_string(rows, LAKE_REQUEST, REQUEST_STATUS, request->status);
	if (request->has_outcome)
		pq_set_int(file, REQUEST_ERROR, request->failed);
	rows_put_string(rows, LAKE_REQUEST, REQUEST_OTEL_TRACE, request->otel_trace);
	rows_put_string(rows, LAKE_REQUEST, REQUEST_OTEL_SPAN, request->otel_span);
	for (unsigned i = 0; i < SPENT_KINDS && now; i++)
		pq_set_int(file, REQUEST_SPENT + i, (int64_t)(now->ns[i] - request->before.ns[i]));
	return pq_row_end(file);
}

static int requests_put_waits(struct lake_requests *requests, const struct lake_request *request,
			      const struct tl_range *range, const struct lake_life *life)
{
	const struct long_wait now = {.since = life->since,
				      .until = range->until,
				      .state = life->state,
				      .reason = life->reason,
				      .stack = life->stack};
	int rc = 0;

	for (size_t i = request->waits; i < life->nwaits && !rc; i++)
		rc = put_wait(requests, request, range, &life->waits[i]);
	if (!rc && !life->gone && is_wait(life->state))
		rc = put_wait(requests, request, range, &now);
	return rc;
}

int lake_requests_end(struct lake_requests *requests, const struct tl_range *range)
{
	struct lake_request *request = requests_find(requests, &requests->by_range, range->id), ended;
	struct lake_life *life = range->g ? lives_find(requests->lives, range->g) : NULL;
	struct spent_times now = {0};
	int rc;

	if (!request)
		return 0;
	ended = *request;
	map64_del(&requests->by_range, range->id);
	if (requests_find(requests, &requests->by_task, range->task) == request)
		map64_del(&requests->by_task, range->task);
	*request = (struct lake_request){.next = requests->unused};
	requests->unused = (uint32_t)(request - requests->all);
	if (life)
		now = lives_spent(life, range->until);
	rc = put_request(requests, &ended, range, life ? &now : NULL);
	if (!rc && life)
		rc = requests_put_waits(requests, &ended, range, life);
	if (life && --life->requests == 0)
		life->nwaits = 0;
	if (life)
		lives_release(requests->lives, life);
	return rc;
}

int lake_requests_interval(struct lake_life *life, const struct long_wait *wait)
{
	if (!life->requests || !is_wait(wait->state) || wait->until - wait->since < LONG_WAIT_NS ||
	    life->nwaits >= MAX_LONG_WAITS)
		return 0;
	if (array_grow(&life->waits, &life->wait_capacity, life->nwaits + 1, sizeof(*life->waits)))
		return -ENOMEM;
	life->waits[life->nwaits++] = *wait;
	return 0;
}
