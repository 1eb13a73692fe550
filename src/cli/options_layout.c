/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>

#include "cli/options.h"
#include "cli/options_common.h"

enum layout_key { KEY_GO = 1000 };

static const struct argp_option table[] = {
	{"go", KEY_GO, "PATH", 0,
	 "Root of a Go toolchain (go env GOROOT), which builds a small program for this, or a Go program "
	 "that is not stripped",
	 1},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static int options_layout_refuse_operand(void *options, const char *option, const char *text,
					 struct error *err)
{
	(void)options, (void)option;
	return error_set(err, EINVAL,
			 "layout takes no argument: '%s'; give a toolchain or a program with --go PATH",
			 text);
}

static const struct option_binding bindings[] = {
	{OPTION_WITH(ARGP_KEY_ARG, options_layout_refuse_operand)},
	{KEY_GO, OPTION_MEMBER(const char *, layout_options, go), option_set_operand},
	{OPTION_END},
};

static const struct option_parser parser = {
	.argp = {.options = table,
		 .parser = options_take,
		 .doc = "Print the offsets of the fields of a Go release's runtime structs, as a table for "
			"--layout: for stripped programs of a release that gotrace does not know. Needs no "
			"privilege "
			"and no network. A toolchain's bin/go is run to build a program in a temporary "
			"directory, with a separate cache unless GOCACHE is set."
			"\v"
			"Examples:\n  gotrace layout --go \"$(go env GOROOT)\" > go.layout\n  sudo gotrace "
			"-p 1234 "
			"--layout go.layout\nExit status: 0 printed, 1 no table, 2 wrong usage."},
	.bindings = bindings,
	.usage = "gotrace layout --go PATH",
};

int options_layout(int argc, char **argv, struct layout_options *options, struct error *err)
{
	int rc;

	*options = (struct layout_options){0};
	rc = options_parse(&parser, argc, argv, options, NULL, err);
	if (rc)
		return rc;
	if (!options->go)
		return error_set(err, EINVAL, "no Go given: use --go PATH");
	return 0;
}
