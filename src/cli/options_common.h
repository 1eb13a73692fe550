/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The option parser of all commands. A command has a table of options for argp, and a table of bindings that
 * says for each option which member of the command's options it sets, and how.
 */
#ifndef GOTRACE_CLI_OPTIONS_COMMON_H
#define GOTRACE_CLI_OPTIONS_COMMON_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

/*
 * Sets a member from the argument of an option; text is NULL if the option has none. `option` is its name for
 * messages, as the user writes it ("--from"). Returns 0, or -EINVAL and sets *err.
 */
typedef int option_setter(void *member, const char *option, const char *text, struct error *err);

struct option_binding {
	int key;            /* of struct argp_option; ARGP_KEY_ARG: an operand */
	size_t offset;      /* of the member */
	option_setter *set; /* NULL ends a table */
};

option_setter option_set_true, option_set_false, option_set_text, option_set_operand, option_set_pid,
	option_set_time, option_set_duration, option_set_id, option_set_format, option_set_sort,
	option_set_os_regions;

/* The offset of a member. Does not compile if the member has another type. */
#define OPTION_MEMBER(type, options, member)                                                                 \
	(offsetof(struct options, member) + 0 * sizeof(_Generic(&((struct options *)0)->member, type * : 0)))

/* Bindings, in braces: {OPTION_TRUE(KEY_ALL, ps_options, all)}. */
#define OPTION_TRUE(key, options, member)  key, OPTION_MEMBER(bool, options, member), option_set_true
#define OPTION_FALSE(key, options, member) key, OPTION_MEMBER(bool, options, member), option_set_false
#define OPTION_TEXT(key, options, member)  key, OPTION_MEMBER(const char *, options, member), option_set_text
#define OPTION_PID(key, options, member)   key, OPTION_MEMBER(pid_t, options, member), option_set_pid
#define OPTION_TIME(key, options, member)  key, OPTION_MEMBER(uint64_t, options, member), option_set_time
#define OPTION_DURATION(key, options, member)                                                                \
	key, OPTION_MEMBER(uint64_t, options, member), option_set_duration
#define OPTION_ID(key, options, member) key, OPTION_MEMBER(uint64_t, options, member), option_set_id
/* --format, --sort, and --os-regions, the old name for the time of --os */
#define OPTION_FORMAT(key, options, member)                                                                  \
	key, OPTION_MEMBER(enum wire_format, options, member), option_set_format
#define OPTION_SORT(key, options, member) key, OPTION_MEMBER(uint8_t, options, member), option_set_sort
#define OPTION_OS_REGIONS(key, options, member)                                                              \
	key, OPTION_MEMBER(uint64_t, options, member), option_set_os_regions
/* The one file that a command works on. */
#define OPTION_FILE(options, member)                                                                         \
	ARGP_KEY_ARG, OPTION_MEMBER(const char *, options, member), option_set_operand
/* A setter that gets the command's options rather than one member. */
#define OPTION_WITH(key, setter) key, 0, setter
#define OPTION_END               0, 0, NULL

/* gotrace's own --help, because argp's ends the process. argp's hint after an error also names --usage. */
#define OPTIONS_HELP                                                                                         \
	{"help", 'h', NULL, 0, "Print this help", 4},                                                        \
	{                                                                                                    \
		"usage", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 4                                      \
	}

/*
 * Old names of options, which scripts may use: accepted for a release, but in no --help. A row of a table,
 * with its own binding.
 */
#define OPTION_OLD(name, key, argument)                                                                      \
	{                                                                                                    \
		name, key, argument, OPTION_HIDDEN, NULL, 3                                                  \
	}

/* A layout table for a Go release that gotrace does not know; with OPTIONS_LAYOUT_KEY. */
#define OPTIONS_LAYOUT_KEY 2000
#define OPTIONS_LAYOUT(group)                                                                                \
	{                                                                                                    \
		"layout", OPTIONS_LAYOUT_KEY, "FILE", 0,                                                     \
			"Table of gotrace layout, for an unknown Go release", group                          \
	}

/* The command line of a command. */
struct option_parser {
	struct argp argp; /* argp.parser is options_take(), or calls it */
	const struct option_binding *bindings;
	const char *usage; /* one line for each form of the command, without "Usage:" */
};

/* The input of options_take(). */
struct option_input {
	const struct option_binding *bindings;
	void *options;     /* of the command */
	void *child_input; /* input of the parsers in argp.children; NULL: there are none */
	bool help;         /* set if --help was given */
	struct error *err;
};

/* Returns the long name of an option of this parser or its children, or NULL. */
const char *options_long_name(const struct argp *argp, int key);

/* An argp parser: sets the member to which the option is bound. */
error_t options_take(int key, char *text, struct argp_state *state);
/* The same for a parser with an input of its own. Returns ARGP_ERR_UNKNOWN if the key has no binding. */
error_t options_bind(const struct option_binding *bindings, void *options, int key, char *text,
		     const struct argp_state *state, struct error *err);

/*
 * Parses a command line into *options, which must have the defaults. Returns 0; OPTIONS_HELPED after --help,
 * which it prints; or -EINVAL and sets *err, whose text is empty if argp has printed the message (an unknown
 * option).
 */
int options_parse(const struct option_parser *parser, int argc, char **argv, void *options, void *child_input,
		  struct error *err);

#endif
