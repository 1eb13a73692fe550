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

static const struct option_binding bindings[] = {
	{OPTION_FILE(flame_options, input)},
	{OPTION_TEXT('o', flame_options, output)},
	{OPTION_TEXT(KEY_BINARY, flame_options, binary)},
	{OPTION_END},
};

static const struct option_parser parser = {
	.argp = {.options = table,
		 .parser = options_take,
		 .doc = "Write a flame graph of a trace as one self-contained HTML page: all time, "
			"CPU samples, blocking, locks, system calls, the network, scheduling."
			"\v"
			"Exit status: 0 written whole, 1 no page, 2 wrong usage, 3 written up to a fault in "
			"FILE."},
	.bindings = bindings,
	.usage = "gotrace flame [OPTION...] FILE -o FILE.html",
};

int options_flame(int argc, char **argv, struct flame_options *options, struct error *err)
{
	int rc;

	*options = (struct flame_options){0};
	rc = options_parse(&parser, argc, argv, options, NULL, err);
	if (rc)
		return rc;
	if (!options->input || !options->output)
		return error_set(err, EINVAL, "flame needs a trace and -o FILE");
	return 0;
}
