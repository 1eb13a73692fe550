/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The options of gotrace view. */
#include "cli/options.h"

#include <errno.h>
#include <string.h>

#include "cli/options_common.h"

enum view_key { KEY_FINDING = 1000, KEY_IN };

static const struct argp_option table[] = {
	{"finding", KEY_FINDING, "N", 0,
	 "Show finding N of gotrace report: its worst instance, and some time before and after it", 1},
	{"in", KEY_IN, "VIEWER", 0,
	 "go: `go tool trace`; perfetto: https://ui.perfetto.dev (default: go, where it is installed)", 1},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static int set_viewer(void *member, const char *option, const char *text, struct error *err)
{
	struct view_options *options = member;

	if (strcmp(text, "go") == 0)
		options->viewer = VIEWER_GO;
	else if (strcmp(text, "perfetto") == 0)
		options->viewer = VIEWER_PERFETTO;
	else
		return error_set(err, EINVAL, "%s: %s is not go or perfetto", option, text);
	return 0;
}

static const struct option_binding bindings[] = {
	{OPTION_FILE(view_options, input)},
	{OPTION_ID(KEY_FINDING, view_options, finding)},
	{OPTION_WITH(KEY_IN, set_viewer)},
	{OPTION_END},
};

static const struct option_parser parser = {
	.argp = {.options = table,
		 .parser = options_take,
		 .doc = "Open a trace, or the place of a finding in it, in a viewer: Go's own, or Perfetto's "
			"page, which fetches it from this machine. Prints the address, and opens it in a "
			"browser where there is a desktop."
			"\v"
			"Exit status: 0 shown whole, 1 not shown, 2 wrong usage, 3 shown up to a fault in "
			"FILE."},
	.bindings = bindings,
	.usage = "gotrace view [OPTION...] FILE",
};

int options_view(int argc, char **argv, struct view_options *options, struct error *err)
{
	int rc;

	*options = (struct view_options){0};
	rc = options_parse(&parser, argc, argv, options, NULL, err);
	if (!rc && !options->input)
		return error_set(err, EINVAL, "view needs a trace");
	return rc;
}
