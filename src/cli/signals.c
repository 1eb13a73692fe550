/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/signals.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

/* A handler has access to static data only. */
static volatile sig_atomic_t seen;

static void signals_on_signal(int number)
{
	static const char text[] = "\ngotrace: already ending; the last events are being written\n";
	int saved = errno;

	(void)number;
	if (seen < 100)
		seen = seen + 1;
	if (seen == 2 && write(STDERR_FILENO, text, sizeof(text) - 1) < 0) {
		/* Standard error cannot be written: nothing can be done. */
	}
	errno = saved;
}

static void set_all(const int *numbers, size_t n, void (*handler)(int))
{
	/* Without SA_RESTART: a signal must end a wait. */
	struct sigaction action = {.sa_handler = handler};

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < n; i++)
		sigaction(numbers[i], &action, NULL);
}

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
static const int failing[] = {SIGPIPE, SIGXFSZ};

void signals_install(void)
{
	set_all(ending, sizeof(ending) / sizeof(ending[0]), signals_on_signal);
	set_all(failing, sizeof(failing) / sizeof(failing[0]), SIG_IGN);
}

static volatile sig_atomic_t end_status;

static void signals_end(int number)
{
	static const char text[] = "gotrace: interrupted\n";

	(void)number;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0) {
		/* Standard error cannot be written: nothing can be done. */
	}
	_exit(end_status);
}

void signals_end_at_once(int status)
{
	end_status = status;
	set_all(ending, sizeof(ending) / sizeof(ending[0]), signals_end);
	set_all(failing, sizeof(failing) / sizeof(failing[0]), SIG_IGN);
}

static volatile sig_atomic_t wanted, served;

static void on_snapshot(int number)
{
	(void)number;
	wanted = wanted + 1;
}

void signals_count_snapshots(void)
{
	static const int number = SIGUSR1;

	set_all(&number, 1, on_snapshot);
}

int signals_snapshots(void)
{
	int now = wanted, since = now - served;

	served = now;
	return since;
}

int signals_seen(void)
{
	return seen;
}

void signals_reset(void)
{
	set_all(ending, sizeof(ending) / sizeof(ending[0]), SIG_DFL);
	set_all(failing, sizeof(failing) / sizeof(failing[0]), SIG_DFL);
}
