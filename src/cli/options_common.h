/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the option parsers of the commands share. */
#ifndef GOTRACE_CLI_OPTIONS_COMMON_H
#define GOTRACE_CLI_OPTIONS_COMMON_H

#include <argp.h>
#include <stddef.h>

#include "util/error.h"

/* Our own --help: argp's would end the process. Its hint on an error also names --usage. */
#define OPTIONS_HELP                                                                                         \
	{"help", 'h', NULL, 0, "Print this help", 4},                                                        \
	{                                                                                                    \
		"usage", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 4                                      \
	}

/* A table for a release that is not known; with OPTIONS_LAYOUT_KEY. */
#define OPTIONS_LAYOUT_KEY 2000
#define OPTIONS_LAYOUT(group)                                                                                \
	{                                                                                                    \
		"layout", OPTIONS_LAYOUT_KEY, "FILE", 0,                                                     \
			"If gotrace does not know the program's Go release: where its structs have their "   \
			"fields, as printed by gotrace layout",                                              \
			group                                                                                \
	}

/* What an option parser fills in: the options of its own command. */
struct option_target {
	void *options;
	struct error *err;
};

/*
 * Clears the options, of so many bytes, and fills them in; the parser's input is a struct option_target. As
 * below.
 */
int options_into(const struct argp *parser, int argc, char **argv, void *options, size_t size,
		 struct error *err);
/* Takes the one file that a command works on. 0, or -EINVAL if there is one already. */
int options_operand(const char **place, const char *text, struct error *err);
/* Returns 0 or -EINVAL. */
int options_parse(const struct argp *parser, int argc, char **argv, void *input);
/* usage: one line a form, without the word itself. */
void options_print_help(const struct argp *parser, const char *usage);

#endif
