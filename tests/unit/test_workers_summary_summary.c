/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The line about the end of a program that gotrace started. */
#include <signal.h>
#include <stdio.h>

#include "unit.h"

#include "workers/summary/summary.h"

static void the_line_is(int status, const char *line)
{
	const struct summary sum = {.command_ended = true, .command_status = status};

	assert_string_equal(summary_command_end(&sum).bytes, line);
}

static void statuses(void **state)
{
	const struct summary running = {.command_ended = false};

	(void)state;
	assert_string_equal(summary_command_end(&running).bytes, "still running");
	the_line_is(0, "exited with status 0");
	the_line_is(3 << 8, "exited with status 3");
}

static void signals(void **state)
{
	char last[40];

	(void)state;
	the_line_is(SIGKILL, "killed by SIGKILL");
	the_line_is(SIGSEGV | 0x80, "killed by SIGSEGV"); /* with a core dump */
	the_line_is(SIGRTMIN, "killed by SIGRTMIN+0");
	the_line_is(SIGRTMIN + 3, "killed by SIGRTMIN+3");
	snprintf(last, sizeof(last), "killed by SIGRTMIN+%d", SIGRTMAX - SIGRTMIN);
	the_line_is(SIGRTMAX, last);
	the_line_is(32, "killed by signal 32");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(statuses),
	cmocka_unit_test(signals),
};

UNIT_TESTS(tests, NULL, NULL);
