/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the option parsers of the commands share. */
#ifndef GOTRACE_OPTIONS_COMMON_H
#define GOTRACE_OPTIONS_COMMON_H

#include <argp.h>

/* Our own --help: argp's would end the process. Its hint on an error also names --usage. */
#define OPTIONS_HELP                                                                                         \
	{"help", 'h', NULL, 0, "Print this help", 4},                                                        \
	{                                                                                                    \
		"usage", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 4                                      \
	}

/* Returns 0 or -EINVAL. */
int options_parse(const struct argp *parser, int argc, char **argv, void *input);
/* usage: one line a form, without the word itself. */
void options_print_help(const struct argp *parser, const char *usage);

#endif
