/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/snapshot_socket.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/time.h>
#include <unistd.h>

#include "util/clock.h"

/* The protocol: one line in each direction. The question may have a window, ns since 1970; or it asks for the
 * PID that is recorded. */
#define QUESTION           "snapshot\n"
#define QUESTION_OF_TARGET "target\n"
#define QUESTION_OF_WINDOW "snapshot %" SCNu64 " %" SCNu64 "%n"
#define WRITTEN            "written "
#define FAILED             "failed "
#define TARGET             "target "

enum { BACKLOG = 64, MAX_QUESTION = 64, MAX_PIECES = 8, CONNECT_S = 5, TARGET_S = 1 };

#define LISTENING 0x10000u /* __SO_ACCEPTCON of the kernel (include/linux/net.h) */

static socklen_t snapshot_socket_name_of(pid_t pid, struct sockaddr_un *name)
{
	*name = (struct sockaddr_un){.sun_family = AF_UNIX};
	/* A name that begins with NUL is in the abstract namespace. */
	snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1, "gotrace-flight-%d", (int)pid);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name->sun_path + 1));
}

static bool is_peer_trusted(int fd, struct ucred *peer)
{
	socklen_t size = sizeof(*peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &size) == 0 &&
	       (peer->uid == 0 || peer->uid == geteuid());
}

int snapshot_socket_open(struct snapshot_socket *server, struct error *err)
{
	struct sockaddr_un name;
	socklen_t size = snapshot_socket_name_of(getpid(), &name);

	for (int i = 0; i < MAX_SNAPSHOT_CLIENTS; i++)
		server->clients[i].fd = -1;
	server->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (server->fd < 0)
		return error_set(err, errno, "cannot create a socket: %s", strerror(errno));
	if (bind(server->fd, (struct sockaddr *)&name, size) || listen(server->fd, BACKLOG)) {
		int code = errno;

		close(server->fd);
		server->fd = -1;
		return error_set(err, code, "gotrace snapshot cannot reach this recorder (use SIGUSR1): %s",
				 strerror(code));
	}
	return 0;
}

static void send_answer(int fd, const char *verdict, const char *text)
{
	char line[PATH_MAX + 64];
	int n = snprintf(line, sizeof(line), "%s%s\n", verdict, text);

	if (n > 0 && send(fd, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line),
			  MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return; /* the client is gone */
}

static void close_client(struct snapshot_client *client)
{
	close(client->fd);
	*client = (struct snapshot_client){.fd = -1};
}

static struct snapshot_client *free_place(struct snapshot_socket *server)
{
	for (int i = 0; i < MAX_SNAPSHOT_CLIENTS; i++) {
		if (server->clients[i].fd < 0)
			return &server->clients[i];
	}
	return NULL;
}

/* Answers without reading the client's request. */
static void snapshot_socket_refuse(int fd, const char *why)
{
	send_answer(fd, FAILED, why);
	close(fd);
}

static void accept_client(struct snapshot_socket *server, int fd, uint64_t now_ns)
{
	struct snapshot_client *place = free_place(server);
	struct ucred peer;

	if (!is_peer_trusted(fd, &peer))
		snapshot_socket_refuse(fd, "this recorder belongs to another user");
	else if (!place)
		snapshot_socket_refuse(fd, "too many clients");
	else
		*place = (struct snapshot_client){.fd = fd, .accepted_ns = now_ns};
}

/* Accepts at most BACKLOG connections per call, so that a client connecting in a loop cannot block us. */
static void take_connections(struct snapshot_socket *server, uint64_t now_ns)
{
	for (int i = 0; i < BACKLOG && server->fd >= 0; i++) {
		int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;
		accept_client(server, fd, now_ns);
	}
}

/* text ends in NUL and has n characters. */
static bool parse_question(const char *text, size_t n, struct time_window *window)
{
	int end = 0;

	*window = (struct time_window){0};
	if (strcmp(text, QUESTION) == 0)
		return true;
	return sscanf(text, QUESTION_OF_WINDOW, &window->from_ns, &window->until_ns, &end) == 2 && end > 0 &&
	       (size_t)end + 1 == n && text[end] == '\n' && window->from_ns < window->until_ns &&
	       window->until_ns <= clock_ns(CLOCK_REALTIME) + WINDOW_AHEAD_NS + REQUEST_MS * 1000000ull;
}

/* A request is short and arrives in one piece. target: the PID that is recorded. */
static void read_request(struct snapshot_client *client, pid_t target, uint64_t now_ns)
{
	char text[MAX_QUESTION], number[16];
	ssize_t n = recv(client->fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR) &&
	    now_ns < client->accepted_ns + REQUEST_MS * 1000000ull)
		return;
	text[n > 0 ? n : 0] = '\0';
	if (parse_question(text, n > 0 ? (size_t)n : 0, &client->window)) {
		client->asked = true;
		return;
	}
	if (strcmp(text, QUESTION_OF_TARGET) == 0) {
		snprintf(number, sizeof(number), "%d", (int)target);
		send_answer(client->fd, TARGET, number);
	}
	close_client(client); /* it has its answer, is gone, or is not gotrace */
}

