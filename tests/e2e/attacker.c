/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Attacks gotrace as another user of the machine can, until it is killed:
 *   attacker maze DIR N         links DIR/1 to DIR/N, each a long way to the next, the last one to DIR: walking them
 *                               takes milliseconds. It ends by itself.
 *   attacker swap DIR VICTIM    whenever DIR is created, replaces it with a link to VICTIM
 *   attacker toggle DIR VICTIM  makes DIR a directory and a link to VICTIM in turn
 *   attacker send PID N         makes N connections to that recorder, which send for ever
 *   attacker wait PID N         keeps N connections that send nothing, and reopens those that are closed
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void pause_ns(long ns)
{
	nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

static int maze(const char *dir, int n)
{
	char path[PATH_MAX], way[PATH_MAX];

	if (mkdir(dir, 0755) || chdir(dir) || mkdir("x", 0755) || mkdir("end", 0755))
		return 1;
	for (int i = 1; i <= n; i++) {
		size_t at = 0;

		while (at < 3900)
			at += (size_t)sprintf(way + at, "x/../");
		if (i < n)
			sprintf(way + at, "%d", i + 1);
		else
			sprintf(way + at, "end");
		sprintf(path, "%d", i);
		if (symlink(way, path))
			return 1;
	}
	return 0;
}

static void swap(const char *dir, const char *victim)
{
	char aside[PATH_MAX];

	snprintf(aside, sizeof(aside), "%s.aside", dir);
	for (;;) {
		if (rename(dir, aside))
			continue;
		if (symlink(victim, dir) == 0)
			pause_ns(3000000);
		unlink(dir);
		rmdir(aside);
	}
}

static int toggle(const char *dir, const char *victim)
{
	char aside[PATH_MAX], link[PATH_MAX];

	snprintf(aside, sizeof(aside), "%s.aside", dir);
	snprintf(link, sizeof(link), "%s.link", dir);
	if (mkdir(dir, 0777) || symlink(victim, link))
		return 1;
	for (unsigned n = 0;; n++) {
		if (rename(dir, aside) || rename(link, dir))
			return 1;
		pause_ns(n % 7 * 50000);
		if (rename(dir, link) || rename(aside, dir))
			return 1;
		pause_ns(n % 5 * 50000);
	}
}

static int reach(const char *pid)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int n = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "gotrace-flight-%s", pid);

	if (fd >= 0 &&
	    connect(fd, (struct sockaddr *)&name, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Forks a process that dies with this one. Returns 0 in it. */
static pid_t helper(void)
{
	pid_t pid = fork();

	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static void send_on(int fd, _Atomic long *sent)
{
	static char bytes[65536];
	ssize_t n;

	while ((n = send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL)) > 0)
		*sent += n;
}

/*
 * Several processes keep a connection full, so that there is always something to read, however busy the
 * machine is. Reports if more has been read than the kernel can buffer.
 */
static void send_for_ever(const char *pid)
{
	_Atomic long *sent =
		mmap(NULL, sizeof(*sent), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (;;) {
		int fd = reach(pid);

		*sent = 0;
		for (int i = 0; fd >= 0 && i < 4; i++) {
			if (helper() == 0) {
				send_on(fd, sent);
				_exit(0);
			}
		}
		close(fd);
		while (wait(NULL) > 0)
			;
		if (*sent > 1 << 20)
			fprintf(stderr, "%ld bytes of a connection were read\n", *sent);
		pause_ns(20000000);
	}
}

static int send_many(const char *pid, int n)
{
	for (int i = 0; i < n; i++) {
		if (helper() == 0)
			send_for_ever(pid);
	}
	while (wait(NULL) > 0)
		;
	return 1;
}

static int wait_for_ever(const char *pid, int n)
{
	int *fds = calloc((size_t)n, sizeof(*fds));
	char byte;

	for (int i = 0; fds && i < n; i++)
		fds[i] = -1;
	for (int i = 0; fds; i = (i + 1) % n) {
		if (fds[i] < 0) {
			fds[i] = reach(pid);
		} else if (recv(fds[i], &byte, 1, MSG_DONTWAIT) >= 0 || errno != EAGAIN) {
			close(fds[i]);
			fds[i] = -1;
		}
		if (i == n - 1)
			pause_ns(1000000); /* the attack is not on the CPUs */
	}
	return 1;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	if (strcmp(argv[1], "maze") == 0)
		return maze(argv[2], atoi(argv[3]));
	if (strcmp(argv[1], "swap") == 0)
		swap(argv[2], argv[3]);
	if (strcmp(argv[1], "toggle") == 0)
		return toggle(argv[2], argv[3]);
	if (strcmp(argv[1], "send") == 0)
		return send_many(argv[2], atoi(argv[3]));
	if (strcmp(argv[1], "wait") == 0)
		return wait_for_ever(argv[2], atoi(argv[3]));
	return 2;
}
