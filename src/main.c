/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace: dispatches to the commands. */
#include <fcntl.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/suggest.h"
#include "util/message.h"
#include "util/rights.h"

struct command {
	const char *name;
	char *title; /* argv[0] of the command, for its messages */
	int (*run)(int argc, char **argv);
	bool with_files; /* works on files only: needs no rights beyond the user's own */
};

static int run_command(const struct command *command, int argc, char **argv)
{
	argv[0] = command->title;
	if (command->with_files)
		rights_give_up();
	return command->run(argc, argv);
}

/*
 * The memory of gotrace is bounded, so freed memory must be reused or returned to the kernel: both threads
 * share one heap, and large arrays are mapped outside it, where they can grow in place (mremap). A fixed
 * threshold keeps glibc from raising it (up to 32 MiB) when mapped blocks are freed.
 */
static void set_up_memory(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 2 << 20);
}

/*
 * If descriptors 0-2 are closed, reserves them. Otherwise a worker could inherit the other end of its own
 * channel as standard output or error and wait forever, and messages could be written into a trace. A
 * directory can be neither read nor written, and is closed on exec.
 */
static void hold_standard_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/",
				    /* Takes the lowest free number. */
				    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
}

int main(int argc, char **argv)
{
	static char record[] = "gotrace record", replay[] = "gotrace replay", check[] = "gotrace check",
		    convert[] = "gotrace convert", dump[] = "gotrace dump", sites[] = "gotrace sites",
		    doctor[] = "gotrace doctor", report[] = "gotrace report", why[] = "gotrace why",
		    diff[] = "gotrace diff", top[] = "gotrace top", flight[] = "gotrace flight",
		    snapshot[] = "gotrace snapshot", flame[] = "gotrace flame", sql[] = "gotrace sql",
		    cut[] = "gotrace cut", ps[] = "gotrace ps", layout[] = "gotrace layout",
		    plain[] = "gotrace";
	enum { MAX_COMMANDS = 32 };
	const char *names[MAX_COMMANDS];
	size_t n = 0;
	const struct command commands[] = {
		{"record", record, command_record, false},
		{"replay", replay, command_replay, true},
		{"check", check, command_check, true},
		{"dump", dump, command_dump, true},
		{"convert", convert, command_convert, true},
		{"sites", sites, command_sites, false},
		{"ps", ps, command_ps, false},
		{"layout", layout, command_layout, true},
		{"doctor", doctor, command_doctor, false},
		{"flight", flight, command_flight, false},
		{"snapshot", snapshot, command_snapshot, false},
		{"report", report, command_report, false},
		{"why", why, command_why, false},
		{"diff", diff, command_diff, true},
		{"top", top, command_top, false},
		{"flame", flame, command_flame, true},
		{"sql", sql, command_sql, true},
		{"cut", cut, command_cut, true},
	};
	char *no_arguments[] = {plain, NULL};
	struct error err;

	hold_standard_files();
	if (rights_begin(&err)) {
		message_error(&err);
		return STATUS_NONE;
	}
	set_up_memory();
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[1], commands[i].name) == 0)
			return run_command(&commands[i], argc - 1, argv + 1);
		if (n < MAX_COMMANDS)
			names[n++] = commands[i].name;
	}
	if (argc > 1 && argv[1][0] != '-')
		return suggest_command(argv[1], names, n);
	if (argc < 1)
		return command_record(1, no_arguments);
	argv[0] = plain;
	return command_record(argc, argv);
}
