/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>

#include "cli/options.h"
#include "cli/options_common.h"

enum layout_key { KEY_GO = 1000 };

static const struct argp_option table[] = {
	{"go", KEY_GO, "PATH", 0,
	 "Read this: the root of a Go toolchain (go env GOROOT), which builds a small program, or a Go "
	 "program "
	 "that was not stripped",
	 1},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static error_t on_option(int key, char *text, struct argp_state *state)
{
	const struct option_target *parse = state->input;
	struct layout_options *options = parse->options;

	switch (key) {
	case ARGP_KEY_ARG:
		return -error_set(parse->err, EINVAL,
				  "layout takes no argument: '%s'; a toolchain or a program is --go PATH",
				  text);
	case KEY_GO:
		return -options_operand(&options->go, text, parse->err);
	case 'h':
		options->help = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = table,
	.parser = on_option,
	.doc = "Print where a Go release has the fields of its runtime's structs, as a table that --layout "
	       "takes: for stripped programs of a release that gotrace does not know. Needs no privilege "
	       "and no network. A toolchain is run: its bin/go builds a program in a temporary directory, "
	       "with a cache of its own unless GOCACHE is set."
	       "\v"
	       "Examples:\n  gotrace layout --go \"$(go env GOROOT)\" > go.layout\n  sudo gotrace -p 1234 "
	       "--layout go.layout\nExit status: 0 printed, 1 there is no table, 2 wrong usage.",
};

int options_layout(int argc, char **argv, struct layout_options *options, struct error *err)
{
	int rc = options_into(&parser, argc, argv, options, sizeof(*options), err);

	if (rc || options->help)
		return rc;
	if (!options->go)
		return error_set(err, EINVAL, "of which Go? give --go PATH");
	return 0;
}

void options_help_layout(void)
{
	options_print_help(&parser, "gotrace layout --go PATH");
}
