/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/status_page.h"

#include <string.h>

#include "util/utf8.h"

void status_page_update(struct status_page *page, const struct generation_ring_stats *stats)
{
	page->bytes = stats->bytes;
	page->start_ns = stats->start_ns;
	page->closed = stats->closed;
	page->dropped_in_window = stats->dropped_in_window;
}

void status_page_add(struct status_page *page, const struct match_notice *notice)
{
	uint32_t added = page->added;

	if (added - page->taken >= STATUS_PAGE_NOTICES)
		return;
	memcpy(&page->notices[added % STATUS_PAGE_NOTICES], notice, sizeof(*notice));
	page->added = added + 1;
}

struct generation_ring_stats status_page_stats(const struct status_page *page, uint64_t now)
{
	uint64_t start = page->start_ns;

	return (struct generation_ring_stats){.bytes = page->bytes,
					      .start_ns = start < now ? start : now,
					      .closed = page->closed,
					      .dropped_in_window = page->dropped_in_window};
}

/* Copies the notice before checking it, because the other process may change it. */
static bool take_next_notice(struct status_page *page, uint32_t *taken, struct match_notice *notice)
{
	uint32_t there = page->added - *taken;

	if (there == 0 || there > STATUS_PAGE_NOTICES)
		return false;
	memcpy(notice, &page->notices[*taken % STATUS_PAGE_NOTICES], sizeof(*notice));
	page->taken = ++*taken;
	return true;
}

bool status_page_take(struct status_page *page, unsigned ntriggers, uint32_t *taken, uint64_t now,
		      struct match_notice *notice)
{
	unsigned tries = 0;

	do {
		if (tries++ == STATUS_PAGE_NOTICES || !take_next_notice(page, taken, notice))
			return false;
	} while (notice->trigger >= ntriggers);
	notice->text[sizeof(notice->text) - 1] = '\0';
	text_make_printable(notice->text);
	if (notice->time > now)
		notice->time = now;
	return true;
}
