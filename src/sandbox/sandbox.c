/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/filter.h"
#include "sandbox/privilege.h"

enum {
	CHANNEL_FD = 3, /* in the sandbox, behind the standard ones */
	ANSWER_S = 120, /* an answer that takes longer does not come */
	END_MS = 2000,  /* until one that was killed is reaped */
};

enum hello { HELLO_LISTENER = 1, HELLO_MEMORY, HELLO_FAILED };

/* --- inside --- */

/* Signals that are meant for gotrace reach the whole group. */
static void ignore_signals(void)
{
	static const int meant[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2, SIGXFSZ};

	for (size_t i = 0; i < sizeof(meant) / sizeof(meant[0]); i++)
		signal(meant[i], SIG_IGN);
}

static void set_limits(void)
{
	const struct rlimit none = {0, 0};
	/* A process that has stepped back may come forward again as far as this (20 - nice), without
	 * privilege. */
	const struct rlimit pace = {20, 20};
	struct rlimit files;

	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_NICE, &pace);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

/* Nothing that was open stays so but messages' way out and the channel. */
static int close_others(int fd)
{
	int null = open("/dev/null", O_RDONLY);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(fd, CHANNEL_FD) < 0)
		return -errno;
	if (close_range(CHANNEL_FD + 1, ~0u, 0) == 0)
		return 0;
	/* Before Linux 5.9. */
	for (int i = CHANNEL_FD + 1; i < (int)sysconf(_SC_OPEN_MAX); i++)
		close(i);
	return 0;
}

/* Its own memory, for the broker to read what is asked and to write answers: asked for before ids change. */
static int own_memory(void)
{
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	return open("/proc/self/mem", O_RDWR | O_CLOEXEC);
}

