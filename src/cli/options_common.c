/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/options_common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"

int options_parse(const struct argp *parser, int argc, char **argv, void *input)
{
	return argp_parse(parser, argc, argv, ARGP_NO_EXIT | ARGP_NO_HELP | ARGP_IN_ORDER, NULL, input)
		       ? -EINVAL
		       : 0;
}

void options_print_help(const struct argp *parser, const char *usage)
{
	char name[] = "gotrace";

	/* The usage lines that argp makes list every option twice; and its remark on arguments is no help. */
	setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
	printf("Usage: %s\n", usage);
	fflush(stdout);
	argp_help(parser, stdout, ARGP_HELP_PRE_DOC | ARGP_HELP_LONG | ARGP_HELP_POST_DOC, name);
}

int options_refuse(const char *command, const struct error *err)
{
	if (err->text[0])
		fprintf(stderr, "gotrace: %s\nTry '%s --help'.\n", err->text, command);
	return STATUS_USAGE;
}

int options_into(const struct argp *parser, int argc, char **argv, void *options, size_t size,
		 struct error *err)
{
	struct option_target target = {.options = options, .err = err};

	memset(options, 0, size);
	err->text[0] = '\0';
	return options_parse(parser, argc, argv, &target);
}

int options_operand(const char **place, const char *text, struct error *err)
{
	if (*place)
		return error_set(err, EINVAL, "only one file can be given: '%s' is an extra argument", text);
	*place = text;
	return 0;
}
