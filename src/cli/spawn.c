/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <nss.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/signals.h"
#include "util/files.h"
#include "util/limits.h"
#include "util/owner.h"
#include "util/rights.h"

/* The search path of a shell without PATH. */
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

static bool is_executable_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static int search_path(const char *name, char path[PATH_MAX], struct error *err)
{
	const char *list = getenv("PATH");

	if (!list || !*list)
		list = DEFAULT_PATH;
	while (*list) {
		size_t len = strcspn(list, ":");
		/* An empty entry is the current directory. */
		int n = snprintf(path, PATH_MAX, "%.*s%s%s", (int)len, list, len ? "/" : "./", name);

		if (n > 0 && n < PATH_MAX && is_executable_file(path))
			return 0;
		list += len;
		if (*list == ':')
			list++;
	}
	return error_set(err, ENOENT, "%s: no such program in PATH; give a path (./%s)", name, name);
}

static int refuse_script(const char *path, struct error *err)
{
	char magic[2];
	int fd = file_open(path);
	ssize_t n;

	if (fd < 0)
		return error_set(err, -fd, "cannot read %s: %s", path, strerror(-fd));
	n = read(fd, magic, sizeof(magic));
	close(fd);
	if (n == 2 && magic[0] == '#' && magic[1] == '!')
		return error_set(err, ENOEXEC,
				 "%s is a script: name the program that it starts, or start the script "
				 "and trace that program with -p PID",
				 path);
	return 0;
}

static int cli_spawn_find(const char *name, char path[PATH_MAX], struct error *err)
{
	int rc = 0;

	if (!*name)
		return error_set(err, ENOENT, "the name of the program is empty");
	if (!strchr(name, '/'))
		rc = search_path(name, path, err);
	else if (snprintf(path, PATH_MAX, "%s", name) >= PATH_MAX)
		rc = error_set(err, ENAMETOOLONG, "%s: the name is too long", name);
	else if (access(path, F_OK))
		rc = error_set(err, errno, "cannot start %s: %s", path, strerror(errno));
	else if (!is_executable_file(path))
		rc = error_set(err, EACCES, "cannot start %s: it is not an executable file", path);
	return rc ? rc : refuse_script(path, err);
}

/* Programs that the user may not access are not found. */
int spawn_find(const char *name, char path[PATH_MAX], struct error *err)
{
	struct rights before = rights_as_user();
	int rc = cli_spawn_find(name, path, err);

	rights_restore(&before);
	return rc;
}

/*
 * A statically linked gotrace must not load name service modules, which belong to the system's C library
 * (nsswitch.conf(5)), so it reads only the files. Without an interpreter there is no AT_BASE (getauxval(3)).
 */
static void look_users_up_in_files_if_static(void)
{
	if (getauxval(AT_BASE))
		return;
	__nss_configure_lookup("passwd", "files");
	__nss_configure_lookup("group", "files");
	__nss_configure_lookup("initgroups", "files");
}

void child_identity_find(struct child_identity *who)
{
	const struct passwd *entry;

	memset(who, 0, sizeof(*who));
	who->change = owner_behind_sudo(&who->owner);
	if (!who->change)
		return;
	look_users_up_in_files_if_static();
	entry = getpwuid(who->owner.uid);
	if (entry)
		snprintf(who->name, sizeof(who->name), "%s", entry->pw_name);
	if (entry)
		snprintf(who->home, sizeof(who->home), "%s", entry->pw_dir);
}

int child_identity_take(const struct child_identity *who)
{
	gid_t gid = who->owner.gid;

	if (!who->change)
		return 0;
	if (who->name[0] ? initgroups(who->name, gid) : setgroups(1, &gid))
		return -errno;
	if (setgid(gid) || setuid(who->owner.uid))
		return -errno;
	return 0;
}

static void run_child(const char *path, char **argv, const struct child_identity *who, int release,
		      int report)
{
	char go;
	int code;
	ssize_t n;

	signals_reset();
	do
		n = read(release, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127); /* gotrace gave up */
	limits_restore_files();
	rights_give_up();
	code = -child_identity_take(who);
	if (code == 0) {
		execv(path, argv);
		code = errno;
	}
	if (write(report, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

int spawn_fork(const char *path, char **argv, struct child *child, struct error *err)
{
	int release[2], report[2];
	struct child_identity who;

	child_identity_find(&who);
	if (pipe2(release, O_CLOEXEC))
		return error_set(err, errno, "cannot create a pipe: %s", strerror(errno));
	if (pipe2(report, O_CLOEXEC)) {
		close(release[0]);
		close(release[1]);
		return error_set(err, errno, "cannot create a pipe: %s", strerror(errno));
	}
	fflush(NULL);
	child->pid = fork();
	if (child->pid == 0) {
		close(release[1]);
		close(report[0]);
		run_child(path, argv, &who, release[0], report[1]);
	}
	close(release[0]);
	close(report[1]);
	child->release_fd = release[1];
	child->report_fd = report[0];
	if (child->pid < 0) {
		int code = errno;

		child->pid = 0;
		close(child->release_fd);
		close(child->report_fd);
		return error_set(err, code, "cannot start a process: %s", strerror(code));
	}
	return 0;
}

static void close_once(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int spawn_release(struct child *child, struct error *err)
{
	int code = 0;
	ssize_t n;

	do
		n = write(child->release_fd, "g", 1);
	while (n < 0 && errno == EINTR);
	close_once(&child->release_fd);
	do
		n = read(child->report_fd, &code, sizeof(code));
	while (n < 0 && errno == EINTR);
	close_once(&child->report_fd);
	if (n == (ssize_t)sizeof(code))
		return error_set(err, code, "cannot start the program: %s", strerror(code));
	return 0;
}

bool spawn_has_ended(const struct child *child)
{
	siginfo_t info = {.si_pid = 0};

	if (child->pid == 0)
		return false;
	return child->reaped ||
	       (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0);
}

static bool reap(struct child *child)
{
	if (!child->reaped && waitpid(child->pid, &child->status, WNOHANG) == child->pid)
		child->reaped = true;
	return child->reaped;
}

bool spawn_wait(struct child *child, int timeout_ms)
{
	enum { STEP_MS = 20 };
	int signals = signals_seen();

	for (int waited = 0; !reap(child); waited += STEP_MS) {
		if (timeout_ms >= 0 ? waited >= timeout_ms : signals_seen() != signals)
			return false;
		poll(NULL, 0, STEP_MS);
	}
	return true;
}

void spawn_close(struct child *child)
{
	bool waits;

	if (child->pid == 0)
		return;
	waits = child->release_fd >= 0;
	close_once(&child->release_fd);
	close_once(&child->report_fd);
	if (waits)
		spawn_wait(child, 1000);
}

const char *last_line(int fd, char *buffer, size_t size)
{
	off_t end = lseek(fd, 0, SEEK_END), most = (off_t)size - 1;
	ssize_t n = pread(fd, buffer, size - 1, end > most ? end - most : 0);
	const char *newline;

	while (n > 0 && buffer[n - 1] == '\n')
		n--;
	buffer[n > 0 ? n : 0] = '\0';
	newline = strrchr(buffer, '\n');
	return newline ? newline + 1 : buffer;
}
