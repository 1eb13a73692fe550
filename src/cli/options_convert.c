/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The options of gotrace convert. */
#include "cli/options.h"

#include <errno.h>
#include <string.h>

#include "cli/options_common.h"
#include "cli/record_export.h"
#include "cli/values.h"

enum convert_key {
	KEY_FORMAT = 1000,
	KEY_BINARY,
};

static const struct argp_option table[] = {
	{"output", 'o', "FILE", 0, "Write the trace here; - is standard output", 1},
	{"format", KEY_FORMAT, "FORMAT", 0,
	 "The format to write: that of a Go release, 1.5 to 1.26, or v0; or that of another tool: perfetto, "
	 "pprof:NAME, "
	 "folded:NAME "
	 "(NAME is block, mutex, sched, syscall, net, cpu or wall), flame, sqlite "
	 "(default: perfetto for -o FILE.perfetto-trace)",
	 1},
	{"binary", KEY_BINARY, "FILE", 0,
	 "Take names from the traced program, for traces of Go 1.5, 1.6 and v0, which have only addresses",
	 1},
	{"quiet", 'q', NULL, 0, "Print errors only", 2},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

/* Takes the format of a Go release, or of another tool. */
static int set_format(void *member, const char *option, const char *text, struct error *err)
{
	struct convert_options *options = member;

	options->export = EXPORT_NONE;
	options->format = WIRE_NONE;
	err->text[0] = '\0';
	if (export_parse(text, &options->export, &options->profile, err))
		return 0;
	return err->text[0] ? -EINVAL : parse_format(option, text, &options->format, err);
}

static int add_input(void *member, const char *option, const char *text, struct error *err)
{
	struct convert_options *options = member;

	(void)option;
	if (options->ninputs == MAX_INPUTS)
		return error_set(err, EINVAL, "more than %d traces", MAX_INPUTS);
	options->inputs[options->ninputs++] = text;
	options->input = options->inputs[0];
	return 0;
}

static const struct option_binding bindings[] = {
	{OPTION_WITH(ARGP_KEY_ARG, add_input)},     {OPTION_TEXT('o', convert_options, output)},
	{OPTION_WITH(KEY_FORMAT, set_format)},      {OPTION_TEXT(KEY_BINARY, convert_options, binary)},
	{OPTION_TRUE('q', convert_options, quiet)}, {OPTION_END},
};

static const struct option_parser parser = {
	.argp = {.options = table,
		 .parser = options_take,
		 .doc = "Write an execution trace of any Go release in the format of another one, or of "
			"another tool."
			"\v"
			"Exit status: 0 written whole, 1 no trace, 2 wrong usage, 3 written up to a fault "
			"in FILE."},
	.bindings = bindings,
	.usage = "gotrace convert [OPTION...] FILE... -o FILE --format FORMAT",
};

int options_convert(int argc, char **argv, struct convert_options *options, struct error *err)
{
	int rc;

	memset(options, 0, sizeof(*options));
	rc = options_parse(&parser, argc, argv, options, NULL, err);
	if (rc)
		return rc;
	if (!options->input || !options->output)
		return error_set(err, EINVAL, "convert needs a trace and -o FILE");
	if (options->format == WIRE_NONE && options->export == EXPORT_NONE && record_exports(options->output))
		options->export = EXPORT_PERFETTO;
	if (options->format == WIRE_NONE && options->export == EXPORT_NONE)
		return error_set(err, EINVAL, "no format given: use --format, 1.5 to 1.26, v0, perfetto ...");
	if (options->ninputs > 1 && options->export != EXPORT_PERFETTO)
		return error_set(err, EINVAL, "only --format perfetto takes several traces");
	return 0;
}
