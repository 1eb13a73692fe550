/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace snapshot: asks a flight recorder to write a snapshot. */
#include "cli/cli.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/options_flight.h"
#include "cli/signals.h"
#include "flight/snapshot_socket.h"
#include "sandbox/sandbox.h"
#include "util/message.h"
#include "util/text.h"

static int ask(pid_t recorder, char *path, struct error *err)
{
	int fd = snapshot_socket_ask(recorder, err), rc;

	if (fd < 0)
		return fd;
	rc = sandbox_confine(err);
	if (rc == 0)
		rc = snapshot_socket_take(fd, recorder, path, err);
	close(fd);
	return rc;
}

int command_snapshot(int argc, char **argv)
{
	struct snapshot_options options;
	char path[PATH_MAX];
	struct error err;
	int status;

	status = options_snapshot(argc, argv, &options, &err);
	if (status)
		return options_end(status, "gotrace snapshot", &err);
	signals_install();
	if (ask(options.pid, path, &err)) {
		message_error(&err);
		return STATUS_NONE;
	}
	printf("%s\n", isatty(STDOUT_FILENO) ? text_path(path).bytes : path);
	return STATUS_WHOLE;
}
