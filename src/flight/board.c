/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/board.h"

#include <string.h>

#include "util/utf8.h"

void board_show(struct board *board, const struct keeper_stats *stats)
{
	board->bytes = stats->bytes;
	board->start_ns = stats->start_ns;
	board->closed = stats->closed;
	board->dropped_soon = stats->dropped_soon;
}

void board_tell(struct board *board, const struct news *news)
{
	uint32_t told = board->told;

	if (told - board->taken >= BOARD_NEWS)
		return;
	memcpy(&board->news[told % BOARD_NEWS], news, sizeof(*news));
	board->told = told + 1;
}

struct keeper_stats board_stats(const struct board *board, uint64_t now)
{
	uint64_t start = board->start_ns;

	return (struct keeper_stats){.bytes = board->bytes,
				     .start_ns = start < now ? start : now,
				     .closed = board->closed,
				     .dropped_soon = board->dropped_soon};
}

/* Copied before it is looked at: it may change meanwhile. */
bool board_take(struct board *board, uint32_t *taken, uint64_t now, struct news *news)
{
	uint32_t there = board->told - *taken;

	if (there == 0 || there > BOARD_NEWS)
		return false;
	memcpy(news, &board->news[*taken % BOARD_NEWS], sizeof(*news));
	board->taken = ++*taken;
	news->text[sizeof(news->text) - 1] = '\0';
	text_make_printable(news->text);
	if (news->time > now)
		news->time = now;
	return true;
}
