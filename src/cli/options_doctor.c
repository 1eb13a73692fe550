/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>

#include "cli/options.h"
#include "cli/options_common.h"
#include "cli/values.h"

enum doctor_key { KEY_JSON = 1000, KEY_BTF };

static const struct argp_option table[] = {
	{"pid", 'p', "PID", 0, "Also check whether this process can be traced; nothing is attached to it", 1},
	{"btf", KEY_BTF, "FILE", 0, "Read the kernel's types from this file, as for a trace", 1},
	OPTIONS_LAYOUT(1),
	{"json", KEY_JSON, NULL, 0, "Print JSON", 1},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static error_t on_option(int key, char *text, struct argp_state *state)
{
	const struct option_target *parse = state->input;
	struct doctor_options *options = parse->options;

	switch (key) {
	case ARGP_KEY_ARG:
		return -error_set(parse->err, EINVAL, "doctor takes no argument: '%s'", text);
	case 'p':
		return -parse_pid("-p", text, &options->pid, parse->err);
	case KEY_BTF:
		options->btf = text;
		return 0;
	case OPTIONS_LAYOUT_KEY:
		options->layout = text;
		return 0;
	case KEY_JSON:
		options->json = true;
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
	.doc = "Print which features of this machine gotrace can use, which are missing, what their absence "
	       "costs, and what to do. Run it with the privileges with which you will trace."
	       "\v"
	       "Exit status: 0 Go programs and threads can be traced (with -p: this process), 1 "
	       "neither can, 2 wrong usage, 3 one of the two can.",
};

int options_doctor(int argc, char **argv, struct doctor_options *options, struct error *err)
{
	int rc = options_into(&parser, argc, argv, options, sizeof(*options), err);

	if (rc || options->help)
		return rc;
	if (options->layout && !options->pid)
		return error_set(err, EINVAL, "--layout is for a process: give -p PID, too");
	return 0;
}

void options_help_doctor(void)
{
	options_print_help(&parser, "gotrace doctor [OPTION...]");
}
