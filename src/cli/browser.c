/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/browser.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/signals.h"
#include "util/rights.h"

enum { ADDRESS_BYTES = 1024 };

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

/* Runs in the child. The address comes whole or not at all: it is shorter than PIPE_BUF. */
static void wait_and_open(int from)
{
	char program[] = "xdg-open", address[ADDRESS_BYTES];
	char *argv[] = {program, address, NULL};
	int none = open("/dev/null", O_RDWR | O_CLOEXEC);
	ssize_t n = read(from, address, sizeof(address) - 1);

	if (n <= 0)
		_exit(0);
	address[n] = '\0';
	/* Ctrl-C is meant for gotrace: the browser stays. */
	setsid();
	for (int fd = STDIN_FILENO; none >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(none, fd);
	execvp(program, argv);
	_exit(127);
}

int browser_start(void)
{
	int ends[2];
	pid_t pid;

	if (geteuid() == 0 || (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")) || pipe2(ends, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		signals_reset();
		rights_give_up();
		wait_and_open(ends[0]);
	}
	close(ends[0]);
	if (pid > 0)
		return ends[1];
	close(ends[1]);
	return -1;
}

void browser_open(int browser, const char *address)
{
	if (browser < 0)
		return;
	if (address && strlen(address) < ADDRESS_BYTES && write(browser, address, strlen(address)) < 0)
		address = NULL; /* it has ended: the address is on the terminal */
	close(browser);
}
