/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* What is said: one line each way. */
#define QUESTION "snapshot\n"
#define WRITTEN  "written "
#define FAILED   "failed "

static socklen_t name_of(pid_t pid, struct sockaddr_un *name)
{
	*name = (struct sockaddr_un){.sun_family = AF_UNIX};
	/* A name that begins with NUL is none in the file system. */
	snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1, "gotrace-flight-%d", (int)pid);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name->sun_path + 1));
}

static bool is_peer_trusted(int fd, struct ucred *peer)
{
	socklen_t size = sizeof(*peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &size) == 0 &&
	       (peer->uid == 0 || peer->uid == geteuid());
}

int control_open(struct control *control, struct error *err)
{
	struct sockaddr_un name;
	socklen_t size = name_of(getpid(), &name);

	for (int i = 0; i < MAX_ASKERS; i++)
		control->askers[i].fd = -1;
	control->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (control->fd < 0)
		return error_set(err, errno, "cannot make a socket: %s", strerror(errno));
	if (bind(control->fd, (struct sockaddr *)&name, size) || listen(control->fd, MAX_ASKERS)) {
		int code = errno;

		close(control->fd);
		control->fd = -1;
		return error_set(err, code, "gotrace snapshot cannot reach this recorder (use SIGUSR1): %s",
				 strerror(code));
	}
	return 0;
}

static void say(int fd, const char *verdict, const char *text)
{
	char line[PATH_MAX + 64];
	int n = snprintf(line, sizeof(line), "%s%s\n", verdict, text);

	if (n > 0 && send(fd, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line),
			  MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return; /* it went away */
}

static void dismiss(struct asker *asker)
{
	close(asker->fd);
	*asker = (struct asker){.fd = -1};
}

static struct asker *free_place(struct control *control)
{
	for (int i = 0; i < MAX_ASKERS; i++) {
		if (control->askers[i].fd < 0)
			return &control->askers[i];
	}
	return NULL;
}

static void let_in(struct control *control)
{
	int fd = control->fd < 0 ? -1 : accept4(control->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct asker *place = free_place(control);
	struct ucred peer;

	if (fd < 0)
		return;
	if (!is_peer_trusted(fd, &peer) || !place) {
		char question[sizeof(QUESTION)];

		/* What is left unread would take the answer's place. */
		while (recv(fd, question, sizeof(question), MSG_DONTWAIT) > 0)
			continue;
		say(fd, FAILED, place ? "this recorder is another user's" : "too many are asking");
		close(fd);
		return;
	}
	place->fd = fd;
}

static void listen_to(struct asker *asker)
{
	char text[sizeof(QUESTION)];
	ssize_t n = recv(asker->fd, text, sizeof(text), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == sizeof(QUESTION) - 1 && memcmp(text, QUESTION, sizeof(QUESTION) - 1) == 0)
		asker->asked = true;
	else
		dismiss(asker); /* it went away, or is no gotrace */
}

bool control_poll(struct control *control)
{
	bool asked = false;

	let_in(control);
	for (int i = 0; i < MAX_ASKERS; i++) {
		struct asker *asker = &control->askers[i];

		if (asker->fd >= 0 && !asker->asked)
			listen_to(asker);
		asked |= asker->asked && !asker->awaited;
	}
	return asked;
}

void control_begin(struct control *control)
{
	for (int i = 0; i < MAX_ASKERS; i++)
		control->askers[i].awaited = control->askers[i].asked;
}

void control_answer(struct control *control, const char *path, const struct error *err)
{
	for (int i = 0; i < MAX_ASKERS; i++) {
		struct asker *asker = &control->askers[i];

		if (asker->fd < 0 || !asker->awaited)
			continue;
		say(asker->fd, path ? WRITTEN : FAILED, path ? path : err->text);
		dismiss(asker);
	}
}

void control_close(struct control *control)
{
	struct error ending = {"the recorder is ending"};

	for (int i = 0; i < MAX_ASKERS; i++)
		control->askers[i].awaited = true;
	control_answer(control, NULL, &ending);
	if (control->fd >= 0)
		close(control->fd);
	control->fd = -1;
}

/* --- the other side --- */

static int reach(pid_t recorder, int fd, struct error *err)
{
	struct sockaddr_un name;
	socklen_t size = name_of(recorder, &name);
	struct ucred peer;

	if (connect(fd, (struct sockaddr *)&name, size))
		return error_set(err, errno,
				 errno == ECONNREFUSED ? "PID %d is no gotrace flight here"
						       : "cannot reach PID %d",
				 (int)recorder);
	/* Anybody can take such a name. Root may ask everybody's recorder, and has named the process. */
	if ((!is_peer_trusted(fd, &peer) && geteuid() != 0) || peer.pid != recorder)
		return error_set(err, EPERM, "PID %d is not yours: ask as its user, or as root",
				 (int)recorder);
	/* Who refuses us may have said so, and gone, by now. */
	if (send(fd, QUESTION, sizeof(QUESTION) - 1, MSG_NOSIGNAL) < 0 && errno != EPIPE)
		return error_set(err, errno, "PID %d went away", (int)recorder);
	return 0;
}

/* The whole answer, without its last newline; its length, or a negative errno. */
static ssize_t hear(int fd, char *text, size_t size)
{
	size_t n = 0;
	ssize_t got;

	while (n < size - 1 && (got = recv(fd, text + n, size - 1 - n, 0)) != 0) {
		if (got < 0)
			return -errno;
		n += (size_t)got;
	}
	if (n == 0 || text[n - 1] != '\n')
		return -EPIPE;
	text[--n] = '\0';
	return (ssize_t)n;
}

static int take_answer(int fd, pid_t recorder, char *path, struct error *err)
{
	char text[PATH_MAX + 64];
	ssize_t n = hear(fd, text, sizeof(text));

	if (n == -EINTR)
		return error_set(err, EINTR, "interrupted; the snapshot is written all the same");
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

int control_ask(pid_t recorder, char *path, struct error *err)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return error_set(err, errno, "cannot make a socket: %s", strerror(errno));
	rc = reach(recorder, fd, err);
	if (rc == 0)
		rc = take_answer(fd, recorder, path, err);
	close(fd);
	return rc;
}
