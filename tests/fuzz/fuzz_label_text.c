/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Arbitrary bytes as the message of a log event with pprof labels: reading stays in bounds, and what is
 * written reads back the same.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/ops/labels.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t read_set(const char *text, size_t len, struct labels_read *set)
{
	int size = labels_parse(text, len, set);

	if (size > (int)len || (size >= 0 && size < 2) || set->n > LABELS_TEXT_LABELS)
		abort();
	for (unsigned i = 0; size > 0 && i < set->n; i++) {
		const struct pprof_label *label = &set->labels[i];

		if (label->key < set->bytes ||
		    label->key + label->key_len > set->bytes + sizeof(set->bytes) ||
		    label->value < set->bytes ||
		    label->value + label->value_len > set->bytes + sizeof(set->bytes))
			abort();
	}
	return size > 0 ? (size_t)size : 0;
}

/* Once written, the text must no longer change. */
static void write_again(struct labels_read *set)
{
	char text[LABELS_TEXT_MAX + 1], again[LABELS_TEXT_MAX + 1];
	size_t len = labels_write(set->labels, set->n, set->cut, text);
	struct labels_read second;

	if (len > LABELS_TEXT_MAX || text[len] || read_set(text, len, &second) != len)
		abort();
	if (labels_write(second.labels, second.n, second.cut, again) != len || memcmp(text, again, len))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct labels_read set;
	size_t at;

	if (size > 2048)
		return 0;
	labels_log_kind(text, size);
	at = read_set(text, size, &set);
	while (labels_next_goid(text, size, &at)) {
		if (at > size)
			abort();
	}
	if (labels_parse(text, size, &set) >= 0)
		write_again(&set);
	return 0;
}
