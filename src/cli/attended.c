/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/attended.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

int attendant_begin(struct attendant *attendant, struct error *err)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &attendant->before);
	attendant->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (attendant->signals >= 0)
		return 0;
	sigprocmask(SIG_SETMASK, &attendant->before, NULL);
	return error_set(err, errno, "cannot start a process: %s", strerror(errno));
}

void attendant_discard(const struct attendant *attendant)
{
	struct signalfd_siginfo info;

	while (read(attendant->signals, &info, sizeof(info)) == sizeof(info))
		continue;
}

void attendant_end(struct attendant *attendant)
{
	if (attendant->signals < 0)
		return;
	attendant_discard(attendant);
	close(attendant->signals);
	attendant->signals = -1;
	sigprocmask(SIG_SETMASK, &attendant->before, NULL);
}

pid_t attended_fork(struct attended *child, const struct attendant *attendant, struct error *err)
{
	int rc = lifeline_open(&child->line);
	pid_t pid;

	if (rc) {
		error_set(err, -rc, "cannot start a process: %s", strerror(-rc));
		return -1;
	}
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, &attendant->before, NULL);
		close(attendant->signals);
		if (lifeline_obey(&child->line, SIGTERM))
			_exit(STATUS_NONE);
		return 0;
	}
	lifeline_hold(&child->line);
	if (pid < 0)
		error_set(err, errno, "cannot start a process: %s", strerror(errno));
	child->pid = pid < 0 ? 0 : pid;
	return pid;
}

/* The kernel itself sends the terminal's signals. */
static void take_signals(struct attended *child, int signals)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD && info.ssi_code != SI_KERNEL)
			lifeline_cut(&child->line);
	}
}

int attended_wait(struct attended *child, const struct attendant *attendant, int fd, bool (*serve)(void *ctx),
		  void *ctx)
{
	struct pollfd from[] = {{.fd = attendant->signals, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
	int status;
	pid_t ended;

	while ((ended = waitpid(child->pid, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
		if (poll(from, 2, -1) <= 0)
			continue;
		if (from[0].revents)
			take_signals(child, attendant->signals);
		if (from[1].revents && !serve(ctx))
			from[1].fd = -1;
	}
	lifeline_cut(&child->line);
	return ended == child->pid ? status : W_EXITCODE(STATUS_NONE, 0);
}
