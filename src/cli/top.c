/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * gotrace top: shows the tables of a report on a live process, updated continuously. Each round is a child
 * process: it traces for a second, confines itself, and sends the text of all tables in all orders. The
 * parent only draws.
 */
#include "cli/cli.h"

#include <errno.h>
#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/analysis.h"
#include "cli/analyse.h"
#include "cli/options_analysis.h"
#include "sandbox/sandbox.h"
#include "util/message.h"

/* Separates blocks of text. Names cannot contain it, because they are made printable. */
#define BLOCK_END '\f'

/* Bytes of all blocks, each of which is cut to its share. */
enum { MAX_TEXT = 4 << 20, KEY_WAIT_MS = 100 };

struct round {
	pid_t pid; /* 0 = none runs */
	int pipe;
	int messages; /* its standard error, a file in memory */
	char *text;
	size_t n;
};

struct screen {
	unsigned view;
	enum report_sort sort;
	bool held, end;
	char *text; /* of the last round; NULL = none yet */
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

/* --- a round --- */

static unsigned count_views(void)
{
	unsigned n = 0;

	while (report_view_name(n))
		n++;
	return n;
}

/* Returns the bytes of the whole lines in the first `most` bytes of a text. */
static size_t cut_lines(const char *text, size_t n, size_t most)
{
	const char *end = n > most ? memrchr(text, '\n', most) : NULL;

	return n <= most ? n : end ? (size_t)(end - text) + 1 : 0;
}

/* Writes a block of at most `most` bytes, which is more than a terminal has lines for. */
static int send_view(struct analysis *a, unsigned view, const struct report_style *style, size_t most,
		     FILE *out)
{
	char *text = NULL;
	size_t n = 0;
	FILE *memory = open_memstream(&text, &n);

	if (!memory)
		return -ENOMEM;
	report_view(a, view, memory, style);
	if (fclose(memory)) {
		free(text);
		return -ENOMEM;
	}
	fwrite(text, 1, cut_lines(text, n, most), out);
	fputc(BLOCK_END, out);
	free(text);
	return ferror(out) ? -EIO : 0;
}

static int send_views(struct analysis *a, FILE *out, unsigned width, struct error *err)
{
	const size_t most = (MAX_TEXT - 1) / (count_views() * SORT_KINDS) - 1;
	int rc = 0;

	for (unsigned view = 0; report_view_name(view) && rc == 0; view++) {
		for (unsigned sort = 0; sort < SORT_KINDS && rc == 0; sort++) {
			const struct report_style style = {
				.sort = (enum report_sort)sort, .width = width, .all = true};

			rc = send_view(a, view, &style, most, out);
		}
	}
	if (rc == 0 && fflush(out))
		rc = -errno;
	return rc ? error_set(err, -rc, "cannot pass on the tables: %s", strerror(-rc)) : 0;
}

static int trace_and_send(const struct top_options *options, FILE *out, unsigned width, struct error *err)
{
	struct trace_input input;
	struct analysis *a = NULL;
	bool cut = false;
	int ret = trace_input_record(&input, &options->record, err);

	if (!ret)
		ret = sandbox_confine(err);
	if (!ret)
		ret = trace_input_analyse(&input, &a, &cut, err);
	if (!ret)
		ret = send_views(a, out, width, err);
	analysis_free(a);
	trace_input_close(&input);
	return ret;
}

static void ignore_signal(int number)
{
	(void)number;
}

/*
 * Replaces the handlers of ncurses and of this file. A change of the terminal's size must not interrupt
 * tracing. A signal from the terminal that ends top also ends the recording child early, but this process
 * must survive it to remove its files.
 */
static void replace_handlers(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction none = {.sa_handler = ignore_signal, .sa_flags = SA_RESTART};

	signal(SIGWINCH, SIG_DFL);
	signal(SIGTSTP, SIG_DFL);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaction(ends[i], &none, NULL);
}

static int run_round(const struct top_options *options, int pipe, int messages, unsigned width)
{
	FILE *out = fdopen(pipe, "w");
	struct error err = {""};

	replace_handlers();
	if (!out || dup2(messages, STDERR_FILENO) < 0)
		return STATUS_NONE;
	if (trace_and_send(options, out, width, &err) == 0)
		return STATUS_WHOLE;
	if (err.text[0])
		message_error(&err);
	return STATUS_NONE;
}

static int round_start(struct round *round, const struct top_options *options, unsigned width,
		       struct error *err)
{
	int ends[2];

