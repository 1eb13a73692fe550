/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/reasons.h"

#include <string.h>

void reasons_add(struct reason_table *reasons, const struct log_reason *reason)
{
	const char *text = (const char *)(reason + 1);

	if (reason->table < REASON_TABLES && reason->index < MAX_REASONS)
		reasons->ids[reason->table][reason->index] = strtab_add(reasons->strings, text, reason->len);
}

void reasons_learn_skips(struct reason_table *reasons, const struct log_record *record)
{
	size_t size = record->size < MAX_REASONS ? record->size : MAX_REASONS;

	memcpy(reasons->park_skips, record->data, size);
}

uint32_t reason_unspecified(struct reason_table *reasons)
{
	if (!reasons->unspecified)
		reasons->unspecified = strtab_add_str(reasons->strings, "unspecified");
	return reasons->unspecified;
}