bool snapshot_socket_poll(struct snapshot_socket *server, uint64_t now_ns)
{
	bool asked = false;

	take_connections(server, now_ns);
	for (int i = 0; i < MAX_SNAPSHOT_CLIENTS; i++) {
		struct snapshot_client *client = &server->clients[i];

		if (client->fd >= 0 && !client->asked)
			read_request(client, server->target, now_ns);
		asked |= client->asked && !client->awaited && !client->window.until_ns;
	}
	return asked;
}

bool snapshot_socket_due(const struct snapshot_socket *server, uint64_t now, struct time_window *window)
{
	for (int i = 0; i < MAX_SNAPSHOT_CLIENTS; i++) {
		const struct snapshot_client *client = &server->clients[i];

		if (client->fd < 0 || !client->asked || client->awaited || !client->window.until_ns ||
		    client->window.until_ns > now)
			continue;
		*window = client->window;
		return true;
	}
	return false;
}

void snapshot_socket_begin(struct snapshot_socket *server, const struct time_window *window)
{
	for (int i = 0; i < MAX_SNAPSHOT_CLIENTS; i++) {
		struct snapshot_client *client = &server->clients[i];

		client->awaited = client->asked && (!window || (client->window.from_ns == window->from_ns &&
								client->window.until_ns == window->until_ns));
	}
}

void snapshot_socket_answer(struct snapshot_socket *server, const char *path, const struct error *err)
{
	for (int i = 0; i < MAX_SNAPSHOT_CLIENTS; i++) {
		struct snapshot_client *client = &server->clients[i];

		if (client->fd < 0 || !client->awaited)
			continue;
		send_answer(client->fd, path ? WRITTEN : FAILED, path ? path : err->text);
		close_client(client);
	}
}

void snapshot_socket_close(struct snapshot_socket *server)
{
	struct error ending = {"the recorder is ending"};

	for (int i = 0; i < MAX_SNAPSHOT_CLIENTS; i++)
		server->clients[i].awaited = true;
	snapshot_socket_answer(server, NULL, &ending);
	if (server->fd >= 0)
		close(server->fd);
	server->fd = -1;
}

/* --- the client side --- */

/* specified: the user has named this recorder. Root may then ask any user's. Any process can bind such a
 * name. */
static int reach(pid_t recorder, int fd, const char *question, bool specified, struct error *err)
{
	const struct timeval patience = {.tv_sec = CONNECT_S};
	struct sockaddr_un name;
	socklen_t size = snapshot_socket_name_of(recorder, &name);
	struct ucred peer;

	/* connect() waits while as many wait as the name's owner allows. */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&name, size))
		return error_set(err, errno,
				 errno == ECONNREFUSED
					 ? "PID %d is not a gotrace flight recorder, and none of "
					   "yours or root's records it here"
					 : "cannot reach PID %d",
				 (int)recorder);
	if ((!is_peer_trusted(fd, &peer) && !(specified && geteuid() == 0)) || peer.pid != recorder)
		return error_set(
			err, EPERM,
			"PID %d belongs to another user: run gotrace snapshot as that user or as root",
			(int)recorder);
	/* A recorder that refuses may already have answered and closed the connection. */
	if (send(fd, question, strlen(question), MSG_NOSIGNAL) < 0 && errno != EPIPE && errno != ECONNRESET)
		return error_set(err, errno, "the recorder, PID %d, has ended", (int)recorder);
	return 0;
}