	round->messages = memfd_create("messages", MFD_CLOEXEC);
	if (round->messages < 0 || pipe(ends))
		return error_set(err, errno, "cannot start tracing: %s", strerror(errno));
	round->pid = fork();
	if (round->pid == 0) {
		close(ends[0]);
		_exit(run_round(options, ends[1], round->messages, width));
	}
	close(ends[1]);
	round->pipe = ends[0];
	round->n = 0;
	return round->pid < 0 ? error_set(err, errno, "cannot start tracing: %s", strerror(errno)) : 0;
}

/* Reads available text. Returns true when all has arrived. */
static bool round_read(struct round *round)
{
	ssize_t n = read(round->pipe, round->text + round->n, MAX_TEXT - round->n);

	if (n > 0)
		round->n += (size_t)n;
	return n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN) || round->n == MAX_TEXT;
}

/* Sets err to the first message of a failed round. */
static int round_failure(const struct round *round, struct error *err)
{
	char text[1024];
	ssize_t n = pread(round->messages, text, sizeof(text) - 1, 0);
	char *line = text, *end;

	text[n > 0 ? n : 0] = '\0';
	end = strchr(line, '\n');
	if (end)
		*end = '\0';
	if (strncmp(line, "gotrace: ", 9) == 0)
		line += 9;
	return error_set(err, ECHILD, "%.400s", *line ? line : "tracing failed");
}

static int round_end(struct round *round, struct screen *screen, struct error *err)
{
	int status = 0, ret = 0;

	close(round->pipe);
	while (waitpid(round->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != STATUS_WHOLE) {
		ret = screen->end ? 0 : round_failure(round, err);
	} else {
		round->text[round->n < MAX_TEXT ? round->n : MAX_TEXT - 1] = '\0';
		free(screen->text);
		screen->text = strdup(round->text);
	}
	close(round->messages);
	round->pid = 0;
	return ret;
}

/* --- the screen --- */

static const char *find_block(const char *text, unsigned number, size_t *n)
{
	while (text && number--) {
		text = strchr(text, BLOCK_END);
		text += text != NULL;
	}
	*n = text ? strcspn(text, "\f") : 0;
	return text;
}

static void draw_lines(const char *text, size_t n)
{
	int row = 1;

	for (size_t at = 0; at < n && row < LINES; row++) {
		size_t length = strcspn(text + at, "\n\f");

		mvaddnstr(row, 0, text + at, length < (size_t)COLS ? (int)length : COLS);
		at += length + 1;
	}
}

static void draw(const struct screen *screen, const struct top_options *options)
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
	unsigned n = count_views();

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

/* Waits briefly for a key or for text of the round. Returns true when the round has sent everything. */
static bool wait_for_update(struct screen *screen, struct round *round)
{
	struct pollfd both[] = {{.fd = STDIN_FILENO, .events = POLLIN},
				{.fd = round->pid ? round->pipe : -1, .events = POLLIN}};
	int key;

	if (poll(both, 2, KEY_WAIT_MS) < 0 && errno != EINTR)
		screen->end = true;
	while ((key = getch()) != ERR)
		on_key(screen, key);
	if (interrupted || both[0].revents & (POLLHUP | POLLERR))
		screen->end = true;
	return round->pid && both[1].revents && round_read(round);
}

static int watch(const struct top_options *options, struct screen *screen, struct round *round,
		 struct error *err)
{
	int ret = 0;

	while (!ret && (!screen->end || round->pid)) {
		if (!round->pid && !screen->held)
			ret = round_start(round, options, (unsigned)(COLS > 60 ? COLS : 60), err);
		if (!ret && wait_for_update(screen, round))
			ret = round_end(round, screen, err);
		draw(screen, options);
	}
	return ret;
}

static int top(const struct top_options *options, struct error *err)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct screen screen = {0};
	struct round round = {.text = malloc(MAX_TEXT)};
	int ret;

	if (!round.text)
		return error_set(err, ENOMEM, "out of memory");
	setlocale(LC_CTYPE, "");
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	if (!newterm(NULL, stdout, stdin)) {
		free(round.text);
		return error_set(
			err, ENOTTY,
			"the terminal type in TERM is not known: set TERM, or use gotrace report -p");
	}
	cbreak();
	noecho();
	keypad(stdscr, true);
	nodelay(stdscr, true);
	curs_set(0);
	ret = watch(options, &screen, &round, err);
	endwin();
	free(screen.text);
	free(round.text);
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
