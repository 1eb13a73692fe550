/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "goroutines/look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

static int take_reason(struct look *look, const struct log_record *record)
{
	const struct log_reason *reason = record->data;

	if (reason->table != REASON_WAIT || reason->index >= LOOK_REASONS)
		return 0;
	free(look->reasons[reason->index]);
	look->reasons[reason->index] = strndup((const char *)(reason + 1), reason->len);
	return look->reasons[reason->index] ? 0 : -ENOMEM;
}

static int take_stack(struct look *look, const struct raw_stack *stack)
{
	int rc = array_grow(&look->stacks, &look->stacks_capacity, look->nstacks + 1, sizeof(*look->stacks));

	if (rc == 0)
		rc = array_grow(&look->pcs, &look->pcs_capacity, look->npcs + stack->n, sizeof(*look->pcs));
	if (rc == 0)
		rc = map64_set(&look->by_hash, stack->hash, (uint32_t)look->nstacks);
	if (rc)
		return rc;
	look->stacks[look->nstacks++] =
		(struct look_stack){.first = look->npcs, .n = stack->n, .whole = stack->flags == 0};
	memcpy(look->pcs + look->npcs, stack->pcs, stack->n * sizeof(*look->pcs));
	look->npcs += stack->n;
	return 0;
}

static int take_goroutines(struct look *look, const struct log_record *record)
{
	const struct log_g *gs = record->data;
	size_t n = record->size / sizeof(*gs);
	int rc = array_grow(&look->all, &look->capacity, look->n + n, sizeof(*look->all));

	for (size_t i = 0; rc == 0 && i < n; i++)
		look->all[look->n++].g = gs[i];
	return rc;
}

static int take_details(struct look *look, const struct log_record *record)
{
	const struct log_g_details *details = record->data;

	for (size_t i = 0; i < record->size / sizeof(*details); i++) {
		struct look_goroutine *one = &look->all[look->ndetails];

		if (look->ndetails == look->n || one->g.goid != details[i].goid ||
		    details[i].labels > look->nlabels)
			return -EBADMSG;
		one->details = details[i];
		look->ndetails++;
	}
	return 0;
}

static int take_labels(struct look *look, const struct log_record *record)
{
	const struct log_labels *labels = record->data;
	size_t size = record->size - sizeof(*labels);
	int rc = array_grow(&look->labels, &look->labels_capacity, look->nlabels + 1, sizeof(*look->labels));

	if (rc == 0 && labels->number != look->nlabels + 1)
		rc = -EBADMSG;
	if (rc == 0)
		rc = array_grow(&look->texts, &look->texts_capacity, look->ntexts + size, 1);
	if (rc)
		return rc;
	look->labels[look->nlabels++] = (struct look_labels){
		.first = look->ntexts, .size = size, .n = labels->n, .cut = labels->flags & LOG_LABELS_CUT};
	memcpy(look->texts + look->ntexts, labels + 1, size);
	look->ntexts += size;
	return 0;
}

int look_put(void *ctx, const struct log_record *record)
{
	struct look *look = ctx;

	switch (record->type) {
	case LOG_TARGET:
		memcpy(&look->target, record->data, sizeof(look->target));
		return 0;
	case LOG_REASON:
		return take_reason(look, record);
	case LOG_STACK:
		return take_stack(look, record->data);
	case LOG_SNAPSHOT:
		memcpy(&look->head, record->data, sizeof(look->head));
		return 0;
	case LOG_GS:
		return take_goroutines(look, record);
	case LOG_G_DETAILS:
		return take_details(look, record);
	case LOG_LABELS:
		return take_labels(look, record);
	default:
		return 0;
	}
}

bool look_is_whole(const struct look *look)
{
	return look->head.time_after && look->ndetails == look->n;
}

void look_free(struct look *look)
{
	for (unsigned i = 0; i < LOOK_REASONS; i++)
		free(look->reasons[i]);
	free(look->all);
	map64_free(&look->by_hash);
	free(look->stacks);
	free(look->pcs);
	free(look->labels);
	free(look->texts);
	memset(look, 0, sizeof(*look));
}

/* rawlog_check_record has seen that the texts fill the record. */
unsigned look_labels(const struct look *look, uint32_t number, struct look_label labels[LABELS_MAX])
{
	const struct look_labels *set = number ? &look->labels[number - 1] : NULL;
	const char *at = set ? (const char *)look->texts + set->first : NULL;

	for (unsigned i = 0; set && i < set->n; i++) {
		struct log_label sizes;

		memcpy(&sizes, at, sizeof(sizes));
		at += sizeof(sizes);
		labels[i].key = (struct look_text){at, sizes.key_len};
		at += sizes.key_len;
		labels[i].value = (struct look_text){at, sizes.value_len};
		at += sizes.value_len;
	}
	return set ? set->n : 0;
}

struct look_text look_label(const struct look *look, uint32_t number, const char *key)
{
	struct look_label labels[LABELS_MAX];
	unsigned n = look_labels(look, number, labels);

	for (unsigned i = 0; i < n; i++) {
		if (labels[i].key.len == strlen(key) &&
		    memcmp(labels[i].key.bytes, key, labels[i].key.len) == 0)
			return labels[i].value;
	}
	return (struct look_text){NULL, 0};
}

const struct look_stack *look_stack(const struct look *look, uint64_t hash)
{
	uint32_t index = hash ? map64_find(&look->by_hash, hash) : MAP64_NONE;

	return index == MAP64_NONE ? NULL : &look->stacks[index];
}
