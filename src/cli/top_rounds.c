/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/top_rounds.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/analysis.h"
#include "cli/analyse.h"
#include "cli/cli.h"
#include "cli/session.h"
#include "sandbox/descriptors.h"
#include "sandbox/privilege.h"
#include "sandbox/sandbox.h"
#include "util/message.h"

/* Bytes of all tables, each of which is cut to its share. */
enum { MAX_TEXT = 4 << 20 };

/* Requests and results, each one packet. A result has descriptors of two files in memory, in this order. */
struct round_request {
	uint32_t width;
};

struct round_result {
	int32_t status;
};

enum { ROUND_TEXT, ROUND_MESSAGES, ROUND_FILES };

unsigned rounds_views(void)
{
	unsigned n = 0;

	while (report_view_name(n))
		n++;
	return n;
}

/* --- a round --- */

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
	fputc(TABLE_END, out);
	free(text);
	return ferror(out) ? -EIO : 0;
}

static int send_views(struct analysis *a, FILE *out, unsigned width, struct error *err)
{
	const size_t most = (MAX_TEXT - 1) / (rounds_views() * SORT_KINDS) - 1;
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
		ret = trace_input_begin(&input, err);
	if (!ret)
		ret = trace_input_analyse(&input, &a, &cut, err);
	if (!ret)
		ret = send_views(a, out, width, err);
	analysis_free(a);
	trace_input_close(&input);
	return ret;
}

static int run_round(const struct top_options *options, const int files[ROUND_FILES], unsigned width)
{
	FILE *out = fdopen(files[ROUND_TEXT], "w");
	struct error err = {""};

	if (!out || dup2(files[ROUND_MESSAGES], STDERR_FILENO) < 0)
		return STATUS_NONE;
	if (trace_and_send(options, out, width, &err) == 0)
		return STATUS_WHOLE;
	if (err.text[0])
		message_error(&err);
	return STATUS_NONE;
}

/* --- the process that starts rounds --- */

static void ignore_signal(int number)
{
	(void)number;
}

/*
 * A signal from the terminal that ends top also ends the process that records, early. This process and the
 * round must survive it to pass on what there is.
 */
static void survive_signals(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction none = {.sa_handler = ignore_signal, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaction(ends[i], &none, NULL);
}

/* Returns the exit status of the round. */
static int one_round(const struct top_options *options, const int files[ROUND_FILES], unsigned width)
{
	struct lifeline line;
	int status = 0;
	pid_t child;

	if (lifeline_open(&line))
		return STATUS_NONE;
	child = fork();
	if (child == 0)
		_exit(lifeline_obey(&line, SIGKILL) ? STATUS_NONE : run_round(options, files, width));
	lifeline_hold(&line);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	lifeline_cut(&line);
	return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_NONE;
}

static int serve(int socket, const struct top_options *options, unsigned width)
{
	const int files[ROUND_FILES] = {[ROUND_TEXT] = memfd_create("tables", MFD_CLOEXEC),
					[ROUND_MESSAGES] = memfd_create("messages", MFD_CLOEXEC)};
	struct round_result result = {.status = STATUS_NONE};
	ssize_t sent = -1;

	if (files[ROUND_TEXT] >= 0 && files[ROUND_MESSAGES] >= 0) {
		result.status = one_round(options, files, width);
		sent = descriptors_send(socket, &result, sizeof(result), files, ROUND_FILES, 0);
	}
	for (unsigned i = 0; i < ROUND_FILES; i++) {
		if (files[i] >= 0)
			close(files[i]);
	}
	return sent == sizeof(result) ? 0 : -EIO;
}

static void serve_all(int socket, const struct top_options *options)
{
	struct round_request request;
	struct error err;
	ssize_t n;

	if (privilege_keep(session_to_attach(&options->record), &err)) {
		message_error(&err);
		return;
	}
	do
		n = recv(socket, &request, sizeof(request), 0);
	while ((n < 0 && errno == EINTR) ||
	       (n == sizeof(request) && serve(socket, options, request.width) == 0));
}

/* --- the process that draws --- */

static int start(struct rounds *rounds, const int ends[2], const struct top_options *options)
{
	rounds->pid = fork();
	if (rounds->pid == 0) {
		close(ends[0]);
		survive_signals();
		if (lifeline_obey(&rounds->line, SIGKILL) == 0)
			serve_all(ends[1], options);
		_exit(0);
	}
	lifeline_hold(&rounds->line);
	return rounds->pid < 0 ? -errno : 0;
}

int rounds_start(struct rounds *rounds, const struct top_options *options, struct error *err)
{
	int ends[2], rc;

	*rounds = (struct rounds){.socket = -1, .line = {-1, -1}};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return error_set(err, errno, "cannot start tracing: %s", strerror(errno));
	rounds->socket = ends[0];
	rc = lifeline_open(&rounds->line);
	if (rc == 0)
		rc = start(rounds, ends, options);
	close(ends[1]);
	return rc ? error_set(err, -rc, "cannot start tracing: %s", strerror(-rc)) : 0;
}

int rounds_request(struct rounds *rounds, unsigned width, struct error *err)
{
	const struct round_request request = {.width = width};

	if (send(rounds->socket, &request, sizeof(request), MSG_NOSIGNAL) != sizeof(request))
		return error_set(err, errno, "cannot start tracing: %s", strerror(errno));
	rounds->busy = true;
	return 0;
}

/* Reads the beginning of a file as a text. The round may have any number of bytes in it. */
static char *text_of(int fd, size_t most)
{
	char *text = malloc(most + 1);
	size_t size = 0;
	ssize_t n;

	while (text && size < most && (n = pread(fd, text + size, most - size, (off_t)size)) > 0)
		size += (size_t)n;
	if (text)
		text[size] = '\0';
	return text;
}

/* Sets err to the first message of a failed round. */
static int explain(int messages, struct error *err)
{
	char *text = text_of(messages, 1023), *line = text ? text : "";

	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, "gotrace: ", 9) == 0)
		line += 9;
	error_set(err, ECHILD, "%s", *line ? line : "tracing failed");
	free(text);
	return -ECHILD;
}

int rounds_take(struct rounds *rounds, char **text, struct error *err)
{
	struct round_result result;
	int fds[DESCRIPTORS], rc = 0;
	ssize_t n;

	do
		n = descriptors_receive(rounds->socket, &result, sizeof(result), fds, 0);
	while (n < 0 && errno == EINTR);
	rounds->busy = false;
	if (n != sizeof(result) || fds[ROUND_TEXT] < 0 || fds[ROUND_MESSAGES] < 0)
		rc = error_set(err, ECHILD, "the process that starts tracing has ended");
	else if (result.status != STATUS_WHOLE)
		rc = explain(fds[ROUND_MESSAGES], err);
	else
		*text = text_of(fds[ROUND_TEXT], MAX_TEXT);
	if (rc == 0 && !*text)
		rc = error_set(err, ENOMEM, "out of memory");
	if (n > 0)
		descriptors_close(fds);
	return rc;
}

void rounds_end(struct rounds *rounds)
{
	if (rounds->socket >= 0)
		close(rounds->socket);
	lifeline_hold(&rounds->line);
	lifeline_cut(&rounds->line);
	if (rounds->pid > 0)
		waitpid(rounds->pid, NULL, 0);
}
