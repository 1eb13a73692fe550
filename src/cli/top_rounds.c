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
#include "cli/recording_child.h"
#include "cli/spawn.h"
#include "sandbox/sandbox.h"
#include "trace/wire/wire.h"
#include "util/array.h"
#include "util/message.h"

enum {
	MAX_TEXT = 4 << 20, /* bytes of all tables, each of which is cut to its share */
	READ_BYTES = 1 << 18,
	MAX_ROUND_BYTES = 1 << 30,
	END_MS = 10000, /* the longest wait for the end of the process that analyses */
	POLL_MS = 10,
};

#define GENERATION_NS 1000000000ull /* the longest generation of a round */

/* Requests and results, each one packet. The process that draws does not trust a result. */
struct round_request {
	uint32_t width;
};

struct round_result {
	int32_t status;
	uint32_t size; /* of the text */
};

struct rounds_shared {
	char text[MAX_TEXT];
};

unsigned rounds_views(void)
{
	unsigned n = 0;

	while (report_view_name(n))
		n++;
	return n;
}

/* --- the tables of a round --- */

/* Returns the bytes of the whole lines in the first `most` bytes of a text. */
static size_t cut_lines(const char *text, size_t n, size_t most)
{
	const char *end = n > most ? memrchr(text, '\n', most) : NULL;

	return n <= most ? n : end ? (size_t)(end - text) + 1 : 0;
}

