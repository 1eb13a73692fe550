/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace: which command is meant. */
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
	bool with_files; /* and with nothing else: no rights are needed but the user's own */
};

static int run_command(const struct command *command, int argc, char **argv)
{
	argv[0] = command->title;
	if (command->with_files)
		rights_give_up();
	return command->run(argc, argv);
}

/*
 * The memory of gotrace is bounded, so what is freed has to be used again, or
 * go back: one heap for both threads; and large arrays outside of it, which
 * can grow in place (mremap), whatever was freed before (glibc moves the
 * threshold up to 32 MiB then).
 */
static void set_up_memory(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 2 << 20);
}

/*
 * Who was started without standard input, output or error keeps these numbers free of anything else: the
 * sandbox would hold its own other end as its way for messages, and wait for ever; and messages would go into
 * a trace. A directory can neither be read nor written, and is not handed on to a program that is started.
 */
static void hold_standard_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* the lowest that is free */
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