static int confine(struct channel *channel, int *listener, struct error *err)
{
	const struct message memory = {.kind = HELLO_MEMORY};
	int fd = own_memory(), rc;

	if (fd < 0)
		return error_set(err, errno, "cannot set up the sandbox: /proc/self/mem: %s",
				 strerror(errno));
	rc = channel_put_fd(channel, &memory, NULL, fd);
	close(fd);
	if (rc)
		return rc;
	set_limits();
	rc = privilege_drop_all(err);
	/* Nobody's other processes must not get at this one; and a parent that dies takes it along. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	return rc ? rc : filter_install(listener, err);
}

static int hello(struct channel *channel)
{
	struct error err = {""};
	struct message message = {.kind = HELLO_LISTENER};
	int listener, rc = confine(channel, &listener, &err);

	if (rc == 0) {
		rc = channel_put_fd(channel, &message, NULL, listener);
		close(listener);
		return rc;
	}
	message = (struct message){.kind = HELLO_FAILED, .code = rc, .size = sizeof(err)};
	channel_put(channel, &message, &err);
	channel_flush(channel);
	return rc;
}

static void run(int fd, sandbox_work work, void *ctx)
{
	struct channel channel;

	ignore_signals();
	if (close_others(fd) || channel_open(&channel, CHANNEL_FD))
		_exit(1);
	if (hello(&channel))
		_exit(1);
	work(&channel, ctx);
	_exit(0);
}

/* --- outside --- */

static int take_hello(struct sandbox *sandbox, struct error *err)
{
	for (;;) {
		int fds[CHANNEL_FDS];
		struct message message;
		int rc = channel_take(&sandbox->channel, &message, fds);

		for (unsigned i = 1; i < CHANNEL_FDS; i++) {
			if (rc == 0 && fds[i] >= 0)
				close(fds[i]);
		}
		if (rc)
			return error_set(err, -rc, "cannot set up the sandbox: %s", strerror(-rc));
		if (message.kind == HELLO_FAILED) {
			struct error told = {""};

			if (message.size == sizeof(told))
				channel_read(&sandbox->channel, &told, sizeof(told));
			told.text[sizeof(told.text) - 1] = '\0';
			return error_set(err, message.code < 0 ? -message.code : EPERM, "%s", told.text);
		}
		if (message.kind == HELLO_MEMORY) {
			sandbox->memory = fds[0];
			continue;
		}
		sandbox->listener = fds[0];
		return sandbox->memory >= 0 && sandbox->listener >= 0
			       ? 0
			       : error_set(err, EIO, "cannot set up the sandbox: no descriptors came");
	}
}

static void set_timeouts(int fd, long seconds)
{
	const struct timeval limit = {.tv_sec = seconds};

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

int sandbox_start(struct sandbox *sandbox, const char *what, sandbox_work work, void *ctx, struct error *err)
{
	int ends[2], rc;

	*sandbox = (struct sandbox){.what = what, .listener = -1, .memory = -1, .channel = {.fd = -1}};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return error_set(err, errno, "cannot set up the sandbox: %s", strerror(errno));
	fflush(NULL);
	sandbox->pid = fork();
	if (sandbox->pid == 0)
		run(ends[1], work, ctx);
	rc = sandbox->pid < 0 ? -errno : 0;
	close(ends[1]);
	if (rc || channel_open(&sandbox->channel, ends[0])) {
		sandbox->pid = rc ? 0 : sandbox->pid;
		return error_set(err, rc ? -rc : ENOMEM, "cannot set up the sandbox: %s",
				 strerror(rc ? -rc : ENOMEM));
	}
	set_timeouts(ends[0], ANSWER_S);
	return take_hello(sandbox, err);
}

void sandbox_be_patient(struct sandbox *sandbox)
{
	set_timeouts(sandbox->channel.fd, 0);
}

int sandbox_attend(struct sandbox *sandbox, struct broker *broker, struct error *err)
{
	int rc = broker_add(broker, sandbox->listener, sandbox->memory);

	if (rc)
		return error_set(err, -rc, "cannot set up the sandbox: %s", strerror(-rc));
	sandbox->listener = sandbox->memory = -1;
	return 0;
}

static bool reap(struct sandbox *sandbox, int *status)
{
	for (int waited = 0; waited < END_MS; waited += 10) {
		if (waitpid(sandbox->pid, status, WNOHANG) == sandbox->pid) {
			sandbox->pid = 0;
			return true;
		}
		poll(NULL, 0, 10);
	}
	return false;
}

static void explain(struct sandbox *sandbox, int rc)
{
	int status;

	if (rc == -ETIMEDOUT)
		error_set(&sandbox->why, ETIMEDOUT, "%s has not answered for %d s", sandbox->what, ANSWER_S);
	else if (rc == -EBADMSG)
		error_set(&sandbox->why, EBADMSG, "%s gave an answer that makes no sense", sandbox->what);
	else if (!reap(sandbox, &status))
		error_set(&sandbox->why, EPIPE, "%s does not answer", sandbox->what);
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		error_set(&sandbox->why, EPIPE,
			  "%s was ended by the kernel: it made a system call that it may not make "
			  "(a malicious or damaged file?)",
			  sandbox->what);
	else if (WIFSIGNALED(status))
		error_set(&sandbox->why, EPIPE, "%s was ended by signal %d (%s)", sandbox->what,
			  WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		error_set(&sandbox->why, EPIPE, "%s has ended unasked (status %d)", sandbox->what,
			  WEXITSTATUS(status));
}

int sandbox_fail(struct sandbox *sandbox, int rc, struct error *err)
{
	if (!sandbox->broken)
		explain(sandbox, rc);
	sandbox->broken = true;
	return error_set(err, EPIPE, "%s", sandbox->why.text);
}

bool sandbox_has_gone(struct sandbox *sandbox)
{
	struct pollfd fd = {.fd = sandbox->channel.fd, .events = 0};

	if (!sandbox->broken && poll(&fd, 1, 0) > 0 && fd.revents & (POLLHUP | POLLERR))
		sandbox_fail(sandbox, -EPIPE, NULL);
	return sandbox->broken;
}

void sandbox_end(struct sandbox *sandbox)
{
	int status;

	channel_close(&sandbox->channel);
	if (sandbox->listener >= 0)
		close(sandbox->listener);
	if (sandbox->memory >= 0)
		close(sandbox->memory);
	if (sandbox->pid > 0 && !sandbox->broken)
		reap(sandbox, &status);
	sandbox->pid = 0;
}

int sandbox_confine(struct error *err)
{
	bool root = geteuid() == 0;
	int rc = root ? privilege_drop_all(err) : 0;

	return rc || !root ? rc : filter_install(NULL, err);
}
