/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/signals.h"
#include "sandbox/lifeline.h"
#include "sandbox/sandbox.h"
#include "util/clock.h"
#include "util/http_request.h"

/* A browser opens connections in advance, and sends nothing on some of them. */
enum { CONNECTIONS = 16, POLL_MS = 50, REQUEST_S = 10, SEND_S = 60, LIFE_S = 600 };

/* How the process of a connection ends. */
enum { FETCHED = 0, NOT_FETCHED = 1 };

struct http_reader {
	int fd; /* the connection */
	const struct http_file *file;
	const uint8_t *bytes; /* of the file, mapped */
	size_t size;
};

/* A process that reads a request. */
struct http_child {
	pid_t pid; /* 0 = none */
	struct lifeline line;
};

/* --- the process that reads a request --- */

static void http_send(int fd, const void *bytes, size_t n)
{
	const char *at = bytes;

	while (n) {
		ssize_t took = send(fd, at, n, MSG_NOSIGNAL);

		if (took < 0 && errno == EINTR)
			continue;
		if (took <= 0)
			_exit(NOT_FETCHED);
		at += took;
		n -= (size_t)took;
	}
}

static void send_head(const struct http_reader *reader, const char *status, size_t size, const char *more)
{
	char head[512];

	snprintf(head, sizeof(head),
		 "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\nCache-Control: no-store\r\n"
		 "X-Content-Type-Options: nosniff\r\n%s\r\n",
		 status, size, more);
	http_send(reader->fd, head, strlen(head));
}

/*
 * A page of another name that resolves to this address sends its own name as the host; a page of another
 * origin sends that. Neither gets the file, even if it knows its path.
 */
static const char *refusal(const struct http_reader *reader, const struct http_request *request)
{
	char host[32];

	snprintf(host, sizeof(host), "127.0.0.1:%u", reader->file->port);
	if (strcmp(request->host, host) != 0)
		return "403 Forbidden";
	if (request->origin[0] && strcmp(request->origin, reader->file->origin) != 0)
		return "403 Forbidden";
	if (strcmp(request->target, reader->file->target) != 0)
		return "404 Not Found";
	if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0 &&
	    strcmp(request->method, "OPTIONS") != 0)
		return "405 Method Not Allowed";
	return NULL;
}

/* Waits until the other side has closed, or for a while: to close first could discard what is on its way. */
static void wait_for_end(int fd)
{
	char bytes[512];
	ssize_t n;

	do
		n = recv(fd, bytes, sizeof(bytes), 0);
	while (n > 0 || (n < 0 && errno == EINTR));
}

static int serve_answer(const struct http_reader *reader, const struct http_request *request)
{
	const char *refused = refusal(reader, request);
	char allow[256];

	/* The second line is the answer to https://wicg.github.io/private-network-access. */
	snprintf(allow, sizeof(allow),
		 "Access-Control-Allow-Origin: %s\r\nAccess-Control-Allow-Private-Network: true\r\n"
		 "Content-Type: application/octet-stream\r\n",
		 reader->file->origin);
	if (refused) {
		send_head(reader, refused, 0, "");
		return NOT_FETCHED;
	}
	if (strcmp(request->method, "OPTIONS") == 0) {
		send_head(reader, "200 OK", 0, allow);
		return NOT_FETCHED;
	}
	send_head(reader, "200 OK", reader->size, allow);
	if (strcmp(request->method, "HEAD") == 0)
		return NOT_FETCHED;
	http_send(reader->fd, reader->bytes, reader->size);
	return FETCHED;
}

static int read_and_answer(const struct http_reader *reader)
{
	char bytes[HTTP_HEAD_MAX];
	struct http_request request;
	uint64_t began = now_ns();
	size_t have = 0;
	int rc = 0;

	while (rc == 0 && have < sizeof(bytes)) {
		ssize_t n = recv(reader->fd, bytes + have, sizeof(bytes) - have, 0);

		if (n < 0 && errno == EINTR)
			continue;
		/* One that sends a byte now and then must not keep the page out. */
		if (n <= 0 || now_ns() - began > REQUEST_S * 1000000000ull)
			return NOT_FETCHED;
		have += (size_t)n;
		rc = http_request_parse(bytes, have, &request);
	}
	if (rc > 0) {
		rc = serve_answer(reader, &request);
	} else {
		send_head(reader, "400 Bad Request", 0, "");
		rc = NOT_FETCHED;
	}
	wait_for_end(reader->fd);
	return rc;
}

