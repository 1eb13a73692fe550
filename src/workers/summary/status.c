/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "workers/summary/status.h"

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

void status_line_init(struct status_line *status, bool wanted, uint64_t now_ns)
{
	*status =
		(struct status_line){.shown = wanted && is_terminal(), .start_ns = now_ns, .last_ns = now_ns};
}

void status_line_format(const struct status_line *status, const struct status_figures *figures, char *line,
			size_t size)
{
	double seconds = (double)(figures->now_ns - status->last_ns) / 1e9;
	double rate = seconds > 0 ? (double)(figures->events - status->last_events) / seconds : 0;
	double cost_ns = (double)(figures->cost_ns - status->last_cost_ns);
	struct text cost = text_percent(seconds > 0 ? cost_ns / (seconds * 1e9) : 0);

	snprintf(line, size, "%.1f s  %s events/s  %s lost  %s  cost %s of a core%s%s",
		 (double)(figures->now_ns - status->start_ns) / 1e9, text_count((uint64_t)rate).bytes,
		 text_count(figures->lost).bytes, text_bytes(figures->bytes).bytes, cost.bytes,
		 figures->detail[0] ? "  " : "", figures->detail);
}

unsigned status_line_width(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col == 0)
		return 80;
	return size.ws_col;
}

void status_line_cut(char *line, unsigned width)
{
	size_t end = width;

	if (strlen(line) <= width)
		return;
	/* Two spaces separate figures; one space separates a figure from its unit. */
	while (end > 0 && !(line[end] == ' ' && line[end - 1] != ' ' && line[end + 1] == ' '))
		end--;
	line[end] = '\0';
}

void status_line_update(struct status_line *status, const struct status_figures *figures)
{
	char line[256];

	if (!status->shown || figures->now_ns < status->last_ns + REFRESH_NS)
		return;
	status_line_format(status, figures, line, sizeof(line));
	status_line_cut(line, status_line_width() - 1);
	fprintf(stderr, "\r\033[K%s", line);
	fflush(stderr);
	status->last_ns = figures->now_ns;
	status->last_events = figures->events;
	status->last_cost_ns = figures->cost_ns;
}

void status_line_clear(const struct status_line *status)
{
	if (status->shown)
		fputs("\r\033[K", stderr);
}
