/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The table of commands, and what each may keep. */
#include "cli/cli.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "util/suggest.h"
#include "sandbox/privilege.h"
#include "util/message.h"
#include "util/text.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	/*
	 * The capabilities that its processes may keep (sandbox/privilege.h). Reading files needs none.
	 * docs/security.md says which each process has when it reads.
	 */
	uint64_t may_keep;
};

static const struct command commands[] = {
	{"record", command_record, PRIVILEGE_TRACE},
	{"replay", command_replay, PRIVILEGE_NONE},
	{"check", command_check, PRIVILEGE_NONE},
	{"dump", command_dump, PRIVILEGE_NONE},
	{"convert", command_convert, PRIVILEGE_NONE},
	{"sites", command_sites, PRIVILEGE_INSPECT},
	{"ps", command_ps, PRIVILEGE_INSPECT},
	{"layout", command_layout, PRIVILEGE_NONE},
	{"doctor", command_doctor, PRIVILEGE_TRACE},
	{"flight", command_flight, PRIVILEGE_TRACE},
	{"snapshot", command_snapshot, PRIVILEGE_NONE},
	{"report", command_report, PRIVILEGE_TRACE}, /* without -p none, as for why */
	{"why", command_why, PRIVILEGE_TRACE},
	{"diff", command_diff, PRIVILEGE_NONE},
	{"top", command_top, PRIVILEGE_TRACE},
	{"view", command_view, PRIVILEGE_NONE},
	{"flame", command_flame, PRIVILEGE_NONE},
	{"sql", command_sql, PRIVILEGE_NONE},
	{"cut", command_cut, PRIVILEGE_NONE},
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

/* argv[0] becomes the title that the command's messages have. */
static int run_command(const struct command *command, const char *title, int argc, char **argv)
{
	static char text[32];
	struct error err;

	snprintf(text, sizeof(text), "%s", title);
	argv[0] = text;
	if (privilege_limit(command->may_keep, &err) == 0)
		return command->run(argc, argv);
	message_error(&err);
	return STATUS_NONE;
}

/* A first word that is not a command. Returns STATUS_USAGE. */
static int refuse_word(const char *word, const char *const *names)
{
	const char *name = suggest_name(word, names, COMMANDS);
	struct text shown = text_name(word, strlen(word), 60);
	struct error err;

	if (word[0] && strspn(word, "0123456789") == strlen(word))
		error_set(&err, EINVAL, "'%s' is not a command: did you mean 'gotrace -p %s'?", shown.bytes,
			  shown.bytes);
	else if (name)
		error_set(&err, EINVAL, "'%s' is not a command: did you mean 'gotrace %s'?", shown.bytes,
			  name);
	else
		error_set(&err, EINVAL,
			  "'%s' is not a command or an option (a program to start goes after --)",
			  shown.bytes);
	return options_end(-EINVAL, "gotrace", &err);
}

static int run_named(int argc, char **argv)
{
	const char *names[COMMANDS];
	char title[32];

	for (size_t i = 0; i < COMMANDS; i++) {
		snprintf(title, sizeof(title), "gotrace %s", commands[i].name);
		if (strcmp(argv[0], commands[i].name) == 0)
			return run_command(&commands[i], title, argc, argv);
		names[i] = commands[i].name;
	}
	return refuse_word(argv[0], names);
}

/* "gotrace help" and "gotrace help COMMAND" */
static int run_help(int argc, char **argv)
{
	char help[] = "--help";
	char *arguments[] = {argv[argc > 2 ? 2 : 0], help, NULL};

	return argc > 2 ? run_named(2, arguments) : run_command(&commands[0], "gotrace", 2, arguments);
}

/* Without a name it is record, the first of the table. */
int run_commands(int argc, char **argv)
{
	char *no_arguments[] = {NULL, NULL};

	if (argc > 1 && strcmp(argv[1], "help") == 0)
		return run_help(argc, argv);
	if (argc > 1 && argv[1][0] != '-')
		return run_named(argc - 1, argv + 1);
	return argc < 1 ? run_command(&commands[0], "gotrace", 1, no_arguments)
			: run_command(&commands[0], "gotrace", argc, argv);
}
