/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The options of gotrace flame. */
#include "cli/options.h"

#include <errno.h>

#include "cli/options_common.h"

enum flame_key { KEY_BINARY = 1000 };

static const struct argp_option table[] = {
	{"output", 'o', "FILE", 0, "Write the page here; - is standard output", 1},
	{"binary", KEY_BINARY, "FILE", 0,
	 "Take names from the traced program, for traces of Go 1.5, 1.6 and v0", 1},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static error_t on_option(int key, char *text, struct argp_state *state)
{
	const struct option_target *parse = state->input;
	struct flame_options *options = parse->options;

	switch (key) {
	case ARGP_KEY_ARG:
		return -options_operand(&options->input, text, parse->err);
	case 'o':
		options->output = text;
		return 0;
	case KEY_BINARY:
		options->binary = text;
		return 0;
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
	.doc = "Write a flame graph of a trace as one self-contained HTML page: all time, "
	       "CPU samples, blocking, locks, system calls, the network, scheduling."
	       "\v"
	       "Exit status: 0 written whole, 1 no page, 2 wrong usage, 3 written up to a fault in "
	       "FILE.",
};

int options_flame(int argc, char **argv, struct flame_options *options, struct error *err)
{
	int rc = options_into(&parser, argc, argv, options, sizeof(*options), err);

	if (rc || options->help)
		return rc;
	if (!options->input || !options->output)
		return error_set(err, EINVAL, "flame needs a trace and -o FILE");
	return 0;
}

void options_help_flame(void)
{
	options_print_help(&parser, "gotrace flame [OPTION...] FILE -o FILE.html");
}
