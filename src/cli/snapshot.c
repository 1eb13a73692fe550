/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace snapshot: asks flight recorders to write snapshots. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/options_flight.h"
#include "cli/signals.h"
#include "flight/snapshot_socket.h"
#include "sandbox/sandbox.h"
#include "util/clock.h"
#include "util/message.h"
#include "util/text.h"

enum {
	MAX_RECORDERS = 256,
	PATIENCE_S = 60, /* with --all: for an answer, once what is wanted is over */
};

struct asked_recorder {
	pid_t pid;
	int fd;
};

static struct time_window window_of(const struct snapshot_options *options, uint64_t now)
{
	struct time_window window = {0};

	if (!options->at_ns && !options->last_ns)
		return window;
	window.until_ns = options->at_ns ? options->at_ns : now;
	window.from_ns = options->last_ns && options->last_ns < window.until_ns
				 ? window.until_ns - options->last_ns
				 : 0;
	return window;
}

/* Any process can take a recorder's name and never answer. */
static void limit_wait(int fd, const struct time_window *window, uint64_t now)
{
	uint64_t ahead = window->until_ns > now ? (window->until_ns - now) / 1000000000 : 0;
	const struct timeval limit = {.tv_sec = (time_t)ahead + PATIENCE_S};

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

/* Asks all before it waits for any. Returns how many were asked. */
static unsigned ask_recorders(const struct snapshot_options *options, const pid_t *pids, unsigned n,
			      struct asked_recorder *asked)
{
	uint64_t now = clock_ns(CLOCK_REALTIME);
	const struct time_window window = window_of(options, now);
	struct error err;
	unsigned count = 0;

	for (unsigned i = 0; i < n; i++) {
		int fd = snapshot_socket_ask(pids[i], &window, &err);

		if (fd < 0) {
			message_error(&err);
			continue;
		}
		if (options->all)
			limit_wait(fd, &window, now);
		asked[count++] = (struct asked_recorder){.pid = pids[i], .fd = fd};
	}
	return count;
}

/* Returns how many have written. */
static unsigned take_answers(const struct asked_recorder *asked, unsigned n)
{
	char path[PATH_MAX];
	unsigned written = 0;
	struct error err;

	for (unsigned i = 0; i < n && !signals_seen(); i++) {
		if (snapshot_socket_take(asked[i].fd, asked[i].pid, path, &err)) {
			message_error(&err);
			continue;
		}
		printf("%s\n", isatty(STDOUT_FILENO) ? text_path(path).bytes : path);
		written++;
	}
	return written;
}

/* Keeps the recorders of a process. Returns how many there are. */
static int keep_recorders_of(pid_t target, pid_t *pids, int n)
{
	int kept = 0;

	for (int i = 0; i < n && !signals_seen(); i++) {
		if (snapshot_socket_target(pids[i]) == target)
			pids[kept++] = pids[i];
	}
	return kept;
}

static bool is_among(pid_t pid, const pid_t *pids, int n)
{
	for (int i = 0; i < n; i++) {
		if (pids[i] == pid)
			return true;
	}
	return false;
}

/* A PID is that of a recorder or of a recorded process. If neither is found, it is asked all the same: not
 * all recorders may be listed. */
static int find_recorders(const struct snapshot_options *options, pid_t pids[MAX_RECORDERS],
			  struct error *err)
{
	int n = snapshot_socket_list(pids, MAX_RECORDERS, err);

	if (options->all)
		return n ? n : error_set(err, ENOENT, "no gotrace flight recorder is running here");
	n = is_among(options->pid, pids, n) ? 0 : keep_recorders_of(options->pid, pids, n);
	if (n > 0)
		return n;
	pids[0] = options->pid;
	return 1;
}

int command_snapshot(int argc, char **argv)
{
	struct asked_recorder asked[MAX_RECORDERS];
	struct snapshot_options options;
	pid_t pids[MAX_RECORDERS];
	unsigned nasked, written;
	struct error err;
	int status, n;

	status = options_snapshot(argc, argv, &options, &err);
	if (status)
		return options_end(status, "gotrace snapshot", &err);
	signals_install();
	n = find_recorders(&options, pids, &err);
	if (n < 0) {
		message_error(&err);
		return STATUS_NONE;
	}
	nasked = ask_recorders(&options, pids, (unsigned)n, asked);
	if (!nasked)
		return STATUS_NONE;
	if (sandbox_confine(&err)) {
		message_error(&err);
		return STATUS_NONE;
	}
	written = take_answers(asked, nasked);
	return written == (unsigned)n ? STATUS_WHOLE : written ? STATUS_CUT : STATUS_NONE;
}