static void run_reader(struct http_reader *reader, struct lifeline *line, int listener)
{
	const struct timeval in = {.tv_sec = REQUEST_S}, out = {.tv_sec = SEND_S};
	struct error err;

	close(listener);
	signals_reset();
	alarm(LIFE_S);
	setsockopt(reader->fd, SOL_SOCKET, SO_RCVTIMEO, &in, sizeof(in));
	setsockopt(reader->fd, SOL_SOCKET, SO_SNDTIMEO, &out, sizeof(out));
	_exit(lifeline_obey(line, SIGKILL) || sandbox_confine(&err) ? NOT_FETCHED : read_and_answer(reader));
}

/* --- the process that listens --- */

int serve_listen(uint16_t port, struct error *err)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1, code;

	if (fd < 0)
		return error_set(err, errno, "cannot open a socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, CONNECTIONS) == 0)
		return fd;
	code = errno;
	close(fd);
	if (code == EADDRINUSE)
		return error_set(err, code,
				 "port %u of 127.0.0.1 is in use (by another gotrace view, or "
				 "trace_processor_shell): end that program first",
				 port);
	return error_set(err, code, "cannot listen at 127.0.0.1:%u: %s", port, strerror(code));
}

/* Returns the number of readers that still run. Sets *fetched if one has sent the file. */
static unsigned reap_readers(struct http_child readers[CONNECTIONS], bool *fetched)
{
	unsigned running = 0;

	for (unsigned i = 0; i < CONNECTIONS; i++) {
		int status;

		if (!readers[i].pid)
			continue;
		if (waitpid(readers[i].pid, &status, WNOHANG) != readers[i].pid) {
			running++;
			continue;
		}
		lifeline_cut(&readers[i].line);
		readers[i].pid = 0;
		if (WIFEXITED(status) && WEXITSTATUS(status) == FETCHED)
			*fetched = true;
	}
	return running;
}

static void start_reader(int listener, const struct http_reader *file, struct http_child *child)
{
	struct http_reader reader = *file;

	reader.fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (reader.fd < 0)
		return;
	if (lifeline_open(&child->line) == 0) {
		child->pid = fork();
		if (child->pid == 0)
			run_reader(&reader, &child->line, listener);
		lifeline_hold(&child->line);
		if (child->pid < 0) {
			lifeline_cut(&child->line);
			child->pid = 0;
		}
	}
	close(reader.fd);
}

/* There is one: fewer than CONNECTIONS run. */
static struct http_child *free_child(struct http_child readers[CONNECTIONS])
{
	while (readers->pid)
		readers++;
	return readers;
}

static int serve_until_done(int listener, const struct http_reader *file)
{
	struct http_child readers[CONNECTIONS] = {{.pid = 0}};
	struct pollfd ready = {.fd = listener, .events = POLLIN};
	bool fetched = false;

	while (!fetched) {
		if (signals_seen())
			return -EINTR;
		if (reap_readers(readers, &fetched) == CONNECTIONS)
			poll(NULL, 0, POLL_MS);
		else if (!fetched && poll(&ready, 1, POLL_MS) > 0)
			start_reader(listener, file, free_child(readers));
	}
	return 0;
}

int serve_file(int listener, const struct http_file *file, struct error *err)
{
	struct http_reader reader = {.file = file};
	struct stat st;
	void *bytes;
	int rc;

	if (fstat(file->fd, &st) || st.st_size <= 0)
		return error_set(err, EIO, "cannot read the piece");
	reader.size = (size_t)st.st_size;
	bytes = mmap(NULL, reader.size, PROT_READ, MAP_PRIVATE, file->fd, 0);
	if (bytes == MAP_FAILED)
		return error_set(err, errno, "cannot read the piece: %s", strerror(errno));
	reader.bytes = bytes;
	fflush(NULL);
	rc = serve_until_done(listener, &reader);
	munmap(bytes, reader.size);
	return rc;
}
