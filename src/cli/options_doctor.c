/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>

#include "cli/options.h"
#include "cli/options_common.h"

enum doctor_key { KEY_JSON = 1000, KEY_BTF };

static const struct argp_option table[] = {
	{"pid", 'p', "PID", 0, "Also check whether this process can be traced; nothing is attached to it", 1},
	{"btf", KEY_BTF, "FILE", OPTION_HIDDEN, NULL, 1},
	OPTIONS_LAYOUT(1),
	{"json", KEY_JSON, NULL, 0, "Print JSON", 1},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static int options_doctor_refuse_operand(void *options, const char *option, const char *text,
					 struct error *err)
{
	(void)options, (void)option;
	return error_set(err, EINVAL, "doctor takes no argument: '%s'", text);
}

static const struct option_binding bindings[] = {
	{OPTION_WITH(ARGP_KEY_ARG, options_doctor_refuse_operand)},
	{OPTION_PID('p', doctor_options, pid)},
	{OPTION_TEXT(KEY_BTF, doctor_options, btf)},
	{OPTION_TEXT(OPTIONS_LAYOUT_KEY, doctor_options, layout)},
	{OPTION_TRUE(KEY_JSON, doctor_options, json)},
	{OPTION_END},
};

static const struct option_parser parser = {
	.argp = {.options = table,
		 .parser = options_take,
		 .doc = "Print which features of this machine gotrace can use, which are missing, what their "
			"absence "
			"costs, and what to do. Run it with the privileges that you trace with."
			"\v"
			"Exit status: 0 Go programs and threads can be traced (with -p: this process), 1 "
			"neither can, 2 wrong usage, 3 one of the two can."},
	.bindings = bindings,
	.usage = "gotrace doctor [OPTION...]",
};

int options_doctor(int argc, char **argv, struct doctor_options *options, struct error *err)
{
	int rc;

	*options = (struct doctor_options){0};
	rc = options_parse(&parser, argc, argv, options, NULL, err);
	if (rc)
		return rc;
	if (options->layout && !options->pid)
		return error_set(err, EINVAL, "--layout is for a process: also give -p PID");
	return 0;
}