/* Writes a block of at most `most` bytes, which is more than a terminal has lines for. */
static int print_view(struct analysis *a, unsigned view, const struct report_style *style, size_t most,
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

static int print_views(struct analysis *a, FILE *out, unsigned width)
{
	const size_t most = (MAX_TEXT - 1) / (rounds_views() * SORT_KINDS) - 1;
	int rc = 0;

	for (unsigned view = 0; report_view_name(view) && rc == 0; view++) {
		for (unsigned sort = 0; sort < SORT_KINDS && rc == 0; sort++) {
			const struct report_style style = {
				.sort = (enum report_sort)sort, .width = width, .all = true};

			rc = print_view(a, view, &style, most, out);
		}
	}
	return rc;
}

/* Returns the number of bytes, or a negative errno. */
static long print_tables(struct analysis *a, struct rounds_shared *shared, unsigned width)
{
	FILE *out = fmemopen(shared->text, MAX_TEXT, "w");
	int rc = out ? print_views(a, out, width) : -ENOMEM;
	long size = out ? ftell(out) : 0;

	if (out && fclose(out) && rc == 0)
		rc = -EIO;
	return rc ? rc : size;
}

/* --- the process that reads the trace --- */

struct round_stream {
	const struct top_options *options;
	struct rounds_shared *shared;
	struct recording_child *child;
	int trace; /* a pipe; -1 = the recording has ended */
	/* The file's header, and what has been read since the last round. */
	uint8_t *bytes;
	size_t n, capacity;
	size_t seen;                  /* the whole batches of these */
	size_t whole;                 /* the whole generations of these */
	unsigned generations;         /* their number */
	unsigned wanted;              /* number of generations of a round */
	struct recording_state since; /* at the end of the last round */
};

/* Reads more of the trace, and sets trace to -1 at its end. */
static int stream_read(struct round_stream *stream, struct error *err)
{
	ssize_t n;

	if (stream->n > MAX_ROUND_BYTES)
		return error_set(err, EFBIG,
				 "a round has more than 1 GB of trace: use a shorter -i, or --detail=light");
	if (array_grow(&stream->bytes, &stream->capacity, stream->n + READ_BYTES, 1))
		return error_set(err, ENOMEM,
				 "out of memory for a round: use a shorter -i, or --detail=light");
	n = read(stream->trace, stream->bytes + stream->n, READ_BYTES);
	if (n < 0)
		return errno == EINTR ? 0
				      : error_set(err, errno, "cannot read the trace: %s", strerror(errno));
	if (n == 0) {
		close(stream->trace);
		stream->trace = -1;
	}
	stream->n += (size_t)n;
	while (stream->n > WIRE_HEADER_BYTES &&
	       wire_generation_end(stream->bytes, stream->n, &stream->seen)) {
		stream->whole = stream->seen;
		stream->generations++;
	}
	return 0;
}

static bool stream_has_round(const struct round_stream *stream)
{
	return stream->generations >= stream->wanted || (stream->trace < 0 && stream->generations);
}

/* Forgets the generations of the round, and keeps the beginning of the next one. */
static void stream_next_round(struct round_stream *stream)
{
	size_t gone = stream->whole - WIRE_HEADER_BYTES;

	memmove(stream->bytes + WIRE_HEADER_BYTES, stream->bytes + stream->whole, stream->n - stream->whole);
	stream->n -= gone;
	stream->seen -= gone;
	stream->whole = WIRE_HEADER_BYTES;
	stream->generations = 0;
}

/* Writes the tables into the shared memory. Returns their size, or a negative errno and prints a message. */
static long stream_analyse(struct round_stream *stream, unsigned width)
{
	char name[32];
	struct trace_input input = {.name = name,
				    .file = ANALYSIS_NO_FILE,
				    .in = {.bytes = stream->bytes, .size = stream->whole},
				    .goes_on = true};
	struct analysis *a = NULL;
	struct error err = {""};
	bool cut = false;
	long size;

	snprintf(name, sizeof(name), "-p %d", (int)stream->options->record.pid);
	recording_child_describe(stream->child, &stream->since, &input.host);
	input.host.pid = (uint32_t)stream->options->record.pid;
	size = trace_input_analyse(&input, &a, &cut, &err);
	if (!size)
		size = print_tables(a, stream->shared, width);
	if (size < 0 && !err.text[0])
		error_set(&err, (int)-size, "cannot make the tables: %s", strerror((int)-size));
	if (size < 0)
		message_error(&err);
	analysis_free(a);
	return size;
}

static int send_result(int socket, int status, long size)
{
	const struct round_result result = {.status = status, .size = size > 0 ? (uint32_t)size : 0};

	return send(socket, &result, sizeof(result), MSG_NOSIGNAL) == sizeof(result) ? 0 : -EIO;
}

static int answer_round(struct round_stream *stream, int socket, unsigned width)
{
	long size = stream_analyse(stream, width);

	stream_next_round(stream);
	return send_result(socket, size < 0 ? STATUS_NONE : STATUS_WHOLE, size);
}

/* There are no more rounds. A recording that ended with the process has printed no reason. */
static int answer_end(struct round_stream *stream, int socket)
{
	struct analysis_host unused;
	struct error err = {""};
	int rc = recording_child_wait(stream->child, &unused, &err);

	if (rc == 0)
		error_set(&err, ESRCH, "the process has ended");
	if (err.text[0])
		message_error(&err);
	return send_result(socket, STATUS_NONE, 0);
}

/*
 * The reason is printed while the pipe is open, so that it is the last message: without a reader, the process
 * that records prints another one.
 */
static void answer_error(int socket, bool asked, const struct error *err)
{
	struct round_request request;

	message_error(err);
	if (asked || recv(socket, &request, sizeof(request), 0) == sizeof(request))
		send_result(socket, STATUS_NONE, 0);
}

/*
 * Waits for a request and for more of the trace, which is left in the pipe while a round waits. An error
 * without a text: the process that draws has ended.
 */
static int stream_wait(struct round_stream *stream, int socket, bool *asked, struct round_request *request,
		       struct error *err)
{
	struct pollfd both[] = {{.fd = *asked ? -1 : socket, .events = POLLIN},
				{.fd = stream_has_round(stream) ? -1 : stream->trace, .events = POLLIN}};

	if (*asked)
		both[0] = (struct pollfd){.fd = socket}; /* only its end */
	if (poll(both, 2, -1) < 0)
		return errno == EINTR
			       ? 0
			       : error_set(err, errno, "cannot wait for the trace: %s", strerror(errno));
	if (both[1].revents && stream_read(stream, err))
		return -EIO;
	if (!*asked && both[0].revents) {
		if (recv(socket, request, sizeof(*request), 0) != sizeof(*request))
			return -EPIPE;
		*asked = true;
	}
	return *asked && both[0].revents & (POLLHUP | POLLERR) ? -EPIPE : 0;
}

static void stream_serve(struct round_stream *stream, int socket)
{
	struct round_request request;
	struct error err = {""};
	bool asked = false;
	int rc = 0;

	while (rc == 0) {
		if (asked && stream_has_round(stream))
			rc = answer_round(stream, socket, request.width);
		else if (asked && stream->trace < 0)
			rc = answer_end(stream, socket);
		else {
			rc = stream_wait(stream, socket, &asked, &request, &err);
			continue;
		}
		asked = false;
	}
	if (err.text[0])
		answer_error(socket, asked, &err);
}

/* The recording's generations have the length of a round, or of an equal part of it. */
static int stream_start(struct round_stream *stream, struct error *err)
{
	struct record_options record = stream->options->record;
	uint64_t interval = stream->options->interval_ns;

	stream->wanted = (unsigned)((interval + GENERATION_NS - 1) / GENERATION_NS);
	stream->seen = stream->whole = WIRE_HEADER_BYTES;
	record.generation_ms = (unsigned)(interval / stream->wanted / 1000000);
	stream->trace = recording_child_stream(&stream->child, &record, err);
	return stream->trace < 0 ? stream->trace : sandbox_confine(err);
}

/* Ends with the recording: without a reader, or when the lifeline is cut, it removes its probes. */
static void stream_end(struct round_stream *stream)
{
	if (stream->trace >= 0)
		close(stream->trace);
	recording_child_end(stream->child);
	free(stream->bytes);
}

static void serve_rounds(int socket, const struct top_options *options, struct rounds_shared *shared)
{
	struct round_stream stream = {.options = options, .shared = shared, .trace = -1};
	struct error err = {""};

	if (stream_start(&stream, &err))
		message_error(&err);
	else
		stream_serve(&stream, socket);
	stream_end(&stream);
}

static void ignore_signal(int number)
{
	(void)number;
}

/*
 * A signal from the terminal that ends top also ends the process that records, early. This process must
 * survive it to pass on what there is.
 */
static void survive_signals(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction none = {.sa_handler = ignore_signal, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaction(ends[i], &none, NULL);
}

/* --- the process that draws --- */

static int top_rounds_start(struct rounds *rounds, const int ends[2], const struct top_options *options)
{
	rounds->pid = fork();
	if (rounds->pid == 0) {
		close(ends[0]);
		survive_signals();
		if (lifeline_obey(&rounds->line, SIGKILL) == 0 && dup2(rounds->messages, STDERR_FILENO) >= 0)
			serve_rounds(ends[1], options, rounds->shared);
		_exit(0);
	}
	lifeline_hold(&rounds->line);
	return rounds->pid < 0 ? -errno : 0;
}

static int top_rounds_prepare(struct rounds *rounds)
{
	void *shared = mmap(NULL, sizeof(*rounds->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);

	if (shared == MAP_FAILED)
		return -ENOMEM;
	rounds->shared = shared;
	rounds->messages = memfd_create("messages", MFD_CLOEXEC);
	return rounds->messages < 0 ? -errno : lifeline_open(&rounds->line);
}

int rounds_start(struct rounds *rounds, const struct top_options *options, struct error *err)
{
	int ends[2], rc;

	*rounds = (struct rounds){.socket = -1, .messages = -1, .line = {-1, -1}};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return error_set(err, errno, "cannot start tracing: %s", strerror(errno));
	rounds->socket = ends[0];
	rc = top_rounds_prepare(rounds);
	if (rc == 0)
		rc = top_rounds_start(rounds, ends, options);
	close(ends[1]);
	return rc ? error_set(err, -rc, "cannot start tracing: %s", strerror(-rc)) : 0;
}

/* Sets err to the last message of the other processes. */
static int rounds_explain(const struct rounds *rounds, struct error *err)
{
	char text[4096];
	const char *line = last_line(rounds->messages, text, sizeof(text));

	if (strncmp(line, "gotrace: ", 9) == 0)
		line += 9;
	return error_set(err, ECHILD, "%s", *line ? line : "the process that analyses has ended");
}

/*
 * Without a request, the process that analyses ends by itself once its last round is analysed. Returns false
 * if it still runs.
 */
static bool analysis_ends(struct rounds *rounds, int *status)
{
	for (unsigned waited = 0; waited < END_MS; waited += POLL_MS) {
		if (waitpid(rounds->pid, status, WNOHANG)) {
			rounds->pid = 0;
			return true;
		}
		poll(NULL, 0, POLL_MS);
	}
	return false;
}

/* The process that analyses ends without a result. A signal's number says more than the last message. */
static int rounds_explain_end(struct rounds *rounds, struct error *err)
{
	int status = 0;

	if (analysis_ends(rounds, &status) && WIFSIGNALED(status))
		return error_set(err, ECHILD, "the process that analyses was killed by signal %d (%s)",
				 WTERMSIG(status), strsignal(WTERMSIG(status)));
	return rounds_explain(rounds, err);
}

int rounds_request(struct rounds *rounds, unsigned width, struct error *err)
{
	const struct round_request request = {.width = width};

	if (send(rounds->socket, &request, sizeof(request), MSG_NOSIGNAL) != sizeof(request))
		return rounds_explain_end(rounds, err);
	rounds->busy = true;
	return 0;
}

int rounds_take(struct rounds *rounds, char **text, struct error *err)
{
	struct round_result result;
	ssize_t n;

	do
		n = recv(rounds->socket, &result, sizeof(result), 0);
	while (n < 0 && errno == EINTR);
	rounds->busy = false;
	if (n <= 0)
		return rounds_explain_end(rounds, err);
	if (n != sizeof(result) || result.status != STATUS_WHOLE || result.size > MAX_TEXT)
		return rounds_explain(rounds, err);
	*text = strndup(rounds->shared->text, result.size);
	return *text ? 0 : error_set(err, ENOMEM, "out of memory");
}

void rounds_end(struct rounds *rounds)
{
	int status;

	if (rounds->socket >= 0)
		close(rounds->socket);
	if (rounds->pid > 0)
		analysis_ends(rounds, &status);
	lifeline_hold(&rounds->line);
	lifeline_cut(&rounds->line); /* kills it if it still runs */
	if (rounds->pid > 0)
		waitpid(rounds->pid, NULL, 0);
	if (rounds->messages >= 0)
		close(rounds->messages);
	if (rounds->shared)
		munmap(rounds->shared, sizeof(*rounds->shared));
}
