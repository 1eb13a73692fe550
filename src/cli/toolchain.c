/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/toolchain.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/signals.h"
#include "layout_program.h"
#include "util/clock.h"
#include "util/directory.h"
#include "util/message.h"
#include "util/text.h"

/* Time limit. The build compiles the runtime and a few packages: 12 s of CPU time. */
#define BUILD_NS (600 * NS_PER_S)
#define POLL_MS  20

struct build {
	char go[PATH_MAX];
	char dir[PATH_MAX]; /* "" = not made yet */
	int fd;             /* of the directory; -1 = none */
	int log;            /* output of the build; -1 = none */
};

/* --- the directory --- */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path) ? -1 : 0;
}

/* Only this user can write below it. */
static void remove_directory(const char *dir)
{
	enum { OPEN_DIRECTORIES = 16 };

	if (*dir && nftw(dir, remove_one, OPEN_DIRECTORIES, FTW_DEPTH | FTW_PHYS))
		message("cannot remove %s: %s", text_path(dir).bytes, strerror(errno));
}

static int write_file(int dir, const char *name, const char *text)
{
	size_t size = strlen(text);
	int fd = directory_create_file(dir, name, O_WRONLY), rc = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	n = write(fd, text, size);
	if (n != (ssize_t)size)
		rc = n < 0 ? -errno : -ENOSPC;
	return close(fd) && rc == 0 ? -errno : rc;
}

static int make_directory(struct build *build, struct error *err)
{
	const char *temporary = getenv("TMPDIR");
	char dir[PATH_MAX];
	int rc = 0;

	if (!temporary || *temporary != '/')
		temporary = "/tmp";
	build->fd = directory_make_temporary(temporary, dir, err);
	if (build->fd < 0)
		return build->fd;
	memcpy(build->dir, dir, sizeof(dir));
	for (size_t i = 0; rc == 0 && i < sizeof(layout_program) / sizeof(layout_program[0]); i++)
		rc = write_file(build->fd, layout_program[i].name, layout_program[i].text);
	if (rc == 0)
		build->log = directory_create_file(build->fd, "log", O_RDWR);
	if (rc == 0 && build->log < 0)
		rc = build->log;
	return rc ? error_set(err, -rc, "cannot write below %s: %s", text_path(build->dir).bytes,
			      strerror(-rc))
		  : 0;
}

/* --- the build --- */

/* No other toolchain, no network, and no settings of the user except an explicit GOCACHE. */
static void set_environment(const char *dir)
{
	static const char *const fixed[][2] = {
		{"GOTOOLCHAIN", "local"}, {"GOPROXY", "off"},    {"GOENV", "off"},
		{"GOFLAGS", ""},          {"GOWORK", "off"},     {"GOOS", "linux"},
		{"CGO_ENABLED", "0"},     {"GO111MODULE", "on"}, {"GODEBUG", ""},
	};
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		setenv(fixed[i][0], fixed[i][1], 1);
	unsetenv("GOROOT");
	unsetenv("GOARCH");
	unsetenv("GOEXPERIMENT");
	if (snprintf(path, sizeof(path), "%s/path", dir) < (int)sizeof(path))
		setenv("GOPATH", path, 1);
	if (snprintf(path, sizeof(path), "%s/cache", dir) < (int)sizeof(path))
		setenv("GOCACHE", path, 0);
	setenv("HOME", dir, 1);
}

static void run_go(const struct build *build)
{
	char go[] = "go", verb[] = "build", option[] = "-o", output[] = "program", package[] = ".";
	char *argv[] = {go, verb, option, output, package, NULL};
	int none = open("/dev/null", O_RDONLY);

	signals_reset();
	setpgid(0, 0);
	if (none < 0 || dup2(none, STDIN_FILENO) < 0 || dup2(build->log, STDOUT_FILENO) < 0 ||
	    dup2(build->log, STDERR_FILENO) < 0 || fchdir(build->fd))
		_exit(126);
	set_environment(build->dir);
	execv(build->go, argv);
	dprintf(STDERR_FILENO, "%s\n", strerror(errno));
	_exit(127);
}

/* Kills the build and its compilers, which are in its process group. */
static int end_build(pid_t pid, int code)
{
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return -code;
}

/* Returns the status of waitpid, or -EINTR or -ETIMEDOUT. */
static int wait_for_build(pid_t pid)
{
	uint64_t until = now_ns() + BUILD_NS;
	int status = 0;
	pid_t ended;

	while ((ended = waitpid(pid, &status, WNOHANG)) != pid) {
		if (ended < 0 && errno != EINTR)
			return -errno;
		if (signals_seen())
			return end_build(pid, EINTR);
		if (now_ns() >= until)
			return end_build(pid, ETIMEDOUT);
		poll(NULL, 0, POLL_MS);
	}
	return status;
}

/* Reads the beginning of the build's output as one line. */
static void toolchain_read_log(int log, char *line, size_t size)
{
	ssize_t n = pread(log, line, size - 1, 0);

	line[n > 0 ? n : 0] = '\0';
	for (char *at = line; *at; at++) {
		if (*at == '\n' || *at == '\t')
			*at = ' ';
	}
	text_make_printable(line);
}

static int build_program(const struct build *build, struct error *err)
{
	char line[256];
	pid_t pid;
	int rc;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return error_set(err, errno, "cannot start a process: %s", strerror(errno));
	if (pid == 0)
		run_go(build);
	rc = wait_for_build(pid);
	if (rc == -EINTR)
		return error_set(err, EINTR, "interrupted: no table was made");
	if (rc == -ETIMEDOUT)
		return error_set(err, ETIMEDOUT, "%s did not build a program within 10 minutes",
				 text_path(build->go).bytes);
	if (rc == 0)
		return 0;
	toolchain_read_log(build->log, line, sizeof(line));
	return error_set(err, EIO, "%s cannot build a program: %s", text_path(build->go).bytes,
			 line[0] ? line : "it printed no error");
}

static int find_go(struct build *build, const char *root, struct error *err)
{
	char absolute[PATH_MAX];
	struct stat st;

	if (!realpath(root, absolute))
		return error_set(err, errno, "cannot open %s: %s", text_path(root).bytes, strerror(errno));
	if (snprintf(build->go, sizeof(build->go), "%s/bin/go", absolute) >= (int)sizeof(build->go))
		return error_set(err, ENAMETOOLONG, "%s: the name is too long", text_path(root).bytes);
	if (stat(build->go, &st) || !S_ISREG(st.st_mode) || access(build->go, X_OK))
		return error_set(err, ENOENT,
				 "%s has no bin/go: give the root of a toolchain (go env GOROOT), or a "
				 "program that is not stripped",
				 text_path(root).bytes);
	return 0;
}

int toolchain_build(const char *root, struct error *err)
{
	struct build build = {.log = -1, .fd = -1};
	int rc = find_go(&build, root, err);

	if (rc)
		return rc;
	signals_install();
	rc = make_directory(&build, err);
	if (rc == 0)
		rc = build_program(&build, err);
	if (rc == 0) {
		rc = openat(build.fd, "program", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		if (rc < 0)
			rc = error_set(err, errno, "cannot open the program that %s has built: %s",
				       text_path(build.go).bytes, strerror(errno));
	}
	if (build.log >= 0)
		close(build.log);
	if (build.fd >= 0)
		close(build.fd);
	remove_directory(build.dir);
	return rc;
}
