/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/go_viewer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/browser.h"
#include "cli/cli.h"
#include "cli/spawn.h"
#include "sandbox/privilege.h"
#include "target/buildinfo.h"
#include "util/message.h"
#include "util/text.h"

enum { POLL_MS = 50, END_MS = 3000, TRACE_FD = 3, PLACE_BYTES = 256 };

/* The state of the process. */
struct supervisor {
	const struct go_tool *go;
	const struct child_identity *who;
	int start, trace, browser;
	struct attendant signals;
	int log; /* what go prints */
	unsigned port;
	pid_t go_pid;
};

/* --- finding go --- */

/* The file VERSION of its root begins with "go1.26.8". */
static unsigned read_minor(const char *path)
{
	char real[PATH_MAX], name[PATH_MAX], text[64];
	struct go_version version;
	ssize_t n;
	char *slash;
	int fd;

	if (!realpath(path, real))
		return 0;
	for (int i = 0; i < 2; i++) {
		slash = strrchr(real, '/');
		if (!slash)
			return 0;
		*slash = '\0';
	}
	if (snprintf(name, sizeof(name), "%s/VERSION", real) >= (int)sizeof(name))
		return 0;
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	if (fd >= 0)
		close(fd);
	return n > 0 && go_version_parse(text, (size_t)n, &version) ? version.minor : 0;
}

int go_tool_find(struct go_tool *go, struct error *err)
{
	static const char usual[] = "/usr/local/go/bin/go";

	if (spawn_find("go", go->path, err)) {
		if (access(usual, X_OK))
			return error_set(err, ENOENT,
					 "found no go, whose `go tool trace` shows a trace: "
					 "put it into PATH, or use --in=perfetto");
		snprintf(go->path, sizeof(go->path), "%s", usual);
	}
	go->minor = read_minor(go->path);
	return 0;
}

/* --- the process that runs it --- */

