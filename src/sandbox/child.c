/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sandbox/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILLED_MS = 300, POLL_MS = 5, MAX_FDS = 4 };

/* Signals for gotrace reach the whole process group. */
static void child_ignore_signals(void)
{
	static const int meant[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2, SIGXFSZ};

	for (size_t i = 0; i < sizeof(meant) / sizeof(meant[0]); i++)
		signal(meant[i], SIG_IGN);
}

/*
 * First duplicates the descriptors above all target numbers, because one may have a number that is the target
 * of another.
 */
static int child_keep_fds(const int *fds, unsigned n)
{
	int high[MAX_FDS];

	for (unsigned i = 0; i < n; i++) {
		high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, CHILD_FD + MAX_FDS);
		if (high[i] < 0)
			return -errno;
	}
	for (unsigned i = 0; i < n; i++) {
		if (dup2(high[i], CHILD_FD + (int)i) < 0)
			return -errno;
	}
	return 0;
}

static void close_from(int first)
{
	if (close_range((unsigned)first, ~0u, 0) == 0)
		return;
	/* Before Linux 5.9. */
	for (int i = first; i < (int)sysconf(_SC_OPEN_MAX); i++)
		close(i);
}

int child_begin(const char *name, const int *fds, unsigned n, bool talks, pid_t parent)
{
	int rc = child_keep_fds(fds, n), null = open("/dev/null", O_RDWR);

	child_ignore_signals();
	prctl(PR_SET_NAME, name, 0, 0, 0);
	if (rc || null < 0)
		return rc ? rc : -errno;
	if (dup2(null, STDIN_FILENO) < 0 ||
	    (!talks && (dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)))
		return -errno;
	close_from(CHILD_FD + (int)n);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return child_end_with(parent) ? 0 : -ESRCH;
}

bool child_end_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	return getppid() == parent;
}

bool child_wait(pid_t pid, int ms, int *status)
{
	for (int waited = 0;; waited += POLL_MS) {
		if (waitpid(pid, status, WNOHANG) == pid)
			return true;
		if (waited >= ms)
			return false;
		poll(NULL, 0, POLL_MS);
	}
}

bool child_end(pid_t pid, int ms)
{
	int status;

	if (child_wait(pid, ms, &status))
		return true;
	kill(pid, SIGKILL);
	return child_wait(pid, KILLED_MS, &status);
}

/* Leaves the status in place (WNOWAIT), where it stays as long as the child is stopped. */
bool child_is_stopped(pid_t pid)
{
	siginfo_t info = {.si_pid = 0};

	return pid > 0 && waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid &&
	       info.si_code == CLD_STOPPED;
}
