/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "analysis/goroutines/listing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/utf8.h"

static int take_reason(struct g_listing *listing, const struct log_record *record)
{
	const struct log_reason *reason = record->data;

	if (reason->table != REASON_WAIT || reason->index >= LISTING_REASONS)
		return 0;
	free(listing->reasons[reason->index]);
	listing->reasons[reason->index] = strndup((const char *)(reason + 1), reason->len);
	return listing->reasons[reason->index] ? 0 : -ENOMEM;
}

static int listing_take_stack(struct g_listing *listing, const struct raw_stack *stack)
{
	int rc = array_grow(&listing->stacks, &listing->stacks_capacity, listing->nstacks + 1,
			    sizeof(*listing->stacks));

	if (rc == 0)
		rc = array_grow(&listing->pcs, &listing->pcs_capacity, listing->npcs + stack->n,
				sizeof(*listing->pcs));
	if (rc == 0)
		rc = map64_set(&listing->by_hash, stack->hash, (uint32_t)listing->nstacks);
	if (rc)
		return rc;
	listing->stacks[listing->nstacks++] =
		(struct listing_stack){.first = listing->npcs, .n = stack->n, .whole = stack->flags == 0};
	memcpy(listing->pcs + listing->npcs, stack->pcs, stack->n * sizeof(*listing->pcs));
	listing->npcs += stack->n;
	return 0;
}

static int take_goroutines(struct g_listing *listing, const struct log_record *record)
{
	const struct log_g *gs = record->data;
	size_t n = record->size / sizeof(*gs);
	int rc = array_grow(&listing->all, &listing->capacity, listing->n + n, sizeof(*listing->all));

	for (size_t i = 0; rc == 0 && i < n; i++)
		listing->all[listing->n++].g = gs[i];
	return rc;
}

static int take_details(struct g_listing *listing, const struct log_record *record)
{
	const struct log_g_details *details = record->data;

	for (size_t i = 0; i < record->size / sizeof(*details); i++) {
		struct listing_goroutine *one = &listing->all[listing->ndetails];

		if (listing->ndetails == listing->n || one->g.goid != details[i].goid ||
		    details[i].labels > listing->nlabels)
			return -EBADMSG;
		one->details = details[i];
		listing->ndetails++;
	}
	return 0;
}

static int take_labels(struct g_listing *listing, const struct log_record *record)
{
	const struct log_labels *labels = record->data;
	size_t size = record->size - sizeof(*labels);
	int rc = array_grow(&listing->labels, &listing->labels_capacity, listing->nlabels + 1,
			    sizeof(*listing->labels));

	if (rc == 0 && labels->number != listing->nlabels + 1)
		rc = -EBADMSG;
	if (rc == 0)
		rc = array_grow(&listing->texts, &listing->texts_capacity, listing->ntexts + size, 1);
	if (rc)
		return rc;
	listing->labels[listing->nlabels++] = (struct listing_labels){.first = listing->ntexts,
								      .size = size,
								      .n = labels->n,
								      .cut = labels->flags & LOG_LABELS_CUT};
	memcpy(listing->texts + listing->ntexts, labels + 1, size);
	listing->ntexts += size;
	return 0;
}

int listing_put(void *ctx, const struct log_record *record)
{
	struct g_listing *listing = ctx;

	switch (record->type) {
	case LOG_TARGET:
		memcpy(&listing->target, record->data, sizeof(listing->target));
		return 0;
	case LOG_REASON:
		return take_reason(listing, record);
	case LOG_STACK:
		return listing_take_stack(listing, record->data);
	case LOG_SNAPSHOT:
		memcpy(&listing->head, record->data, sizeof(listing->head));
		return 0;
	case LOG_GS:
		return take_goroutines(listing, record);
	case LOG_G_DETAILS:
		return take_details(listing, record);
	case LOG_LABELS:
		return take_labels(listing, record);
	default:
		return 0;
	}
}

bool listing_is_whole(const struct g_listing *listing)
{
	return listing->head.time_after && listing->ndetails == listing->n;
}

void listing_free(struct g_listing *listing)
{
	for (unsigned i = 0; i < LISTING_REASONS; i++)
		free(listing->reasons[i]);
	free(listing->all);
	map64_free(&listing->by_hash);
	free(listing->stacks);
	free(listing->pcs);
	free(listing->labels);
	free(listing->texts);
	memset(listing, 0, sizeof(*listing));
}

/* rawlog_check_record() has verified that the texts fill the record. */
unsigned listing_labels(const struct g_listing *listing, uint32_t number,
			struct listing_label labels[LABELS_MAX])
{
	const struct listing_labels *set = number ? &listing->labels[number - 1] : NULL;
	const char *at = set ? (const char *)listing->texts + set->first : NULL;

	for (unsigned i = 0; set && i < set->n; i++) {
		struct log_label sizes;

		memcpy(&sizes, at, sizeof(sizes));
		at += sizeof(sizes);
		labels[i].key =
			(struct listing_text){at, set->cut ? text_whole(at, sizes.key_len) : sizes.key_len};
		at += sizes.key_len;
		labels[i].value = (struct listing_text){at, set->cut ? text_whole(at, sizes.value_len)
								     : sizes.value_len};
		at += sizes.value_len;
	}
	return set ? set->n : 0;
}

struct listing_text listing_label(const struct g_listing *listing, uint32_t number, const char *key)
{
	struct listing_label labels[LABELS_MAX];
	unsigned n = listing_labels(listing, number, labels);

	for (unsigned i = 0; i < n; i++) {
		if (labels[i].key.len == strlen(key) &&
		    memcmp(labels[i].key.bytes, key, labels[i].key.len) == 0)
			return labels[i].value;
	}
	return (struct listing_text){NULL, 0};
}

const struct listing_stack *listing_stack(const struct g_listing *listing, uint64_t hash)
{
	uint32_t index = hash ? map64_find(&listing->by_hash, hash) : MAP64_NONE;

	return index == MAP64_NONE ? NULL : &listing->stacks[index];
}
