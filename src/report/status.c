/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "report/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "util/text.h"

#define REFRESH_NS 333000000ull

static bool is_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

void status_init(struct status *status, bool wanted, uint64_t now_ns)
{
	*status = (struct status){.shown = wanted && is_terminal(), .start_ns = now_ns, .last_ns = now_ns};
}

void status_format(const struct status *status, const struct status_figures *figures, char *line, size_t size)
{
	double seconds = (double)(figures->now_ns - status->last_ns) / 1e9;
	double rate = seconds > 0 ? (double)(figures->events - status->last_events) / seconds : 0;
	struct text cost = {"?"};

	if (figures->hit_ns > 0)
		cost = text_percent(rate * (double)figures->hit_ns / 1e9);
	snprintf(line, size, "%.1f s  %s events/s  %s lost  %s  cost %s of a core%s%s",
		 (double)(figures->now_ns - status->start_ns) / 1e9, text_count((uint64_t)rate).bytes,
		 text_count(figures->lost).bytes, text_bytes(figures->bytes).bytes, cost.bytes,
		 figures->look[0] ? "  " : "", figures->look);
}

static unsigned terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col == 0)
		return 80;
	return size.ws_col;
}

void status_update(struct status *status, const struct status_figures *figures)
{
	char line[256];

	if (!status->shown || figures->now_ns < status->last_ns + REFRESH_NS)
		return;
	status_format(status, figures, line, sizeof(line));
	/* A line that wraps cannot be taken back. */
	fprintf(stderr, "\r\033[K%.*s", (int)terminal_width() - 1, line);
	fflush(stderr);
	status->last_ns = figures->now_ns;
	status->last_events = figures->events;
}

void status_clear(const struct status *status)
{
	if (status->shown)
		fputs("\r\033[K", stderr);
}
