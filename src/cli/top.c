/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * gotrace top: shows the tables of a report on a live process, updated continuously. This process draws and
 * has no privileges; others trace (top_rounds.h).
 */
#include "cli/cli.h"

#include <errno.h>
#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/analysis.h"
#include "cli/top_rounds.h"
#include "sandbox/privilege.h"
#include "sandbox/sandbox.h"
#include "util/message.h"
#include "util/rights.h"
#include "util/utf8.h"

enum { KEY_WAIT_MS = 100 };

struct screen {
	unsigned view;
	enum report_sort sort;
	bool held, end;
	char *text; /* of the last round; NULL = none yet */
};

static volatile sig_atomic_t interrupted;

static void top_on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

/* --- the screen --- */

static const char *find_block(const char *text, unsigned number, size_t *n)
{
	while (text && number--) {
		text = strchr(text, TABLE_END);
		text += text != NULL;
	}
	*n = text ? strcspn(text, "\f") : 0;
	return text;
}

static void draw_lines(const char *text, size_t n)
{
	int row = 1;

	for (size_t at = 0; at < n && row < LINES; row++) {
		size_t length = strcspn(text + at, "\n\f"), shown = 0, step;

		for (int column = 0; column < COLS && shown < length; column++, shown += step)
			text_next(text + at + shown, length - shown, &step);
		mvaddnstr(row, 0, text + at, (int)shown);
		at += length + 1;
	}
}

static void top_draw(const struct screen *screen, const struct top_options *options)
{
	static const char *const sorts[] = {"total", "count", "p99", "max"};
	const char *text;
	size_t n;

	erase();
	attron(A_REVERSE);
	mvprintw(0, 0, "gotrace top -p %d  %u %s by %s%s  (Tab, 0-8; t n p m; Space; q)",
		 (int)options->record.pid, screen->view, report_view_name(screen->view), sorts[screen->sort],
		 screen->held ? "  HELD" : "");
	attroff(A_REVERSE);
	text = find_block(screen->text, screen->view * SORT_KINDS + screen->sort, &n);
	if (text)
		draw_lines(text, n);
	else
		mvaddstr(2, 0, "tracing ...");
	refresh();
}

static void on_key(struct screen *screen, int key)
{
	unsigned n = rounds_views();

	if (key == '\t')
		screen->view = (screen->view + 1) % n;
	else if (key == KEY_BTAB)
		screen->view = (screen->view + n - 1) % n;
	else if (key >= '0' && key < '0' + (int)n)
		screen->view = (unsigned)(key - '0');
	else if (key == 't')
		screen->sort = SORT_TOTAL;
	else if (key == 'n')
		screen->sort = SORT_COUNT;
	else if (key == 'p')
		screen->sort = SORT_P99;
	else if (key == 'm')
		screen->sort = SORT_MAX;
	else if (key == ' ')
		screen->held = !screen->held;
	else if (key == 'q')
		screen->end = true;
}

/* Waits briefly for a key, or for the end of the round. Returns true if the round has ended. */
static bool wait_for_update(struct screen *screen, const struct rounds *rounds)
{
	struct pollfd both[] = {{.fd = STDIN_FILENO, .events = POLLIN},
				{.fd = rounds->busy ? rounds->socket : -1, .events = POLLIN}};
	int key;

	if (poll(both, 2, KEY_WAIT_MS) < 0 && errno != EINTR)
		screen->end = true;
	while ((key = getch()) != ERR)
		on_key(screen, key);
	if (interrupted || both[0].revents & (POLLHUP | POLLERR))
		screen->end = true;
	return rounds->busy && both[1].revents;
}

static int take_round(struct screen *screen, struct rounds *rounds, struct error *err)
{
	char *text = NULL;
	int rc = rounds_take(rounds, &text, err);

	if (rc)
		return screen->end ? 0 : rc;
	if (screen->held) {
		free(text);
		return 0;
	}
	free(screen->text);
	screen->text = text;
	return 0;
}

static int top_watch(const struct top_options *options, struct screen *screen, struct rounds *rounds,
		     struct error *err)
{
	int ret = 0;

	while (!ret && !screen->end) {
		if (!rounds->busy)
			ret = rounds_request(rounds, (unsigned)(COLS > 60 ? COLS : 60), err);
		if (!ret && wait_for_update(screen, rounds))
			ret = take_round(screen, rounds, err);
		top_draw(screen, options);
	}
	return ret;
}

static void handle_signals(void)
{
	const struct sigaction action = {.sa_handler = top_on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

/*
 * ncurses reads a description of the terminal from a file that the environment may name, but not if gotrace
 * has gained privileges from its file, which ncurses does not notice.
 */
static void forget_terminals(void)
{
	static const char *const names[] = {"TERMINFO", "TERMINFO_DIRS", "TERMCAP", "TERMPATH", "HOME"};

	for (size_t i = 0; rights_are_from_file() && i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
}

/* From here on there is no capability. The ids stay: the description may be in root's directory. */
static int open_terminal(struct error *err)
{
	int rc = privilege_keep(0, err);

	if (rc)
		return rc;
	forget_terminals();
	setlocale(LC_CTYPE, "");
	handle_signals();
	if (!newterm(NULL, stdout, stdin))
		return error_set(
			err, ENOTTY,
			"the terminal type in TERM is not known: set TERM, or use gotrace report -p");
	cbreak();
	noecho();
	keypad(stdscr, true);
	nodelay(stdscr, true);
	curs_set(0);
	return 0;
}

static int top(const struct top_options *options, struct error *err)
{
	struct screen screen = {0};
	struct rounds rounds;
	int ret = rounds_start(&rounds, options, err);

	if (!ret)
		ret = open_terminal(err);
	if (!ret) {
		ret = sandbox_confine_drawer(err);
		if (!ret)
			ret = top_watch(options, &screen, &rounds, err);
		endwin();
	}
	rounds_end(&rounds);
	free(screen.text);
	return ret;
}

int command_top(int argc, char **argv)
{
	struct top_options options;
	struct error err = {""};
	int status;

	status = options_top(argc, argv, &options, &err);
	if (status)
		return options_end(status, "gotrace top", &err);
	options.record.quiet = true;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		error_set(&err, ENOTTY, "top needs a terminal: use gotrace report -p %d",
			  (int)options.record.pid);
		message_error(&err);
		return STATUS_USAGE;
	}
	if (top(&options, &err) == 0)
		return STATUS_WHOLE;
	message_error(&err);
	return STATUS_NONE;
}
