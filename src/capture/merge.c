/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/merge.h"

void merge_init(struct ring_merge *merge, unsigned sources, uint64_t now)
{
	*merge = (struct ring_merge){.sources = sources};
	for (unsigned i = 0; i < sources; i++)
		merge->complete_at[i] = now;
}

void merge_complete_at(struct ring_merge *merge, unsigned source, uint64_t now)
{
	merge->complete_at[source] = now;
}

static uint64_t due_until(const struct ring_merge *merge)
{
	uint64_t until = UINT64_MAX;

	for (unsigned i = 0; i < merge->sources; i++)
		until = merge->complete_at[i] < until ? merge->complete_at[i] : until;
	return until > MERGE_GUARD_NS ? until - MERGE_GUARD_NS : 0;
}

static bool comes_before(const struct merge_head *a, const struct merge_head *b)
{
	return a->key != b->key ? a->key < b->key : a->source < b->source;
}

/* Moves the head at `at` down to its place. */
static void sink_down(struct ring_merge *merge, unsigned at)
{
	struct merge_head head = merge->heads[at];

	for (;;) {
		unsigned child = 2 * at + 1;

		if (child + 1 < merge->n && comes_before(&merge->heads[child + 1], &merge->heads[child]))
			child++;
		if (child >= merge->n || !comes_before(&merge->heads[child], &head))
			break;
		merge->heads[at] = merge->heads[child];
		at = child;
	}
	merge->heads[at] = head;
}

/* Finds the next record of a source. Returns false if there is none, or it is not due yet. */
static bool merge_source_head(struct ring_merge *merge, unsigned source, uint64_t until,
			      const struct merge_input *input, struct merge_head *head)
{
	uint64_t time, *latest = &merge->latest[source];

	if (!input->peek(input->ctx, source, &time))
		return false;
	head->source = source;
	head->key = time > *latest ? time : *latest;
	if (head->key > until)
		return false;
	*latest = head->key;
	merge->late += time && time < merge->passed;
	return true;
}

int merge_run(struct ring_merge *merge, const struct merge_input *input)
{
	uint64_t until = due_until(merge);
	int rc;

	merge->n = 0;
	for (unsigned i = 0; i < merge->sources; i++)
		merge->n += merge_source_head(merge, i, until, input, &merge->heads[merge->n]);
	for (unsigned i = merge->n / 2; i-- > 0;)
		sink_down(merge, i);
	while (merge->n) {
		rc = input->take(input->ctx, merge->heads[0].source);
		if (rc)
			return rc;
		if (!merge_source_head(merge, merge->heads[0].source, until, input, &merge->heads[0]))
			merge->heads[0] = merge->heads[--merge->n];
		sink_down(merge, 0);
	}
	if (until > merge->passed)
		merge->passed = until;
	return 0;
}