/*
 * Reads the answer up to the newline, which is removed. Returns its length or a negative errno. Does not read
 * on to the end of file: a recorder that has not read our request resets the connection. An answer comes in
 * one piece; one that drips in is not waited for.
 */
static ssize_t receive_answer(int fd, char *text, size_t size)
{
	size_t n = 0;

	for (int pieces = 0; n == 0 || text[n - 1] != '\n'; pieces++) {
		ssize_t got = n < size - 1 && pieces < MAX_PIECES ? recv(fd, text + n, size - 1 - n, 0) : 0;

		if (got <= 0)
			return got ? -errno : -EPIPE;
		n += (size_t)got;
	}
	text[--n] = '\0';
	return (ssize_t)n;
}

int snapshot_socket_take(int fd, pid_t recorder, char *path, struct error *err)
{
	char text[PATH_MAX + 64];
	ssize_t n = receive_answer(fd, text, sizeof(text));

	if (n == -EINTR)
		return error_set(err, EINTR, "interrupted; the snapshot will still be written");
	if (n == -EAGAIN)
		return error_set(err, EAGAIN, "PID %d does not answer", (int)recorder);
	if (n < 0)
		return error_set(err, EPIPE, "PID %d ended before the snapshot was written", (int)recorder);
	if (strncmp(text, WRITTEN, strlen(WRITTEN)) != 0)
		return error_set(err, EIO, "%s",
				 strncmp(text, FAILED, strlen(FAILED)) ? "no answer" : text + strlen(FAILED));
	n -= (ssize_t)strlen(WRITTEN);
	if (n >= PATH_MAX)
		return error_set(err, ENAMETOOLONG, "the file's name is too long");
	memcpy(path, text + strlen(WRITTEN), (size_t)n + 1);
	return 0;
}

int snapshot_socket_list(pid_t *recorders, unsigned most, struct error *err)
{
	FILE *file = fopen("/proc/net/unix", "re");
	char *line = NULL;
	size_t size = 0;
	unsigned n = 0;

	if (!file)
		return error_set(err, errno, "cannot read /proc/net/unix: %s", strerror(errno));
	while (n < most && getline(&line, &size, file) > 0) {
		unsigned flags;
		int pid, end = 0;

		/* "Num: RefCount Protocol Flags Type St Inode Path" (net/unix/af_unix.c, unix_seq_show) */
		if (sscanf(line, "%*s %*s %*s %x %*s %*s %*s @gotrace-flight-%d%n", &flags, &pid, &end) ==
			    2 &&
		    line[end] == '\n' && pid > 0 && flags & LISTENING)
			recorders[n++] = pid;
	}
	free(line);
	fclose(file);
	return (int)n;
}

static int ask_recorder(pid_t recorder, const char *question, bool specified, struct error *err)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return error_set(err, errno, "cannot create a socket: %s", strerror(errno));
	rc = reach(recorder, fd, question, specified, err);
	if (rc)
		close(fd);
	return rc ? rc : fd;
}

int snapshot_socket_ask(pid_t recorder, const struct time_window *window, struct error *err)
{
	char question[MAX_QUESTION] = QUESTION;

	if (window->until_ns)
		snprintf(question, sizeof(question), "snapshot %" PRIu64 " %" PRIu64 "\n", window->from_ns,
			 window->until_ns);
	return ask_recorder(recorder, question, true, err);
}

pid_t snapshot_socket_target(pid_t recorder)
{
	const struct timeval patience = {.tv_sec = TARGET_S};
	int fd = ask_recorder(recorder, QUESTION_OF_TARGET, false, NULL), target = 0, end = 0;
	char text[MAX_QUESTION];
	ssize_t n;

	if (fd < 0)
		return 0;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	n = receive_answer(fd, text, sizeof(text));
	close(fd);
	return n > 0 && sscanf(text, TARGET "%d%n", &target, &end) == 1 && end == n && target > 0 ? target
												  : 0;
}