static struct sockaddr_in loopback(unsigned port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons((uint16_t)port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* Go's server could choose a port itself, but says which only in words that differ by release. */
static unsigned choose_port(void)
{
	struct sockaddr_in address = loopback(0);
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	unsigned port = 0;

	if (fd < 0)
		return 0;
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    getsockname(fd, (struct sockaddr *)&address, &size) == 0)
		port = ntohs(address.sin_port);
	close(fd);
	return port;
}

/* No other toolchain and no module's settings. BROWSER: gotrace opens the browser itself, at the place. */
static void go_set_environment(const struct child_identity *who)
{
	static const char *const fixed[][2] = {
		{"GOTOOLCHAIN", "local"}, {"GOFLAGS", ""}, {"GOWORK", "off"}, {"BROWSER", "/bin/true"}};

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		setenv(fixed[i][0], fixed[i][1], 1);
	if (who->change && who->home[0])
		setenv("HOME", who->home, 1);
}

/* As the descriptor TRACE_FD, without FD_CLOEXEC. */
static int pass_trace(int trace)
{
	return trace == TRACE_FD ? fcntl(trace, F_SETFD, 0) : dup2(trace, TRACE_FD);
}

static void go_exec(const struct supervisor *by)
{
	char go[] = "go", tool[] = "tool", trace[] = "trace", http[40], file[32];
	char *argv[] = {go, tool, trace, http, file, NULL};
	int none = open("/dev/null", O_RDONLY | O_CLOEXEC);

	sigprocmask(SIG_SETMASK, &by->signals.before, NULL);
	signal(SIGPIPE, SIG_DFL);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	snprintf(http, sizeof(http), "-http=127.0.0.1:%u", by->port);
	snprintf(file, sizeof(file), "/dev/fd/%d", TRACE_FD);
	if (none < 0 || dup2(none, STDIN_FILENO) < 0 || dup2(by->log, STDOUT_FILENO) < 0 ||
	    dup2(by->log, STDERR_FILENO) < 0 || pass_trace(by->trace) < 0 || chdir("/"))
		_exit(126);
	go_set_environment(by->who);
	execv(by->go->path, argv);
	dprintf(STDERR_FILENO, "%s", strerror(errno));
	_exit(127);
}

static bool is_up(unsigned port)
{
	const struct sockaddr_in address = loopback(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool up = fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;

	if (fd >= 0)
		close(fd);
	return up;
}

static bool go_has_ended(const struct supervisor *by)
{
	int status;

	return waitpid(by->go_pid, &status, WNOHANG) == by->go_pid;
}

static void go_report_failure(const struct supervisor *by)
{
	char text[400];

	message("%s tool trace has ended: %s", text_path(by->go->path).bytes,
		last_line(by->log, text, sizeof(text)));
}

static void go_viewer_show(const struct supervisor *by, const char *place)
{
	char address[PLACE_BYTES + 40];

	snprintf(address, sizeof(address), "http://127.0.0.1:%u%s", by->port, place);
	printf("%s\nGo's viewer shows it until Ctrl-C.\n", address);
	fflush(stdout);
	browser_open(by->browser, address);
}

/* Waits for a moment. Returns whether a signal has come that is meant to end gotrace. */
static bool go_must_end(const struct supervisor *by)
{
	struct pollfd ready = {.fd = by->signals.signals, .events = POLLIN};
	struct signalfd_siginfo info;
	bool end = false;

	poll(&ready, 1, POLL_MS);
	while (read(by->signals.signals, &info, sizeof(info)) == sizeof(info))
		end |= info.ssi_signo != SIGCHLD;
	return end;
}

/* Returns an exit status. */
static int supervise(struct supervisor *by, const char *place)
{
	bool shown = false;

	while (!go_must_end(by)) {
		if (go_has_ended(by)) {
			go_report_failure(by);
			return STATUS_NONE;
		}
		if (!shown && is_up(by->port)) {
			shown = true;
			go_viewer_show(by, place);
		}
	}
	/* go passes the signal on to its tool, which is in its process group, too. */
	kill(-by->go_pid, SIGTERM);
	for (unsigned waited = 0; waited < END_MS && !go_has_ended(by); waited += POLL_MS)
		poll(NULL, 0, POLL_MS);
	kill(-by->go_pid, SIGKILL);
	return STATUS_WHOLE;
}

/* Returns an exit status. */
static int run_supervisor(struct supervisor *by)
{
	char place[PLACE_BYTES];
	struct error err = {""};
	ssize_t n;

	if (child_identity_take(by->who))
		error_set(&err, errno, "cannot run go as the user behind sudo: %s", strerror(errno));
	else if (!privilege_keep(0, &err))
		attendant_begin(&by->signals, &err);
	if (err.text[0]) {
		message_error(&err);
		return STATUS_NONE;
	}
	n = read(by->start, place, sizeof(place) - 1);
	if (n <= 0)
		return STATUS_WHOLE; /* there is nothing to show */
	place[n] = '\0';
	by->port = choose_port();
	by->log = memfd_create("go", MFD_CLOEXEC);
	by->go_pid = by->log < 0 ? -1 : fork();
	if (by->go_pid == 0)
		go_exec(by);
	if (by->go_pid > 0)
		return supervise(by, place);
	message("cannot start %s: %s", text_path(by->go->path).bytes, strerror(errno));
	return STATUS_NONE;
}

/* --- the process that has started it --- */

int go_viewer_start(struct go_viewer *viewer, const struct attendant *attendant, const struct go_tool *go,
		    int trace, int browser, struct error *err)
{
	struct child_identity who;
	int ends[2];

	child_identity_find(&who);
	if (pipe2(ends, O_CLOEXEC))
		return error_set(err, errno, "cannot create a pipe: %s", strerror(errno));
	if (attended_fork(&viewer->process, attendant, err) == 0) {
		struct supervisor by = {
			.go = go, .who = &who, .start = ends[0], .trace = trace, .browser = browser};
		int status;

		close(ends[1]);
		status = run_supervisor(&by);
		fflush(NULL);
		_exit(status);
	}
	close(ends[0]);
	viewer->start = ends[1];
	return viewer->process.pid ? 0 : -EPERM;
}

int go_viewer_run(struct go_viewer *viewer, const struct attendant *attendant, const char *place)
{
	size_t n = strlen(place);
	int status;

	if (n >= PLACE_BYTES || write(viewer->start, place, n) != (ssize_t)n)
		return STATUS_NONE;
	status = attended_wait(&viewer->process, attendant, -1, NULL, NULL);
	viewer->process.pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_NONE;
}

void go_viewer_end(struct go_viewer *viewer)
{
	if (viewer->start >= 0)
		close(viewer->start);
	if (!viewer->process.pid)
		return;
	lifeline_cut(&viewer->process.line);
	waitpid(viewer->process.pid, NULL, 0);
}
